/** The same program in gradwalk and in PyTorch, row by row: our side runs here, theirs was recorded. */
import material from "#recorded/against_torch.json";
import type {ComponentChildren} from "preact";
import {useState} from "preact/hooks";
import {PythonError, PythonStopped, python} from "../../python/index.ts";
import {PythonLines} from "../../ui/Python.tsx";
import {pythonState} from "../../ui/pythonState.ts";
import {Icon} from "../../ui/icons.tsx";
import {beside as words} from "../../strings/en/beside.ts";
import type {Ran} from "../../python/schema.ts";
import {Html} from "../quiz/parts.tsx";
import type {Props, Recorded, Row} from "./schema.ts";

const RECORDED = material as Recorded;
const SECONDS = 30;

export default function Beside({of, notes}: Props) {
  const rows = RECORDED.comparisons[of]!;
  const [running, setRunning] = useState(false);
  const [ran, setRan] = useState<Ran>();
  const [trouble, setTrouble] = useState("");
  const run = async () => {
    if (running) return;
    setRunning(true);
    setTrouble("");
    try {
      const result = await python.call<Ran>("scripts.run", {parts: rows.map(({ours}) => ours)}, {seconds: SECONDS});
      setRan(result);
      if (result.error) setTrouble(words.error(result.error.kind, result.error.message));
    } catch (error) {
      setTrouble(error instanceof PythonStopped ? words.stopped : error instanceof PythonError && error.kind === "NotLoaded" ? words.notLoaded : String(error));
    } finally {
      setRunning(false);
    }
  };
  const {phase, percent} = pythonState();
  const busy = phase === "ready" ? words.running : words.loading(percent);
  return (
    <div onFocusIn={() => python.load()} onPointerEnter={() => python.load()}>
      <div class="w-bar beside-bar">
        <button class="btn primary" type="button" data-act="run" aria-disabled={running} aria-busy={running} onClick={() => void run()}>
          <Icon name={running ? "again" : "play"} />{running ? busy : ran ? words.again : words.run}
        </button>
        {running && phase === "ready" && <button class="btn" type="button" onClick={() => python.stop()}><Icon name="stop" />{words.stop}</button>}
        <p role="status">{trouble || (ran ? outcome(rows, ran) : words.before)}</p>
      </div>
      <div class="beside-head" aria-hidden="true"><b>{words.oursLive}</b><b>{words.theirsVersion(RECORDED.torch)}</b></div>
      <ol class="beside-rows">
        {rows.map((row, index) => <Pair key={row.name} row={row} printed={ran?.printed[index]} note={notes.find((each) => each.row === row.name)?.says} />)}
      </ol>
    </div>
  );
}

/** Rows on which both sides print something. */
const compared = (rows: Row[]) => rows.map((row, index) => ({...row, index})).filter(({ours, theirs, oursPrinted, theirsPrinted}) => !isNote(ours) && !isNote(theirs) && (oursPrinted || theirsPrinted));

function outcome(rows: Row[], {printed}: Ran): string {
  const all = compared(rows);
  const same = all.filter(({index, theirsPrinted}) => printed[index] === theirsPrinted).length;
  return same === all.length ? words.allAgree(same) : words.someDiffer(same, all.length);
}

const isNote = (code: string) => code.startsWith("#");

function Pair({row, printed, note}: {row: Row; printed?: string; note?: string}) {
  const prints = Boolean(row.oursPrinted);
  const both = prints && Boolean(row.theirsPrinted);
  const same = row.ours === row.theirs;
  return (
    <li class={same ? "same" : ""} data-row={row.name}>
      {note && <p class="beside-note"><Html of={note} /></p>}
      <div class="beside-pair">
        <Side name={words.ours} code={row.ours}>
          {prints && <Output of={printed} verdict={both && printed !== undefined ? (printed === row.theirsPrinted ? "same" : "other") : undefined} />}
        </Side>
        <Side name={words.theirs} code={row.theirs}>
          {row.theirsPrinted && <Output of={row.theirsPrinted} />}
        </Side>
      </div>
    </li>
  );
}

function Side({name, code, children}: {name: string; code: string; children: ComponentChildren}) {
  return (
    <div class="side" role="group" aria-label={name}>
      <span class="side-name" aria-hidden="true">{name}</span>
      <pre><PythonLines of={code} /></pre>
      {children}
    </div>
  );
}

/** What a row printed; an empty slot for what has not run. */
function Output({of, verdict}: {of?: string; verdict?: "same" | "other"}) {
  if (of === undefined) return <div class="out empty"><span>{words.notYet}</span></div>;
  return (
    <div class="out">
      <pre><span class="vh">{words.prints}: </span>{of.trimEnd()}</pre>
      {verdict && <span class="out-same"><Icon name={verdict === "same" ? "ok" : "info"} />{verdict === "same" ? words.agrees : words.differs}</span>}
    </div>
  );
}
