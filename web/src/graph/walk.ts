/** A walk back in any order of the visits, and what became of it: as `gradwalk.walk` does it in Python, so that the
playground answers at once. A test compares the two, order by order, to the last bit and word. */
import {maybe, num} from "../text/numbers.ts";
import type {Compute, Graph, Num, Push, Seed, Visit} from "../python/schema.ts";

export type Step<N = Num> = Compute<N> | Seed<N> | Visit<N> | Push<N>;

/** For each node those that push to it, each once, in order. */
export function consumers(graph: Graph): number[][] {
  const found = graph.nodes.map(() => new Set<number>());
  for (const node of [...graph.nodes].reverse()) {
    if (node.id !== graph.root && found[node.id]!.size === 0) continue; // no gradient comes to it, and it pushes none
    node.operands.forEach((operand, i) => {
      if (node.slopes[i] !== null || node.handmade) found[operand]!.add(node.id);
    });
  }
  return found.map((ids) => [...ids].reverse());
}

/** Seed the root, then visit: each node in its turn pushes what it has to its operands. */
export function play(graph: Graph, order: readonly number[]): Step[] {
  const users = consumers(graph);
  const grads: (number | null)[] = graph.nodes.map(() => null);
  const seen = new Set<number>();
  grads[graph.root] = 1;
  const steps: Step[] = [{kind: "seed", node: graph.root, gradient: 1}];
  for (const id of order) {
    const node = graph.nodes[id]!;
    steps.push({kind: "visit", node: id, gradient: grads[id]!, waiting: users[id]!.filter((user) => !seen.has(user)), turn: 1, arrived: null});
    seen.add(id);
    node.operands.forEach((operand, position) => {
      const slope = maybe(node.slopes[position]!);
      if (slope === null) return;
      const upstream = grads[id] ?? 0;
      const contribution = slope * upstream;
      if (grads[id] === null && (contribution === 0 || (id !== graph.root && users[id]!.length === 0))) return; // it has nothing to push
      const before = grads[operand]!;
      grads[operand] = (before ?? 0) + contribution;
      steps.push({kind: "push", node: id, operand, position, upstream, local: slope, contribution, before, after: grads[operand]!});
    });
  }
  return steps;
}

// --- what became of it --------------------------------------------------------------------------------------------------

/** What never reached a leaf, because a node on the way was visited before all that use it had pushed. */
export type Loss = {node: number; users: number[]; held: number | null; leaf: number; path: number[]; amount: number};

export type Judged = {
  /** By the result: do all leaves hold what they should? */
  right: boolean;
  /** By the order: did every node come after all that use it? */
  topological: boolean;
  lost: Loss[];
  /** How many nodes were visited too early, to some leaf's harm or not. */
  early: number;
  /** Who was visited while others were to push to it yet, in order. */
  waiting: {node: number; users: number[]}[];
  grads: (number | null)[];
  expected: (number | null)[];
};

export function judge(graph: Graph, steps: readonly Step[]): Judged {
  const visits = steps.filter((step) => step.kind === "visit");
  const late = tooLate(graph, steps);
  const grads = gradients(graph, steps);
  const right = linear(graph, graph.root, 1);
  const expected = late.size ? graph.nodes.map((node) => right.get(node.id) ?? null) : grads;
  const sizes = linear(graph, graph.root, 1, Math.abs);
  const leaves = graph.nodes.filter((node) => node.leaf);
  return {
    right: !late.size || leaves.every(({id}) => close(grads[id] ?? 0, expected[id] ?? 0, sizes.get(id) ?? 0)),
    topological: isTopological(graph, visits.map((visit) => visit.node)),
    lost: losses(graph, visits, late),
    early: late.size,
    waiting: visits.filter((visit) => visit.waiting.length).map((visit) => ({node: visit.node, users: visit.waiting})),
    grads,
    expected,
  };
}

/** What came to a node after its visit, and from whom; the last to come first, as the sum is made in Python. */
function tooLate(graph: Graph, steps: readonly Step[]): Map<number, {amount: number; users: number[]}> {
  const late = new Map<number, {amount: number; users: number[]}>();
  const visited = new Set<number>();
  for (const step of [...steps].reverse()) {
    if (step.kind === "visit") visited.add(step.node);
    if (step.kind !== "push" || !graph.nodes[step.operand]!.operands.length || visited.has(step.operand)) continue;
    const known = late.get(step.operand) ?? {amount: 0, users: []};
    known.amount += num(step.contribution);
    if (!known.users.includes(step.node)) known.users.push(step.node);
    late.set(step.operand, known);
  }
  return late;
}

function gradients(graph: Graph, steps: readonly Step[]): (number | null)[] {
  const grads: (number | null)[] = graph.nodes.map(() => null);
  for (const step of steps) {
    if (step.kind === "seed") grads[step.node] = num(step.gradient);
    if (step.kind === "push") grads[step.operand] = num(step.after);
  }
  return grads;
}

function losses(graph: Graph, visits: Visit[], late: Map<number, {amount: number; users: number[]}>): Loss[] {
  const turn = new Map(visits.map((visit, i) => [visit.node, i]));
  const held = new Map(visits.map((visit) => [visit.node, maybe(visit.gradient)]));
  return [...late.keys()]
    .sort((a, b) => turn.get(a)! - turn.get(b)!)
    .flatMap((node) => {
      const {amount, users} = late.get(node)!;
      const reached = linear(graph, node, amount);
      const ways = [...strongest(graph, node)].sort(([a], [b]) => a - b);
      return ways
        .filter(([leaf]) => reached.get(leaf) !== 0)
        .map(([leaf, path]) => ({node, users: [...users].reverse(), held: held.get(node)!, leaf, path, amount: reached.get(leaf)!}));
    });
}

/** What an amount at a node becomes at every node below it. */
function linear(graph: Graph, start: number, amount: number, as: (x: number) => number = (x) => x): Map<number, number> {
  const reached = new Map([[start, as(amount)]]);
  for (const node of [...graph.nodes].reverse()) {
    const here = reached.get(node.id);
    if (here === undefined) continue;
    node.operands.forEach((operand, i) => {
      const slope = maybe(node.slopes[i]!);
      if (slope !== null) reached.set(operand, (reached.get(operand) ?? 0) + as(slope) * here);
    });
  }
  return reached;
}

/** The strongest way from a node to each leaf below it. */
function strongest(graph: Graph, start: number): Map<number, number[]> {
  const strength = new Map([[start, 1]]);
  const cameFrom = new Map([[start, start]]);
  for (const node of [...graph.nodes].reverse()) {
    const reach = strength.get(node.id);
    if (reach === undefined) continue;
    node.operands.forEach((operand, i) => {
      const slope = maybe(node.slopes[i]!);
      if (slope === null) return;
      const here = Math.abs(slope) * reach;
      const known = strength.get(operand);
      if (known !== undefined && here <= known) return;
      strength.set(operand, here);
      cameFrom.set(operand, node.id);
    });
  }
  const found = new Map<number, number[]>();
  for (const leaf of strength.keys()) {
    if (!graph.nodes[leaf]!.leaf) continue;
    const path = [leaf];
    while (path[0] !== start) path.unshift(cameFrom.get(path[0]!)!);
    found.set(leaf, path);
  }
  return found;
}

function isTopological(graph: Graph, order: number[]): boolean {
  const turn = new Map(order.map((id, i) => [id, i]));
  const users = consumers(graph);
  const complete = graph.nodes.every((node) => !node.operands.length || turn.has(node.id));
  return complete && order.every((id) => users[id]!.every((user) => turn.get(user)! < turn.get(id)!));
}

function close(got: number, right: number, size: number): boolean {
  if (!Number.isFinite(got) || !Number.isFinite(right)) return Object.is(got, right);
  return Math.abs(got - right) <= 1e-9 * size;
}
