import {Icon, type IconName} from "./icons.tsx";

type ActProps = {act: string; icon: IconName; children: string; label?: string; after?: boolean; primary?: boolean; off?: boolean; onClick(): void};

/** A button with a sign before or after its word.

One that can do nothing is marked and not switched off: a button that is switched off loses the focus, and the keys with it.
*/
export function Act({act, icon, children, label, after, primary, off, onClick}: ActProps) {
  return (
    <button type="button" class={primary ? "btn primary" : "btn"} data-act={act} aria-label={label} aria-disabled={off} onClick={() => !off && onClick()}>
      {!after && <Icon name={icon} />}
      <span>{children}</span>
      {after && <Icon name={icon} />}
    </button>
  );
}
