/** The board of the playground: the order as a strip, the graph, the verdict or the search.

It knows nothing of where its graph comes from: a page of the course or a notebook hands it in.
*/
import {useEffect, useMemo, useState} from "preact/hooks";
import {graph as graphWords} from "../../strings/en/graph.ts";
import {playground as words} from "../../strings/en/playground.ts";
import {Canvas} from "../../graph/Canvas.tsx";
import type {NumberScene} from "../../graph/scene.ts";
import type {Graph, SearchEvent} from "../../python/schema.ts";
import {run, stateOf} from "./outcome.ts";
import {SearchPanel, VerdictPanel} from "./Panel.tsx";
import {OPTIONS} from "./schema.ts";
import {searchOf, searchState} from "./search.ts";
import {Strip} from "./Strip.tsx";

const REST = 700; // between two visits of a run

/** The nodes in the order in which they were computed: the one order that goes wrong everywhere. */
export const forwards = (graph: Graph): number[] => graph.nodes.filter((node) => !node.constant).map((node) => node.id);

/** Somebody else who holds the order and the number of visits too, such as Python in a notebook; it hears no echo of itself. */
export type Follow = {tell(order: readonly number[], visits: number): void; listen(take: (order: readonly number[], visits: number) => void): () => void};

type BoardProps = {scene: NumberScene; title: string; search: SearchEvent[]; first: readonly number[]; visited?: number; follow?: Follow};

export function Board({scene, title, search: found, first, visited = 0, follow}: BoardProps) {
  const graph = scene.recording.graph;
  const [order, setOrder] = useState<readonly number[]>(first);
  const [visits, setVisits] = useState(visited);
  const [running, setRunning] = useState(false);
  const [moment, setMoment] = useState(0);
  const [search, setSearch] = useState<number | null>(null);
  const done = useMemo(() => run(graph, order), [graph, order]);
  const steps = useMemo(() => searchOf(graph, found), [graph, found]);

  const visit = (count: number) => (setVisits(count), setMoment((now) => now + 1));
  const change = (next: readonly number[]) => {
    setOrder(next);
    setVisits(0);
    setRunning(false);
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

  useEffect(
    () =>
      follow?.listen((wanted, done) => {
        setOrder(wanted);
        setRunning(false);
        setSearch(null);
        visit(done);
      }),
    [follow],
  );
  useEffect(() => follow?.tell(order, visits), [order, visits, follow]);

  const searching = search !== null;
  const state = useMemo(() => (searching ? searchState(graph, steps[search]!) : stateOf(done, visits)), [graph, done, visits, search, steps]);
  const hurt = useMemo(() => new Set(visits ? done.judged.lost.map((loss) => loss.node).filter((id) => order.indexOf(id) < visits) : []), [done, visits]);
  return (
    <div data-visits={visits}>
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
          words={graphWords} label={words.graph(title)} options={OPTIONS} common={[548]} />
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
