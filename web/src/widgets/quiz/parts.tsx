import type {ComponentChildren} from "preact";
import {Icon} from "../../ui/icons.tsx";

/** Markdown that our own build made into HTML. Nothing else may go in here. */
export const Html = ({of}: {of: string}) => <span dangerouslySetInnerHTML={{__html: of}} />;

/** The answer to an answer: what was said, then the reason, spoken as soon as it is there. */
export function Reply({id, kind, title, children}: {id: string; kind?: "ok" | "miss"; title?: ComponentChildren; children?: ComponentChildren}) {
  return (
    <div id={id} role="status">
      {kind && (
        <div class={`reply ${kind}`}>
          <p class="reply-h"><Icon name={kind} />{title}</p>
          {children && <p>{children}</p>}
        </div>
      )}
    </div>
  );
}
