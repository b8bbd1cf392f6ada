/** What stands in the graph after some steps of a walk. */
import {edgeId} from "./model.ts";
import {maybe, num} from "../text/numbers.ts";
import type {Graph} from "../python/schema.ts";
import type {Step} from "./walk.ts";

export type EdgeLook = "idle" | "carried" | "walked" | "play" | "lost";

export type EdgeState = {look: EdgeLook; /** What its label says, where that is not the local derivative. */ note?: string; late?: boolean};

export type GraphState = {
  /** By the node's id; null where nothing has arrived. */
  data: (number | null)[];
  grads: (number | null)[];
  /** By `edgeId`. Those that are not here are idle, or carried where the node they lead to has data. */
  edges: Map<string, EdgeState>;
  visiting: number | null;
  visited: Set<number>;
  /** The slot that this step fills, and what stood there before. */
  hit: {node: number; slot: "data" | "grad"; before: number | null} | null;
  /** Small numbers on the cards: places in an order. */
  badges: Map<number, {text: string; bad: boolean}>;
  /** What should stand in a slot, where something else does. */
  beside: Map<number, {slot: "data" | "grad"; text: string}>;
};

export function blank(graph: Graph): GraphState {
  return {
    data: graph.nodes.map((node) => (node.operands.length ? null : num(node.data))),
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
  return {...blank(graph), data: graph.nodes.map((node) => num(node.data))};
}

export function stateAfter(recording: {graph: Graph; events: readonly Step[]}, k: number, begin = blank(recording.graph)): GraphState {
  for (const event of recording.events.slice(0, k)) step(begin, event);
  return begin;
}

function step(state: GraphState, event: Step): void {
  for (const edge of state.edges.values()) if (edge.look === "play") edge.look = "walked";
  state.hit = null;
  switch (event.kind) {
    case "compute":
      state.data[event.node] = num(event.value);
      state.hit = {node: event.node, slot: "data", before: null};
      break;
    case "seed":
      state.grads[event.node] = num(event.gradient);
      state.hit = {node: event.node, slot: "grad", before: null};
      break;
    case "visit":
      if (state.visiting !== null) state.visited.add(state.visiting);
      state.visiting = event.node;
      state.visited.delete(event.node);
      state.grads[event.node] = maybe(event.gradient);
      break;
    case "push":
      state.grads[event.operand] = num(event.after);
      state.edges.set(edgeId(event.node, event.position), {look: "play"});
      state.hit = {node: event.operand, slot: "grad", before: maybe(event.before)};
  }
}

export function lookOf(state: GraphState, id: string, to: number): EdgeLook {
  return state.edges.get(id)?.look ?? (state.data[to] === null ? "idle" : "carried");
}
