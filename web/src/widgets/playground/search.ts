/** The depth-first search that finds an order, as steps; constants, which have no card, are left out. */
import {playground as words} from "../../strings/en/playground.ts";
import {edgeId} from "../../graph/model.ts";
import {clean} from "../../text/names.ts";
import type {Rich} from "../../text/rich.ts";
import type {Graph, SearchEvent} from "../../python/schema.ts";
import {computed, type GraphState} from "../../graph/state.ts";

export type Searched = {text: Rich; node: number | null; edge: string | null; path: number[]; written: number[]};

export function searchOf(graph: Graph, events: readonly SearchEvent[]): Searched[] {
  const name = (id: number) => clean(graph.nodes[id]!.name);
  const steps: Searched[] = [{text: words.searchStart, node: null, edge: null, path: [], written: []}];
  for (const event of events) {
    const node = graph.nodes[event.node]!;
    if (node.constant) continue;
    const {path, written} = steps.at(-1)!;
    const leaf = !node.operands.length;
    if (event.kind === "enter") {
      const text = event.by === null ? words.begin(name(node.id)) : words.enter(name(event.by), name(node.id), leaf);
      steps.push({text, node: node.id, edge: edgeTo(graph, event.by, node.id, 0), path: [...path, node.id], written});
    } else if (event.kind === "already_visited") {
      steps.push({text: words.already(name(event.by!), name(node.id)), node: node.id, edge: edgeTo(graph, event.by, node.id, -1), path, written});
    } else {
      steps.push({text: words.leave(name(node.id), leaf, written.length + 1), node: node.id, edge: null, path: path.slice(0, -1), written: [...written, node.id]});
    }
  }
  return steps;
}

/** The use of `node` by `by`: the first, or the last where it has been looked at before. */
function edgeTo(graph: Graph, by: number | null, node: number, which: 0 | -1): string | null {
  if (by === null) return null;
  const places = graph.nodes[by]!.operands.flatMap((operand, position) => (operand === node ? [position] : []));
  return edgeId(by, places.at(which)!);
}

export function searchState(graph: Graph, {node, edge, path, written}: Searched): GraphState {
  const state = computed(graph);
  state.visiting = node;
  for (let i = 1; i < path.length; i++) {
    const id = edgeTo(graph, path[i - 1]!, path[i]!, 0)!;
    state.edges.set(id, {look: "walked", note: ""});
  }
  if (edge) state.edges.set(edge, {look: "play", note: ""});
  written.forEach((id, i) => {
    state.visited.add(id);
    state.badges.set(id, {text: String(i + 1), bad: false});
  });
  return state;
}
