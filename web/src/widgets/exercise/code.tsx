/** Where code is written: the editor; and why it could not be tested. */
import {useEffect, useLayoutEffect, useRef} from "preact/hooks";
import {PythonError, PythonStopped, python} from "../../python/index.ts";
import {exercise as words} from "../../strings/en/exercise.ts";
import {useEditor} from "./editing.ts";
import type {Tab} from "./material.ts";
import {Waiting} from "./Waiting.tsx";
import {textOf, write} from "./work.ts";

export function reason(error: unknown): {title: string; why: string} {
  if (error instanceof PythonStopped) return words.stoppedBy[error.reason];
  if (error instanceof PythonError && error.kind === "NotLoaded") return words.notLoaded;
  return {title: words.broken.title, why: `${words.broken.why} (${error instanceof Error ? error.message : String(error)})`};
}

/** The editor; until it has loaded, the text as it is. */
export function Code({tab, label = words.editor(tab.name), lines, onRun}: {tab: Tab; label?: string; lines: number[]; onRun: () => void}) {
  const place = useRef<HTMLDivElement>(null);
  const text = textOf(tab.name, tab.starter);
  const described = `${tab.name.replace(/[^\w-]/g, "-")}-keys`;
  const editor = useEditor(place, {text, label, describedBy: described, onChange: (next) => write(tab.name, next, tab.starter), onRun});
  useEffect(() => python.load(), []);
  useLayoutEffect(() => editor?.show(text), [text]); // what came from elsewhere; at once, for a frame later the learner may have typed on
  useEffect(() => editor?.mark(lines), [editor, lines.join()]);
  return (
    <>
      <div class="editor" ref={place} data-tab={tab.name}>{!editor && <Waiting text={text} />}</div>
      <span class="vh" id={described}>{words.editorKeys}</span>
    </>
  );
}
