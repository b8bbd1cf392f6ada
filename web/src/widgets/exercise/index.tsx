/** Functions to write, a test that says which mistake it is, hints, and a solution for whoever has tried. */
import material from "#generated/exercises.json";
import {useState} from "preact/hooks";
import {PythonStopped, python} from "../../python/index.ts";
import {Icon} from "../../ui/icons.tsx";
import {RunButton} from "../../ui/RunButton.tsx";
import {panelId, Tabs} from "../../ui/Tabs.tsx";
import {progress} from "../../store/progress.ts";
import {useOnceAwake} from "../../waking/index.ts";
import {exercise as words} from "../../strings/en/exercise.ts";
import {Code, reason} from "./code.tsx";
import {Help} from "./help.tsx";
import {wholeClass, type Exercise, type Material, type Result} from "./material.ts";
import {Findings, type Shown} from "./result.tsx";
import type {Props} from "./schema.ts";
import {Text} from "./text.tsx";
import {Whole} from "./whole.tsx";
import {allTexts, note, recordOf, textOf} from "./work.ts";

const MATERIAL = material as unknown as Material;
const SECONDS = 10;

type Run = {shown?: Shown; text?: string};

export default function ExerciseWidget({id, exercise: name}: Props) {
  const exercise = MATERIAL.exercises[name]!;
  const [at, setAt] = useOnceAwake(() => Math.max(0, exercise.tabs.findIndex((tab) => !recordOf(tab.name).passed)));
  const [runs, setRuns] = useState<Record<string, Run>>({});
  const [running, setRunning] = useState(false);
  const [whole, setWhole] = useState(false);
  const tab = exercise.tabs[at]!;
  const run = runs[tab.name];
  const text = textOf(tab.name, tab.starter);
  const keep = (shown: Shown, of: string) => setRuns((before) => ({...before, [tab.name]: {shown, text: of}}));

  const test = async () => {
    if (running) return;
    const sources = allTexts(MATERIAL);
    const tried = sources[tab.name]!;
    let printed = "";
    setRunning(true);
    try {
      const options = {seconds: SECONDS, onPrint: (more: string) => void (printed += more)};
      const result = await python.call<Result>("exercises.run", {exercise: name, tab: tab.name, sources}, options);
      const record = recordOf(tab.name);
      note(tab.name, {passed: record.passed || result.status === "passed", tries: record.tries + (result.status === "missing" ? 0 : 1)});
      if (exercise.tabs.every((each) => recordOf(each.name).passed)) progress.mark(id);
      keep({kind: "result", result, printed}, tried);
    } catch (error) {
      if (error instanceof PythonStopped) note(tab.name, {tries: recordOf(tab.name).tries + 1});
      keep({kind: "stopped", ...reason(error), printed}, tried);
    } finally {
      setRunning(false);
    }
  };

  const lines = run?.shown?.kind === "result" && run.text === text ? run.shown.result.lines : [];
  const panel = panelId(id);
  return (
    <>
      <div class="w-bar file-tabs">
        <Tabs label={words.files} tabs={exercise.tabs.map(({name}) => ({key: name, label: <TabName name={name} />}))} at={at} panel={panel} onChoose={setAt} />
        <div class="w-tools">
          <button class="quiet" type="button" onClick={() => setWhole(true)}>{exercise.kind === "definitions" ? words.wholeFile : words.whole}</button>
        </div>
      </div>
      <div class="code-grid" id={panel} role="tabpanel" aria-label={tab.name}>
        <div class="code-left">
          <p class="code-task"><Text of={tab.task} /></p>
          <Code key={tab.name} tab={tab} lines={lines} onRun={() => void test()} />
          <div class="code-actions">
            <RunButton running={running} label={words.run} onRun={() => void test()} />
            <Help key={tab.name} tab={tab} />
          </div>
        </div>
        <div class="code-right">
          {run?.shown ? <Findings shown={run.shown} stale={run.text !== text} /> : <p class="before" role="status">{words.before(tab.checks)}</p>}
        </div>
      </div>
      {whole && <Whole title={exercise.kind === "definitions" ? words.wholeFileTitle : words.wholeTitle} code={wholeText(exercise)} onClose={() => setWhole(false)} />}
    </>
  );
}

function wholeText(exercise: Exercise): string {
  const texts = allTexts(MATERIAL);
  if (exercise.kind === "definitions") return exercise.tabs.map(({name}) => texts[name]!.trim()).join("\n\n\n") + "\n";
  const names = new Set(exercise.tabs.map((tab) => tab.name));
  const lesson = Math.max(7, ...MATERIAL.engine.parts.filter((part) => names.has(part.name)).map((part) => part.lesson));
  return wholeClass(MATERIAL.engine, texts, lesson);
}

/** Its name, and how far the learner has come with it. */
function TabName({name}: {name: string}) {
  const {passed, tries} = recordOf(name);
  return (
    <>
      {passed ? <Icon name="ok" /> : tries > 0 ? <Icon name="miss" /> : null}
      {name} <span class="vh">{passed ? words.passed : tries > 0 ? words.failed : words.untried}</span>
    </>
  );
}
