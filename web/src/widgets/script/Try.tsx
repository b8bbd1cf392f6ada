/** A few lines to run, in an editor, and what they print: alone, or on an engine. */
import {useEffect, useRef, useState} from "preact/hooks";
import {PythonError, PythonStopped, python} from "../../python/index.ts";
import {Icon} from "../../ui/icons.tsx";
import {RunButton} from "../../ui/RunButton.tsx";
import {versions as words} from "../../strings/en/versions.ts";
import type {Failure, Ran} from "../../python/schema.ts";
import {useEditor} from "../exercise/editing.ts";
import {Waiting} from "../exercise/Waiting.tsx";

const SECONDS = 20;

type Shown = {printed: string; error?: Failure; note?: string};
type Props = {name: string; label: string; start: string; engine?: string; onRan?: () => void; next?: {number: number; go: () => void}};

export function Try({name, label, start, engine = "", onRan, next}: Props) {
  const [text, setText] = useState(start);
  const [running, setRunning] = useState(false);
  const [shown, setShown] = useState<Shown>();
  const place = useRef<HTMLDivElement>(null);
  const described = `${name.replace(/[^\w-]/g, "-")}-keys`;
  const run = async () => {
    if (running) return;
    setRunning(true);
    try {
      const {printed, error} = await python.call<Ran>("scripts.run", {parts: [text], engine}, {seconds: SECONDS});
      setShown({printed: printed.join(""), ...(error ? {error} : {})});
      if (!error) onRan?.();
    } catch (error) {
      setShown({printed: "", note: error instanceof PythonStopped ? words.stopped : error instanceof PythonError && error.kind === "NotLoaded" ? words.notLoaded : String(error)});
    } finally {
      setRunning(false);
    }
  };
  const editor = useEditor(place, {text, label, describedBy: described, onChange: setText, onRun: () => void run()});
  useEffect(() => editor?.mark(shown?.error?.line && shown.error.where !== "the engine" ? [shown.error.line] : []), [editor, shown]);
  useEffect(() => python.load(), []);
  const reset = () => {
    setText(start);
    editor?.show(start);
  };
  return (
    <div class="v-try">
      <div class="editor" ref={place}>{!editor && <Waiting text={text} />}</div>
      <span class="vh" id={described}>{words.editorKeys}</span>
      <div class="v-actions">
        <RunButton running={running} label={words.run} onRun={() => void run()} />
        {text !== start && <button class="btn ghost" type="button" onClick={reset}>{words.again}</button>}
        {shown && next && <button class="btn push" type="button" onClick={next.go}>{words.next(next.number)}<Icon name="arrow" /></button>}
      </div>
      <div class="v-printed" role="status">{shown ? <Output {...shown} /> : <p class="before">{words.before}</p>}</div>
    </div>
  );
}

function Output({printed, error, note}: Shown) {
  return (
    <>
      {note && <p class="reply-h"><Icon name="stop" />{note}</p>}
      {printed && <><p class="before">{words.printed}</p><pre>{printed}</pre></>}
      {error && <p class="reply-h"><Icon name="miss" /><span>{words.error(error.kind, error.where === "the engine" ? null : error.line)}{error.where === "the engine" && ` ${words.inEngine}`}: {error.message}</span></p>}
      {!printed && !error && !note && <p class="before">{words.nothing}</p>}
    </>
  );
}
