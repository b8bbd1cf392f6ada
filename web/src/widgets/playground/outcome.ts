/** What an order did, as the page shows it: the graph, the log, the verdict. */
import {playground as words} from "../../strings/en/playground.ts";
import type {Part} from "../../ui/Ledger.tsx";
import {edgeId} from "../../graph/model.ts";
import {clean} from "../../text/names.ts";
import {maybe, num, readable} from "../../text/numbers.ts";
import type {Rich} from "../../text/rich.ts";
import type {Graph} from "../../python/schema.ts";
import {computed, stateAfter, type GraphState} from "../../graph/state.ts";
import {judge, play, type Judged, type Step} from "../../graph/walk.ts";

export type Run = {graph: Graph; order: readonly number[]; steps: Step[]; judged: Judged};

export function run(graph: Graph, order: readonly number[]): Run {
  const steps = play(graph, order);
  return {graph, order, steps, judged: judge(graph, steps)};
}

const nameOf = (graph: Graph, id: number): string => clean(graph.nodes[id]!.name);

/** The number of steps that belong to the first `visits` visits. */
function stepsUntil(steps: Step[], visits: number): number {
  let seen = 0;
  const next = steps.findIndex((step) => step.kind === "visit" && ++seen > visits);
  return next < 0 ? steps.length : next;
}

// --- the graph ----------------------------------------------------------------------------------------------------------

/** After so many visits; while it runs, the node whose turn it is has its ring. */
export function stateOf({graph, order, steps, judged}: Run, visits: number): GraphState {
  const over = visits >= order.length;
  const state = stateAfter({graph, events: steps}, visits === 0 ? 0 : stepsUntil(steps, visits), computed(graph));
  const hurt = new Set(judged.lost.map((loss) => loss.node));
  order.forEach((id, i) => state.badges.set(id, {text: String(i + 1), bad: hurt.has(id) && i < visits}));
  for (const edge of state.edges.values()) if (edge.look === "play") edge.look = "walked";
  markLosses(state, graph, order.slice(0, visits), steps, judged);
  if (over) {
    state.visiting = null;
    state.visited = new Set();
  }
  state.hit = null;
  return state;
}

/** What a node could not pass on is drawn on its edges, what came too late on the edges that brought it. */
function markLosses(state: GraphState, graph: Graph, visited: readonly number[], steps: Step[], judged: Judged): void {
  for (const loss of judged.lost) {
    if (!visited.includes(loss.node)) continue;
    graph.nodes[loss.node]!.operands.forEach((_, position) => {
      const slope = maybe(graph.nodes[loss.node]!.slopes[position]!);
      const missing = slope === null ? 0 : slope * ((judged.expected[loss.node] ?? 0) - (loss.held ?? 0));
      if (missing !== 0) state.edges.set(edgeId(loss.node, position), {look: "lost", note: words.lostChip(missing)});
    });
  }
  const seen = new Set<number>();
  for (const step of steps) {
    if (step.kind === "visit") seen.add(step.node);
    if (step.kind !== "push" || !seen.has(step.operand) || !graph.nodes[step.operand]!.operands.length) continue;
    const known = state.edges.get(edgeId(step.node, step.position));
    if (known && visited.includes(step.node)) Object.assign(known, {late: true, note: words.lateChip(num(step.contribution))});
  }
}

// --- the log ------------------------------------------------------------------------------------------------------------

export type Line = {text: Rich; bad: boolean};

export function logOf({graph, order, steps, judged}: Run, visits: number): Line[] {
  const hurt = new Set(judged.lost.map((loss) => loss.node));
  return order.slice(0, visits).map((id, i) => {
    const name = nameOf(graph, id);
    const [visit, ...pushes] = steps.slice(i === 0 ? 1 : stepsUntil(steps, i), stepsUntil(steps, i + 1));
    if (graph.nodes[id]!.leaf) return {text: words.logLeaf(name), bad: false};
    const held = visit?.kind === "visit" ? maybe(visit.gradient) : null;
    if (held === null) return {text: words.logNothing(name), bad: hurt.has(id)};
    const before = new Set(order.slice(0, i));
    const sent = pushes.flatMap((step) => (step.kind === "push" ? [step] : []));
    const late = [...new Set(sent.filter((push) => before.has(push.operand) && graph.nodes[push.operand]!.operands.length).map((push) => nameOf(graph, push.operand)))];
    const shares = sent.map((push) => words.logPush(held, num(push.local!), num(push.contribution), nameOf(graph, push.operand)));
    return {text: [...words.logHolds(name, held), ...words.logPushes(shares), ...(late.length ? words.logLate(late) : [])], bad: hurt.has(id)};
  });
}

// --- the verdict --------------------------------------------------------------------------------------------------------

export type Verdict = {
  kind: "right" | "lucky" | "wrong";
  title: string;
  /** In the words of Python's verdict. */
  sentences: Rich[];
  ledgers: {name: string; parts: Part[]}[];
};

const MOST = 3;

export function verdictOf({graph, steps, judged}: Run): Verdict {
  const leaves = graph.nodes.filter((node) => node.leaf).map((node) => node.id);
  const amiss = leaves.filter((leaf) => readable(judged.grads[leaf] ?? 0) !== readable(judged.expected[leaf] ?? 0));
  const leaf = (judged.right ? leaves : amiss)[0] ?? leaves[0]!;
  const name = nameOf(graph, leaf);
  const ledgers = (judged.right ? [leaf] : amiss.slice(0, 2)).map((id) => ({name: nameOf(graph, id), parts: partsOf(graph, steps, judged, id)}));
  const shown = ledgers.filter(({parts}) => parts.length > 1 || !judged.right);
  if (judged.right) {
    return judged.topological
      ? {kind: "right", title: words.right(name, judged.grads[leaf]!), sentences: [words.allRight], ledgers: shown}
      : {kind: "lucky", title: words.lucky(name, judged.grads[leaf]!), sentences: [luckOf(graph, judged)], ledgers: shown};
  }
  const told = judged.lost.map((loss) => lossOf(graph, judged, loss));
  const sentences = told.length > MOST ? [...told.slice(0, MOST), [words.moreLost(told.length - MOST)]] : told;
  return {kind: "wrong", title: words.wrong(name, judged.grads[leaf]!, judged.expected[leaf] ?? 0), sentences, ledgers: shown};
}

/** One loss, in the words of Python's verdict. */
export function lossOf(graph: Graph, {grads, expected}: Judged, loss: Judged["lost"][number]): Rich {
  return words.lost({
    name: nameOf(graph, loss.node),
    users: loss.users.map((user) => nameOf(graph, user)),
    held: loss.held,
    amount: loss.amount,
    leaf: nameOf(graph, loss.leaf),
    got: grads[loss.leaf]!,
    right: expected[loss.leaf] ?? 0,
  });
}

/** Why a wrong order gave the right numbers all the same. */
export function luckOf(graph: Graph, {waiting}: Judged): Rich {
  const first = waiting.find(({node}) => !graph.nodes[node]!.leaf) ?? waiting[0]!;
  return words.luck(nameOf(graph, first.node), first.users.map((user) => nameOf(graph, user)), waiting.every(({node}) => graph.nodes[node]!.leaf));
}

/** What should arrive at a leaf, edge by edge, and what of it did. */
function partsOf(graph: Graph, steps: Step[], judged: Judged, leaf: number): Part[] {
  const parts: Part[] = [];
  for (const node of graph.nodes) {
    node.operands.forEach((operand, position) => {
      const slope = operand === leaf ? maybe(node.slopes[position]!) : null;
      if (slope === null) return;
      const due = slope * (judged.expected[node.id] ?? 0);
      const came = steps.reduce((sum, step) => (step.kind === "push" && step.node === node.id && step.position === position ? sum + num(step.contribution) : sum), 0);
      const name = nameOf(graph, node.id);
      if (came !== 0 || due === 0) parts.push({amount: came, label: words.through(name), state: "got"});
      if (due !== came) parts.push({amount: due - came, label: words.lostAt(name), state: "lost"});
    });
  }
  return parts;
}
