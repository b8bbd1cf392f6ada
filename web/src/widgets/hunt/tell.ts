/** What a step of a watched engine shows and says: its numbers, and the line of its source that wrote them. */
import {hunt as words} from "../../strings/en/hunt.ts";
import {edgeId} from "../../graph/model.ts";
import {clean} from "../../text/names.ts";
import {maybe, num, readable} from "../../text/numbers.ts";
import {dataName, gradName, spoken} from "../../text/rich.ts";
import type {Graph} from "../../python/schema.ts";
import {blank, type GraphState} from "../../graph/state.ts";
import {shown, type Told} from "../stepper/tell.ts";
import type {HuntEvent, Seen} from "./material.ts";

/** What stands in the graph after `k` steps; at the end with the right numbers beside the wrong ones. */
export function stateAfter({graph, events, wrong}: Seen & {graph: Graph}, k: number): GraphState {
  const state = blank(graph);
  for (const event of events.slice(0, k)) step(state, event);
  if (k === events.length) for (const {node, slot, right} of wrong) state.beside.set(node, {slot, text: words.right(readable(right))});
  return state;
}

function step(state: GraphState, event: HuntEvent): void {
  for (const edge of state.edges.values()) if (edge.look === "play") edge.look = "walked";
  state.hit = null;
  const before = maybe(event.before);
  const [after, target] = [event.after === null ? null : num(event.after), event.operand ?? event.node];
  if (event.kind === "visit") {
    if (state.visiting !== null) state.visited.add(state.visiting);
    state.visiting = event.node;
    state.visited.delete(event.node);
    return;
  }
  (event.slot === "data" ? state.data : state.grads)[target] = after;
  state.hit = {node: target, slot: event.slot, before};
  if (event.kind !== "push") return;
  const change = after! - (before ?? 0);
  state.edges.set(edgeId(event.node, event.position!), {look: "play", note: `${change < 0 ? "−" : "+"} ${readable(Math.abs(change))}`});
}

export function tell({graph, events, wrong}: Seen & {graph: Graph}, k: number, lines: string[]): Told {
  const event = events[k - 1];
  if (!event) return {phase: words.phases.ready!, where: "", sentence: words.ready, formula: null, change: null, spoken: spoken(words.ready)};
  const name = clean(graph.nodes[event.operand ?? event.node]!.name);
  const {sentence, where} = about(event, graph, lines);
  const slot = `${name}.${event.slot}`;
  const [before, after] = [maybe(event.before), event.after === null ? null : num(event.after)];
  const numbers = after === null ? "" : words.spokenNumbers(slot, before === null ? null : readable(before), readable(after));
  const last = k === events.length ? ` ${wrong.length ? words.end(wrong.length) : words.endRight}` : "";
  const mark = event.slot === "data" ? dataName : gradName;
  return {
    phase: words.phases[event.kind]!,
    where,
    sentence: last ? [...sentence, last] : sentence,
    formula: after === null ? null : {kind: "line", parts: [mark(slot), before === null ? " =" : `${words.was}${readable(before)}${words.is}`], result: {text: readable(after), of: event.slot}},
    change: after === null ? null : {name: slot, of: event.slot, before: before === null ? null : shown(before), after: shown(after)},
    spoken: `${spoken(sentence)} ${numbers}${last}`,
  };
}

function about(event: HuntEvent, graph: Graph, lines: string[]) {
  const name = clean(graph.nodes[event.node]!.name);
  const text = event.line === null ? "" : (lines[event.line - 1] ?? "").trim();
  switch (event.kind) {
    case "compute":
      return {where: "", sentence: words.computes(name)};
    case "seed":
      return {where: "", sentence: words.seeds(name)};
    case "visit":
      return {where: name, sentence: words.turn(name, event.upstream === null ? null : readable(num(event.upstream)))};
    default:
      return {where: event.kind === "push" ? name : "", sentence: words.writes(event.line, text)};
  }
}
