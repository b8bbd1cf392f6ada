/** The visit-order playground: put the nodes in any order, run them, see what was lost. */
import {render} from "preact";
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {playground as words} from "../../strings/en/playground.ts";
import {Canvas} from "../../graph/Canvas.tsx";
import {presetOf, presetScene, presets} from "../../graph/presets.ts";
import type {Graph} from "../../graph/schema.ts";
import {run, stateOf} from "./outcome.ts";
import {SearchPanel, VerdictPanel} from "./Panel.tsx";
import {OPTIONS, type Props} from "./schema.ts";
import {searchOf, searchState} from "./search.ts";
import {Strip} from "./Strip.tsx";

export function mount(element: HTMLElement, props: Props): void {
  element.classList.add("order");
  render(<Playground {...props} />, element);
}

const REST = 700; // between two visits of a run

/** The nodes in the order in which they were computed: the one order that goes wrong everywhere. */
const forwards = (graph: Graph): number[] => graph.nodes.filter((node) => !node.constant).map((node) => node.id);

function named(graph: Graph, names: readonly string[] | undefined): number[] {
  const ids = names?.map((name) => graph.nodes.find((node) => node.name === name && !node.constant)?.id);
  return ids?.every((id) => id !== undefined) ? (ids as number[]) : forwards(graph);
}

function Playground({preset, order: first}: Props) {
  const [name, setName] = useState(preset);
  const entry = presetOf(name)!;
  const scene = useMemo(() => presetScene(entry), [entry]);
  const graph = scene.recording.graph;
  const [order, setOrder] = useState<number[]>(() => named(graph, first));
  const [visits, setVisits] = useState(0);
  const [running, setRunning] = useState(false);
  const [moment, setMoment] = useState(0);
  const [search, setSearch] = useState<number | null>(null);
  const done = useMemo(() => run(graph, order), [graph, order]);
  const steps = useMemo(() => searchOf(graph, entry.search), [graph, entry]);

  const visit = (count: number) => (setVisits(count), setMoment((now) => now + 1));
  const change = (next: number[]) => {
    setOrder(next);
    setVisits(0);
    setRunning(false);
  };
  const frame = useRef<HTMLDivElement>(null);
  const choose = (next: string) => {
    frame.current!.closest<HTMLElement>(".widget")!.style.minHeight = "0"; // room was kept for another graph
    setName(next);
    change(forwards(presetOf(next)!.recording.graph));
    setSearch(null);
  };
  const runAll = () => {
    setSearch(null);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return visit(order.length);
    visit(1);
    setRunning(true);
  };
  const step = () => {
    setSearch(null);
    setRunning(false);
    visit(visits >= order.length ? 1 : visits + 1);
  };
  useEffect(() => {
    if (!running) return;
    if (visits >= order.length) return setRunning(false);
    const timer = setTimeout(() => visit(visits + 1), REST);
    return () => clearTimeout(timer);
  }, [running, visits]);

  const searching = search !== null;
  const state = useMemo(() => (searching ? searchState(graph, steps[search]!) : stateOf(done, visits)), [graph, done, visits, search, steps]);
  const hurt = useMemo(() => new Set(visits ? done.judged.lost.map((loss) => loss.node).filter((id) => order.indexOf(id) < visits) : []), [done, visits]);
  return (
    <div data-visits={visits} ref={frame}>
      <div class="w-bar">
        <span class="w-name">{words.name}</span>
        <label class="select"><span class="vh">{words.preset}</span>
          <select value={name} onChange={(event) => choose(event.currentTarget.value)}>
            {presets.map((each) => <option key={each.name} value={each.name}>{each.title}</option>)}
          </select>
        </label>
        <code class="program">{[...entry.text.split(/; |\n/), ...Object.entries(entry.inputs).map(([key, x]) => `${key} = ${x}`)].join("   ")}</code>
      </div>
      <Strip graph={graph} order={order} bad={hurt} now={!searching && visits > 0 && visits < order.length ? order[visits - 1]! : null}
        onMove={(from, to) => change(moved(order, from, to))} onRun={runAll} />
      <div class="order-actions">
        <button type="button" class="btn primary" data-act="run" onClick={runAll}>{words.run} <kbd>↵</kbd></button>
        <button type="button" class="btn" data-act="step" onClick={step}>{words.step}</button>
        <button type="button" class="btn" data-act="shuffle" onClick={() => change(shuffled(order))}>{words.shuffle}</button>
        <button type="button" class="btn ghost" data-act="search" aria-pressed={searching} onClick={() => setSearch(searching ? null : 0)}>
          {searching ? words.hideSearch : words.search}
        </button>
      </div>
      <div class="order-grid">
        <Canvas info={graph} graph={scene.graph} layout={scene.layout} state={state} moment={moment} still={!running}
          label={words.graph(entry.title)} options={OPTIONS} />
        {searching
          ? <SearchPanel graph={graph} steps={steps} at={search} onGo={setSearch} onUse={() => (change([...steps.at(-1)!.written].reverse()), setSearch(null))} />
          : <VerdictPanel run={done} visits={visits} />}
      </div>
    </div>
  );
}

function moved(order: readonly number[], from: number, to: number): number[] {
  const next = [...order];
  const [one] = next.splice(from, 1);
  next.splice(to, 0, one!);
  return next;
}

/** Another order than this one. */
function shuffled(order: readonly number[]): number[] {
  const next = order.map((id) => ({id, key: Math.random()})).sort((a, b) => a.key - b.key).map(({id}) => id);
  return next.join() === order.join() ? [...next.slice(1), next[0]!] : next;
}
