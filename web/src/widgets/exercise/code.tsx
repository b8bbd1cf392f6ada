/** Where code is written and tested: the editor, the button, and why a test could not be run. */
import {useEffect, useRef} from "preact/hooks";
import {PythonError, PythonStopped, python} from "../../python/index.ts";
import {Icon} from "../../site/icons.tsx";
import {exercise as words} from "../../strings/en/exercise.ts";
import {useEditor} from "./editing.ts";
import type {Tab} from "./material.ts";
import {replaced, textOf, write} from "./work.ts";

const MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function reason(error: unknown): {title: string; why: string} {
  if (error instanceof PythonStopped) return words.stoppedBy[error.reason];
  if (error instanceof PythonError && error.kind === "NotLoaded") return words.notLoaded;
  return {title: words.broken.title, why: `${words.broken.why} (${error instanceof Error ? error.message : String(error)})`};
}

export function RunButton({running, label = words.run, onRun}: {running: boolean; label?: string; onRun: () => void}) {
  const {phase, percent} = python.state.value;
  if (!running) {
    return <button class="btn primary run" type="button" onClick={onRun}>{label} <kbd aria-hidden="true">{words.keys(MAC)}</kbd></button>;
  }
  return (
    <>
      <button class="btn primary run" type="button" aria-disabled="true" aria-busy="true"><Icon name="again" />{phase === "ready" ? words.running : words.loading(percent)}</button>
      {phase === "ready" && <button class="btn" type="button" onClick={() => python.stop()}><Icon name="stop" />{words.stop}</button>}
    </>
  );
}

/** The editor; until it has loaded, the text as it is. */
export function Code({tab, label = words.editor(tab.name), lines, onRun}: {tab: Tab; label?: string; lines: number[]; onRun: () => void}) {
  const place = useRef<HTMLDivElement>(null);
  const text = textOf(tab.name, tab.starter).value;
  const described = `${tab.name.replace(/[^\w-]/g, "-")}-keys`;
  const editor = useEditor(place, {text, label, describedBy: described, onChange: (next) => write(tab.name, next, tab.starter), onRun});
  useEffect(() => python.load(), []);
  const times = replaced.value; // not on every change of the text: what the learner types is in the editor already
  useEffect(() => editor?.show(textOf(tab.name, tab.starter).peek()), [times]);
  useEffect(() => editor?.mark(lines), [editor, lines.join()]);
  return (
    <>
      <div class="editor" ref={place} data-tab={tab.name}>{!editor && <pre>{text}</pre>}</div>
      <span class="vh" id={described}>{words.editorKeys}</span>
    </>
  );
}
