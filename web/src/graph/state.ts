/** What stands in the graph after some steps of a walk. */
import {edgeId} from "./model.ts";
import {held, maybeHeld, type Filled, type Held} from "./heat.ts";
import type {Graph, Num} from "../python/schema.ts";
import type {Step} from "./walk.ts";

export type EdgeLook = "idle" | "carried" | "walked" | "play" | "lost";

export type EdgeState = {look: EdgeLook; /** What its label says, where that is not the local derivative. */ note?: string; late?: boolean};

/** `V` is what its slots hold: numbers, or of tensors heat maps too. */
export type GraphState<V extends Held = number> = {
  /** By the node's id; null where nothing has arrived. */
  data: (V | null)[];
  grads: (V | null)[];
  /** By `edgeId`. Those that are not here are idle, or carried where the node they lead to has data. */
  edges: Map<string, EdgeState>;
  visiting: number | null;
  visited: Set<number>;
  /** The slot that this step fills, and what stood there before. */
  hit: {node: number; slot: "data" | "grad"; before: V | null} | null;
  /** Small numbers on the cards: places in an order. */
  badges: Map<number, {text: string; bad: boolean}>;
  /** What should stand in a slot, where something else does. */
  beside: Map<number, {slot: "data" | "grad"; text: string}>;
};

/** What a walk's numbers become in a slot. */
type Slotted<N> = N extends Num ? number : N;

export function blank<N extends Filled = Num>(graph: Graph<N>): GraphState<Slotted<N>> {
  return {
    data: graph.nodes.map((node) => (node.operands.length ? null : slotted(node.data))),
    grads: graph.nodes.map(() => null),
    edges: new Map(),
    visiting: null,
    visited: new Set(),
    hit: null,
    badges: new Map(),
    beside: new Map(),
  };
}

/** All data there, no gradient yet: how a graph stands before a walk back. */
export function computed(graph: Graph): GraphState {
  return {...blank(graph), data: graph.nodes.map((node) => slotted(node.data))};
}

export function stateAfter<N extends Filled = Num>(
  recording: {graph: Graph<N>; events: readonly Step<N>[]}, k: number, begin: GraphState<Slotted<N>> = blank(recording.graph),
): GraphState<Slotted<N>> {
  for (const event of recording.events.slice(0, k)) step(begin, event);
  return begin;
}

const slotted = <N extends Filled>(x: N): Slotted<N> => held(x) as Slotted<N>;
const maybeSlotted = <N extends Filled>(x: N | null): Slotted<N> | null => maybeHeld(x) as Slotted<N> | null;

function step<N extends Filled>(state: GraphState<Slotted<N>>, event: Step<N>): void {
  for (const edge of state.edges.values()) if (edge.look === "play") edge.look = "walked";
  state.hit = null;
  switch (event.kind) {
    case "compute":
      state.data[event.node] = slotted(event.value);
      state.hit = {node: event.node, slot: "data", before: null};
      break;
    case "seed":
      state.grads[event.node] = slotted(event.gradient);
      state.hit = {node: event.node, slot: "grad", before: null};
      break;
    case "visit":
      if (state.visiting !== null) state.visited.add(state.visiting);
      state.visiting = event.node;
      state.visited.delete(event.node);
      state.grads[event.node] = maybeSlotted(event.gradient);
      break;
    case "push":
      state.grads[event.operand] = slotted(event.after);
      state.edges.set(edgeId(event.node, event.position), {look: "play"});
      state.hit = {node: event.operand, slot: "grad", before: maybeSlotted(event.before)};
  }
}

export function lookOf(state: GraphState<Held>, id: string, to: number): EdgeLook {
  return state.edges.get(id)?.look ?? (state.data[to] === null ? "idle" : "carried");
}
