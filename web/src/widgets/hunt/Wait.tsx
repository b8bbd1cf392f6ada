/** While Python brings an engine, or where it could not. */
import {pythonState} from "../../ui/pythonState.ts";
import {hunt as words} from "../../strings/en/hunt.ts";

export function Wait({failed, onAgain}: {failed: boolean; onAgain: () => void}) {
  const {phase, percent} = pythonState();
  return (
    <div class="hunt-wait" role="status">
      {failed ? <>{words.practice.failed} <button class="btn" type="button" onClick={onAgain}>{words.practice.again}</button></>
        : phase === "loading" ? words.practice.loading(percent) : words.practice.drawing}
    </div>
  );
}
