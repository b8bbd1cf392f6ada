/** The graph stepper: a graph, its walk forwards and back, step by step. */
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import {useComputed} from "@preact/signals";
import {python, PythonError} from "../../python/index.ts";
import {stepper as words} from "../../strings/en/stepper.ts";
import {tensors as tensorWords} from "../../strings/en/tensors.ts";
import type {Place} from "../../graph/heat.ts";
import {clean} from "../../text/names.ts";
import {walkOf, walks} from "./presets.ts";
import {sceneOf, type Given, type Scene} from "../../graph/scene.ts";
import type {Drawn} from "../../python/schema.ts";
import {Tabs} from "../../ui/Tabs.tsx";
import {pythonState} from "../../ui/pythonState.ts";
import {readLink} from "./link.ts";
import {keptDraft, Own, type Draft} from "./Own.tsx";
import type {Props} from "./schema.ts";
import {Tools} from "./Tools.tsx";
import {Walk, type CellGraph} from "./Walk.tsx";

/** Another link on the page that links lead to: begin anew with it. */
export default function Linked(props: Props) {
  const [hash, setHash] = useState("");
  useLayoutEffect(() => {
    const follow = () => readLink(location.hash) && setHash(location.hash);
    follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return <Stepper key={hash} hash={hash} {...props} />;
}

/** What is being walked: where it comes from, its program, the numbers it starts from, and its picture. */
export type Walked = {preset: string | null; title: string; text: string; inputs: Record<string, number>; original: Record<string, number>; scene: Scene};

function fromPreset(name: string): Walked {
  const entry = walkOf(name) ?? walks[0]!;
  return {preset: entry.name, title: entry.title, text: entry.text, inputs: entry.inputs, original: entry.inputs, scene: sceneOf(entry)};
}

const TABS = ["preset", "own"] as const;

function Stepper({id, lesson, preset, until, at, own, hash}: Props & {hash: string}) {
  const isPage = lesson === "playground"; // the page that links lead to
  const [linked] = useState(() => (isPage ? readLink(hash) : null));
  const [tab, setTab] = useState<(typeof TABS)[number]>(linked && linked.kind !== "preset" ? "own" : own ? "own" : "preset");
  const [walked, setWalked] = useState<Walked>(() => fromPreset(linked?.kind === "preset" ? linked.name : preset));
  const [ownWalk, setOwnWalk] = useState<Walked | null>(null);
  const [draft, setDraft] = useState<Draft>(() =>
    linked?.kind === "program" ? {text: linked.text, inputs: linked.inputs, from: "link"} : linked?.kind === "unreadable" ? {text: "", from: "bad link"} : keptDraft(),
  );
  const stored = keptDraft().text;
  useLayoutEffect(() => {
    if (draft.from === "learner" && draft.text !== stored) setDraft({text: stored, from: "learner"}); // from another tab, or a file
  }, [stored]);
  const current = tab === "own" ? ownWalk : walked;
  const set = tab === "own" ? setOwnWalk : setWalked;
  const start = linked?.kind === "preset" ? linked.step : at;
  const forwardOnly = until === "forward" && current?.preset === walkOf(preset)?.name; // what the lesson asks of its own preset
  const rerun = useRerun(current, set);
  useEffect(() => {
    if (linked?.kind === "preset" && Object.keys(linked.inputs).length) rerun({...walked.inputs, ...known(linked.inputs, walked.inputs)});
  }, []);

  const {phase, percent} = useComputed(() => pythonState()).value;
  const note = phase === "loading" && current?.inputs !== current?.original ? words.waiting(percent) : phase === "failed" ? words.failed : "";

  const drawn = (text: string, {inputs, ...given}: Drawn) => {
    const scene = sceneOf(given as Given);
    const {nodes, root: last} = scene.recording.graph;
    const root = nodes[last]!;
    setDraft((now) => ({...now, from: "learner"}));
    setOwnWalk({preset: null, title: root.label ? clean(root.label) : words.ownTitle, text, inputs, original: inputs, scene});
  };
  const walk = useRef<HTMLDivElement>(null);
  return (
    <div ref={walk}>
      <div class="w-bar">
        <Tabs label={words.name} tabs={TABS.map((each) => ({key: each, id: `${id}-${each}`, label: words[each]}))} at={TABS.indexOf(tab)} panel={`${id}-pane`} onChoose={(index) => setTab(TABS[index]!)} />
        {tab === "preset" && (
          <>
            <label class="select"><span class="vh">{words.preset}</span>
              <select value={walked.preset!} onChange={(event) => setWalked(fromPreset(event.currentTarget.value))}>
                {walks.map(({name, title}) => <option key={name} value={name}>{title}</option>)}
              </select>
            </label>
            <code class="program">{walked.text.split(/; |\n/).map((line) => <span key={line}>{line}   </span>)}</code>
          </>
        )}
        {current && <Tools walked={current} element={walk} />}
      </div>
      <div role="tabpanel" id={`${id}-pane`} aria-labelledby={`${id}-${tab}`}>
        {tab === "own" && <Own id={id} draft={draft} onDraft={setDraft} drawnText={ownWalk?.text ?? null} onDrawn={drawn} />}
        {current && (
          <Walk key={`${tab}:${current.preset ?? current.text}`} {...current} forwardOnly={forwardOnly} start={start} note={note} onInputs={rerun} onWake={() => python.load()} onCell={(node, place) => cellIn(current.text, node, place)} />
        )}
      </div>
    </div>
  );
}

/** The graph of one number of a tensor: Python computes it anew. */
async function cellIn(text: string, node: number, place: Place): Promise<CellGraph> {
  try {
    const {error, ...given} = await python.call<Drawn>("programs.cell", {text, node, place}, {seconds: 8});
    return error ? {error: error.message} : {given: given as Given};
  } catch (error) {
    return {error: error instanceof PythonError ? error.message : tensorWords.needsPython};
  }
}

/** Only names that the program has. */
const known = (given: Record<string, number>, names: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(names, name)));

/** Run the program again with other numbers, the newest only: a slider asks more often than Python can answer. */
function useRerun(walked: Walked | null, set: (change: any) => void): (inputs: Record<string, number>) => void {
  const wanted = useRef<Record<string, number> | null>(null);
  const busy = useRef(false);
  const latest = useRef(walked);
  latest.current = walked;
  const pump = async () => {
    if (busy.current || !wanted.current || !latest.current) return;
    const [inputs, before] = [wanted.current, latest.current];
    wanted.current = null;
    busy.current = true;
    try {
      const answer = await python.call<Drawn>("programs.run", {text: before.text, inputs}, {seconds: 8});
      if (answer.recording && latest.current.text === before.text) {
        const scene = sceneOf(answer as Given);
        set((now: Walked | null) => now && now.text === before.text && {...now, scene});
      }
    } catch {
      // stopped, or Python cannot be had: the header says so, and the picture stays as it was
    }
    busy.current = false;
    void pump();
  };
  return (inputs) => {
    set((now: Walked | null) => now && {...now, inputs});
    wanted.current = inputs;
    void pump();
  };
}
