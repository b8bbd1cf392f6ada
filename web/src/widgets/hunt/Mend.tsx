/** The editor that opens when the bug has a name: tested by the grader's own checks. */
import {useState} from "preact/hooks";
import {PythonStopped, python} from "../../python/index.ts";
import {hunt as words} from "../../strings/en/hunt.ts";
import {Code, reason} from "../exercise/code.tsx";
import {RunButton} from "../../ui/RunButton.tsx";
import {Help} from "../exercise/help.tsx";
import type {Result, Tab} from "../exercise/material.ts";
import {Findings, type Shown} from "../exercise/result.tsx";
import {note, recordOf, textOf} from "../exercise/work.ts";
import {keyOf, type Case} from "./material.ts";

const SECONDS = 25;

type Props = {entry: Case; label: string; rewalking: boolean; onMended: () => void; onWalk: (text: string) => void};

export function Mend({entry, label, rewalking, onMended, onWalk}: Props) {
  const key = keyOf(entry.name);
  const tab: Tab = {name: key, task: "", starter: entry.text, solution: entry.mended, hints: entry.hints, checks: 0};
  const [run, setRun] = useState<{shown: Shown; text: string} | null>(null);
  const [running, setRunning] = useState(false);
  const text = textOf(key, entry.text);
  const test = async () => {
    if (running) return;
    const tried = textOf(key, entry.text);
    const record = recordOf(key);
    setRunning(true);
    try {
      const result = await python.call<Result>("hunting.mend", {case: entry.name, text: tried}, {seconds: SECONDS});
      const passed = result.status === "passed";
      note(key, {passed: record.passed || passed, tries: record.tries + (result.status === "missing" ? 0 : 1)});
      setRun({shown: {kind: "result", result, printed: ""}, text: tried});
      if (passed) onMended();
    } catch (error) {
      if (error instanceof PythonStopped) note(key, {tries: record.tries + 1});
      setRun({shown: {kind: "stopped", ...reason(error), printed: ""}, text: tried});
    } finally {
      setRunning(false);
    }
  };
  const lines = run?.shown.kind === "result" && run.text === text ? run.shown.result.lines : [];
  return (
    <div class="code-grid hunt-mend">
      <div class="code-left">
        <p class="code-task">{entry.where === "engine" ? words.mendEngine : words.mendProgram}</p>
        <Code tab={tab} label={words.editor(label)} lines={lines} onRun={() => void test()} />
        <div class="code-actions">
          <RunButton running={running} label={words.run} onRun={() => void test()} />
          <button class="btn" type="button" aria-busy={rewalking} onClick={() => onWalk(text)}>{words.rewalk}</button>
          <Help tab={tab} shown={words.solutionName} />
        </div>
      </div>
      <div class="code-right">
        {run ? <Findings shown={run.shown} stale={run.text !== text} /> : <p class="before" role="status">{words.before}</p>}
      </div>
    </div>
  );
}
