/** The learner's own program: written here, run and rolled up by the page's Python. */
import {useEffect, useRef, useState} from "preact/hooks";
import {PythonError, PythonStopped, python} from "../../python/index.ts";
import {Icon} from "../../ui/icons.tsx";
import {RunButton} from "../../ui/RunButton.tsx";
import {faster as words} from "../../strings/en/faster.ts";
import {useEditor} from "../exercise/editing.ts";
import type {Roll, Rolled} from "../../python/schema.ts";
import {Waiting} from "../exercise/Waiting.tsx";
import {counted as count} from "../../text/numbers.ts";

const SECONDS = 20;

export function Own({text, onRolled}: {text: string; onRolled: (rolled: Rolled) => void}) {
  const place = useRef<HTMLDivElement>(null);
  const [own, setOwn] = useState(text);
  const [running, setRunning] = useState(false);
  const [said, setSaid] = useState<{ok: boolean; words: string; line?: number | null}>();
  const roll = async () => {
    if (running) return;
    setRunning(true);
    try {
      const {rolled, error} = await python.call<Roll>("rolling.roll", {text: own}, {seconds: SECONDS});
      if (rolled) onRolled(rolled);
      setSaid(rolled ? {ok: true, words: words.rolled(count(rolled.nodes), count(rolled.steps.length))} : {ok: false, words: words.error(error!.message, error!.line), line: error!.line});
    } catch (error) {
      setSaid({ok: false, words: error instanceof PythonStopped ? words.stopped : error instanceof PythonError && error.kind === "NotLoaded" ? words.notLoaded : String(error)});
    } finally {
      setRunning(false);
    }
  };
  const editor = useEditor(place, {text: own, label: words.editor, describedBy: "faster-keys", onChange: setOwn, onRun: () => void roll()});
  useEffect(() => editor?.mark(said?.line ? [said.line] : []), [editor, said]);
  return (
    <div class="f-own" onFocusIn={() => python.load()} onPointerEnter={() => python.load()}>
      <div class="editor" ref={place}>{!editor && <Waiting text={text} />}</div>
      <span class="vh" id="faster-keys">{words.editorKeys}</span>
      <div class="f-actions">
        <RunButton running={running} label={words.roll} doing={words.running} act="roll" onRun={() => void roll()} />
        <p role="status">{said && <><Icon name={said.ok ? "ok" : "miss"} /> {said.words}</>}</p>
      </div>
    </div>
  );
}
