/** What a step says: where we are, a sentence, a formula with its numbers, what stood there before and stands there now. */
import {stepper as words} from "../../strings/en/stepper.ts";
import type {DrawnGraph} from "../../graph/model.ts";
import {clean, written} from "../../text/names.ts";
import {addingUp, exact, maybe, num, readable} from "../../text/numbers.ts";
import {code, dataName, gradName, spoken, type Rich} from "../../text/rich.ts";
import type {Compute, HeatMap, NodeInfo, Push, Recording, Seed, Visit, WalkEvent} from "../../python/schema.ts";

export type Formula =
  | {kind: "line"; parts: Rich; result: {text: string; of: "data" | "grad"} | null}
  | {kind: "push"; to: string; from: string; share: string; upstream: string; local: string; source: Rich};

/** A number as it is written, and with every digit. */
export type Shown = {text: string; exact: string};
export type Change = {name: string; of: "data" | "grad"; before: Shown | null; after: Shown};

export const shown = (x: number, text = readable(x)): Shown => ({text, exact: exact(x)});

export type Told = {phase: string; where: string; sentence: Rich; formula: Formula | null; change: Change | null; spoken: string; /** Of tensors: what is pushed. */ pushed?: HeatMap};

/** After `k` steps of a walk with `all`. */
export function tell(recording: Recording, graph: DrawnGraph, k: number, all: number): Told {
  const event = recording.events[k - 1];
  const told = event ? about(event, recording, graph, k) : beginning(recording);
  const where = [told.phase, told.where].filter(Boolean).join(", ");
  return {...told, spoken: words.spokenStep(k, all, where, spoken(told.sentence), told.spoken)};
}

function beginning(recording: Recording): Told {
  const alone = recording.graph.nodes.every((node) => !node.operands.length);
  return {phase: words.ready.where, where: "", sentence: alone ? words.ready.nothing : words.ready.sentence, formula: null, change: null, spoken: ""};
}

function about(event: WalkEvent, recording: Recording, graph: DrawnGraph, k: number): Told {
  switch (event.kind) {
    case "compute":
      return aboutCompute(event, recording);
    case "seed":
      return aboutSeed(event, recording);
    case "visit":
      return aboutVisit(event, recording, k);
    case "push":
      return aboutPush(event, recording, graph, k);
  }
}

const nameOf = (recording: Recording, id: number): string => clean(recording.graph.nodes[id]!.name);

/** Of a step at a Value that stands among tensors: the sentence, as in a graph of Values. */
export const sentenceOn = (event: Compute | Push, recording: Recording, graph: DrawnGraph): Rich =>
  (event.kind === "compute" ? aboutCompute(event, recording) : aboutPush(event, recording, graph, 1)).sentence;

// --- forward ------------------------------------------------------------------------------------------------------------

function aboutCompute(event: Compute, recording: Recording): Told {
  const node = recording.graph.nodes[event.node]!;
  const name = clean(node.name);
  const value = num(event.value);
  const numbers = event.operand_values.map((x) => readable(num(x)));
  const moved = event.recomputed !== null;
  return {
    phase: words.phases.compute,
    where: "",
    sentence: moved ? words.moved(name, inNames(node, recording), readable(value), readable(num(event.recomputed!))) : words.computed(name, inNames(node, recording), event.operands.length),
    formula: {
      kind: "line",
      parts: [dataName(`${name}.data`), ...(moved ? [] : [" = ", dataName(written(node.op, numbers))]), " ="],
      result: {text: readable(value), of: "data"},
    },
    change: {name: `${name}.data`, of: "data", before: null, after: shown(value)},
    spoken: words.spokenCompute(name, readable(value)),
  };
}

/** `a × b` with each name as code. */
function inNames(node: NodeInfo, recording: Recording): Rich {
  const marks = node.operands.map((_, i) => `\u0001${i}\u0002`);
  return written(node.op, marks)
    .split(/(\u0001\d+\u0002)/)
    .filter(Boolean)
    .map((part) => {
      const place = /^\u0001(\d+)\u0002$/.exec(part);
      if (!place) return part;
      const operand = recording.graph.nodes[node.operands[Number(place[1])]!]!;
      return operand.constant ? clean(operand.name) : code(clean(operand.name));
    });
}

// --- backward -----------------------------------------------------------------------------------------------------------

function aboutSeed(event: Seed, recording: Recording): Told {
  const name = nameOf(recording, event.node);
  const value = num(event.gradient);
  return {
    phase: words.phases.seed,
    where: "",
    sentence: value === 1 ? words.seeded(name) : words.seededWith(name, readable(value)),
    formula: {kind: "line", parts: [gradName(`${name}.grad`), " = ", `∂${name}/∂${name}`, " ="], result: {text: readable(value), of: "grad"}},
    change: {name: `${name}.grad`, of: "grad", before: null, after: shown(value)},
    spoken: words.spokenSeed(name, readable(value)),
  };
}

function aboutVisit(event: Visit, recording: Recording, k: number): Told {
  const name = nameOf(recording, event.node);
  const rest = recording.events.slice(k);
  const end = rest.findIndex((next) => next.kind === "visit");
  const pushes = new Set(rest.slice(0, end < 0 ? undefined : end).map((next) => (next as Push).operand)).size;
  const usual = !event.waiting.length && event.turn === 1 && event.arrived === null && event.gradient !== null && pushes > 0;
  const grad = maybe(event.gradient);
  return {
    phase: words.phases.backward,
    where: words.visitingNode(name),
    sentence: !usual ? unusual(event, recording) : event.node === recording.graph.root ? words.visitRoot(name, pushes) : words.visit(name, pushes),
    formula: grad === null ? null : {kind: "line", parts: [gradName(`${name}.grad`), " ="], result: {text: readable(grad), of: "grad"}},
    change: null,
    spoken: "",
  };
}

/** A visit that comes again or too early, finds nothing, meets a hook, or has nowhere to push to. */
function unusual({node: id, gradient, waiting, turn, arrived}: Visit, recording: Recording): Rich {
  const {leaf} = recording.graph.nodes[id]!;
  const [name, grad] = [nameOf(recording, id), maybe(gradient)];
  const names = waiting.map((each) => nameOf(recording, each));
  const told =
    turn > 1 ? words.again(name, turn, leaf ? null : grad === null ? words.empty : readable(grad))
    : grad === null ? (names.length ? words.tooEarly(name, names, leaf) : words.nothingPushed(name))
    : names.length ? words.soFar(name, readable(grad), names)
    : id === recording.graph.root ? words.rootAlone(name)
    : words.allPushed(name);
  const before = maybe(arrived);
  return [...told, ...(before === null || grad === null ? [] : words.hooked(readable(before), readable(grad))), ...(leaf ? [words.leafPushes] : [])];
}

function aboutPush(event: Push, recording: Recording, graph: DrawnGraph, k: number): Told {
  const [node, operand] = [recording.graph.nodes[event.node]!, recording.graph.nodes[event.operand]!];
  const [from, to] = [clean(node.name), clean(operand.name)];
  const before = maybe(event.before);
  const after = num(event.after);
  const known = event.local !== null && !node.handmade;
  const part = num(event.contribution);
  const replaced = before !== null && after !== before + part;
  const write = before === null || replaced ? readable : addingUp([before, part], after);
  const had = before === null ? null : write(before);
  const {sentence, source} = known ? rule(event, node, recording, graph) : {sentence: words.ownBackward(from, readable(num(event.upstream)), readable(part), to), source: []};
  const more = replaced ? words.replaces(to, had!, write(after)) : before === null ? [] : words.adds(to, had!);
  const numbers = {upstream: write(num(event.upstream)), local: event.local === null ? "?" : write(num(event.local)), share: write(part)};
  return {
    phase: words.phases.backward,
    where: words.pushOf(from, ...placeAmong(recording, k)),
    sentence: [...sentence, ...more],
    formula: {kind: "push", to, from, ...numbers, source},
    change: {name: `${to}.grad`, of: "grad", before: before === null ? null : shown(before, had!), after: shown(after, write(after))},
    spoken: words.spokenPush(numbers.upstream, numbers.local, numbers.share, to, had, write(after)),
  };
}

/** Which of its node's pushes this is. */
export function placeAmong(recording: {events: readonly {kind: string}[]}, k: number): [number, number] {
  let first = k - 1;
  while (first > 0 && recording.events[first - 1]!.kind === "push") first--;
  let end = k;
  while (recording.events[end]?.kind === "push") end++;
  return [k - first, end - first];
}

/** The rule of the op in words, and where the number for its slope comes from. */
function rule(event: Push, node: NodeInfo, recording: Recording, graph: DrawnGraph): {sentence: Rich; source: Rich} {
  const drawn = graph.byId.get(node.id)!;
  const sign = {plus: "+", times: "×", other: drawn.op}[drawn.rule];
  const [from, to] = [clean(node.name), nameOf(recording, event.operand)];
  const local = num(event.local!);
  if (drawn.rule === "plus") return {sentence: words.plus(sign, to, from), source: [words.always1]};
  if (drawn.rule === "times") {
    const other = recording.graph.nodes[node.operands[1 - event.position]!]!;
    if (other.id === event.operand) return {sentence: words.square(sign, to, from), source: [dataName(`${to}.data`)]};
    const name = clean(other.name);
    return other.constant
      ? {sentence: words.times(sign, to, from, [name]), source: []}
      : {sentence: words.times(sign, to, from, [code(name)]), source: [dataName(`${name}.data`)]};
  }
  if (node.op === "neg" || (node.op === "-" && node.operands.length === 2)) {
    const turned = local < 0;
    return {sentence: words.minus("−", to, from, turned), source: [turned ? words.alwaysMinus1 : words.always1]};
  }
  const names = node.operands.map((id) => nameOf(recording, id));
  const text = words.slopes[node.op]?.(event.position, names, from) ?? "";
  return {sentence: words.slope(sign, text, local), source: text ? [text] : []};
}
