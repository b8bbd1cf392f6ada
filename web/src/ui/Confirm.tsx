/** A question before something is lost. Escape means no; the focus goes back to where it was. */
import {useLayoutEffect, useRef} from "preact/hooks";

type ConfirmProps = {ask: string; yes: string; no: string; onYes(): void; onNo(): void};

export function Confirm({ask, yes, no, onYes, onNo}: ConfirmProps) {
  const refuse = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    refuse.current!.focus();
    return () => before?.isConnected && before.focus();
  }, []);
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onNo();
  };
  return (
    <div class="confirm" role="alertdialog" aria-label={ask} onKeyDown={keys}>
      <p>{ask}</p>
      <button class="btn primary" type="button" onClick={onYes}>{yes}</button>
      <button class="btn" type="button" ref={refuse} onClick={onNo}>{no}</button>
    </div>
  );
}
