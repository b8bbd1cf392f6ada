/** The whole class in a window of its own. */
import {useEffect, useRef, useState} from "preact/hooks";
import {Icon} from "../../ui/icons.tsx";
import {exercise as words} from "../../strings/en/exercise.ts";

export function Whole({title, code, onClose}: {title: string; code: string; onClose: () => void}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [copied, setCopied] = useState(false);
  useEffect(() => dialog.current!.showModal(), []);
  const copy = () => void navigator.clipboard?.writeText(code).then(() => setCopied(true), () => setCopied(false));
  return (
    <dialog class="whole" ref={dialog} onClose={onClose} aria-labelledby="whole-title">
      <div class="w-bar">
        <h2 id="whole-title" class="w-name">{title}</h2>
        <div class="w-tools">
          <button class="quiet" type="button" onClick={copy}><Icon name="copy" />{copied ? words.copied : words.copy}</button>
          <button class="btn" type="button" onClick={() => dialog.current!.close()}>{words.close}</button>
        </div>
      </div>
      <p class="whole-note">{words.wholeNote}</p>
      <pre class="code" tabIndex={0} role="region" aria-label={title}><code>{code}</code></pre>
    </dialog>
  );
}
