/** What a step of a walk over tensors says: which op, on which shapes, and what its way back does. */
import {graph as graphWords} from "../../strings/en/graph.ts";
import {stepper as words} from "../../strings/en/stepper.ts";
import {tensors as own} from "../../strings/en/tensors.ts";
import {held, isMap, shapeOf, shapeText, told, toldAsShape, type Filled, type Held} from "../../graph/heat.ts";
import {clean, written} from "../../text/names.ts";
import {code, dataName, gradName, spoken, type Rich} from "../../text/rich.ts";
import type {DrawnGraph} from "../../graph/model.ts";
import type {Compute, NodeInfo, Push, Recording, Seed, TensorRecording, Visit, WalkEvent} from "../../python/schema.ts";
import {placeAmong, sentenceOn, type Told} from "./tell.ts";

type Walk = TensorRecording<Filled>;

/** After `k` steps of a walk with `all`. */
export function tellTensors(recording: Walk, graph: DrawnGraph, k: number, all: number): Told {
  const event = recording.events[k - 1];
  const found = event ? about(event, recording, graph, k) : {...NOTHING, phase: words.ready.where, sentence: own.ready};
  const where = [found.phase, found.where].filter(Boolean).join(", ");
  return {...found, spoken: words.spokenStep(k, all, where, spoken(found.sentence), found.spoken)};
}

const NOTHING: Told = {phase: "", where: "", sentence: [], formula: null, change: null, spoken: ""};

function about(event: WalkEvent<Filled>, recording: Walk, graph: DrawnGraph, k: number): Told {
  switch (event.kind) {
    case "compute":
      return aboutCompute(event, recording, graph);
    case "seed":
      return aboutSeed(event, recording);
    case "visit":
      return aboutVisit(event, recording);
    case "push":
      return aboutPush(event, recording, graph, k);
  }
}

const nameOf = (recording: Walk, id: number): string => clean(recording.graph.nodes[id]!.name);

/** A node in a sentence: a constant by its number or shape, any other by its name. */
const quoted = (node: NodeInfo<Filled>): Rich => (node.constant ? [clean(node.name)] : [code(clean(node.name))]);

const inWords = (x: Held): string => (toldAsShape(x) ? own.ofShape(told(x)) : told(x));

/** A Value among tensors: its local derivatives are numbers. */
const isValue = (node: NodeInfo<Filled>): boolean => node.slopes.some((slope) => slope !== null);

const STRUCTURE = new Set([...Object.keys(own.back), "matmul"]);

/** What a screen reader hears of the numbers. */
const heard = (name: string, kind: "data" | "grad", x: Held): string => own.spoken(name, kind, isMap(x) ? graphWords.map(x) : told(x));

// --- forward ------------------------------------------------------------------------------------------------------------

function aboutCompute(event: Compute<Filled>, recording: Walk, graph: DrawnGraph): Told {
  const node = recording.graph.nodes[event.node]!;
  const name = clean(node.name);
  const value = held(event.value);
  const shapes = event.operand_values.map(shapeOf).filter((shape) => shape.length).map(shapeText);
  const distinct = [...new Set(shapes)];
  const marks = node.operands.map((_, i) => `\u0001${i}\u0002`);
  const from = written(node.op, marks).split(/(\u0001\d+\u0002)/).filter(Boolean)
    .flatMap((part): Rich => (part.startsWith("\u0001") ? quoted(recording.graph.nodes[node.operands[Number(part.slice(1, -1))]!]!) : [part]));
  const repeated = distinct.filter((shape) => shape !== shapeText(shapeOf(value))).sort();
  const byNumber = isMap(value) ? own.byNumber : "";
  const how = STRUCTURE.has(node.op) ? (distinct.length ? own.fromShapes(distinct) : "") : byNumber + (repeated.length ? own.repeated(repeated) : "");
  return {
    phase: words.phases.compute,
    where: "",
    sentence: isValue(node) ? sentenceOn(event as Compute, recording as unknown as Recording, graph) : [...own.computed(name, from), how + own.result(inWords(value))],
    formula: {
      kind: "line",
      parts: [dataName(`${name}.data`), toldAsShape(value) ? ": " : " = ", dataName(written(node.op, event.operand_values.map((x) => told(held(x))))), toldAsShape(value) ? " →" : " ="],
      result: {text: told(value), of: "data"},
    },
    change: null,
    spoken: heard(name, "data", value),
  };
}

// --- backward -----------------------------------------------------------------------------------------------------------

function aboutSeed(event: Seed<Filled>, recording: Walk): Told {
  const name = nameOf(recording, event.node);
  const value = held(event.gradient);
  return {
    phase: words.phases.seed,
    where: "",
    sentence: own.seeded(name, told(value)),
    formula: {kind: "line", parts: [gradName(`${name}.grad`), " = ", `∂${name}/∂${name}`, " ="], result: {text: told(value), of: "grad"}},
    change: null,
    spoken: heard(name, "grad", value),
  };
}

function aboutVisit(event: Visit<Filled>, recording: Walk): Told {
  const node = recording.graph.nodes[event.node]!;
  const name = clean(node.name);
  const grad = event.gradient === null ? null : held(event.gradient);
  const users = [...new Set(recording.events.flatMap((each) => (each.kind === "push" && each.operand === event.node ? [each.node] : [])))].sort((a, b) => a - b);
  const is = grad === null ? "" : own.gradIs(name, inWords(grad), toldAsShape(grad));
  const sentence =
    grad === null ? own.visitNothing(name)
    : !users.length ? own.visitRoot(name, is)
    : users.length === 1 ? own.visitOne(name, nameOf(recording, users[0]!), is)
    : own.visitAll(name, users.map((id) => nameOf(recording, id)), is);
  const hooked = event.arrived === null ? [] : [own.hooked(told(held(event.arrived)))];
  return {
    phase: words.phases.backward,
    where: words.visitingNode(name),
    sentence: [...sentence, ...hooked, ...(node.leaf ? [own.leaf] : [])],
    formula: grad === null ? null : {kind: "line", parts: [gradName(`${name}.grad`), toldAsShape(grad) ? ", " : " ="], result: {text: inWords(grad), of: "grad"}},
    change: null,
    spoken: "",
  };
}

function aboutPush(event: Push<Filled>, recording: Walk, graph: DrawnGraph, k: number): Told {
  const node = recording.graph.nodes[event.node]!;
  const [from, to] = [clean(node.name), nameOf(recording, event.operand)];
  const [share, after] = [held(event.contribution), held(event.after)];
  const named: Rich = [gradName(`${to}.grad`), " += ", gradName(`${from}.grad`), own.through(node.op)];
  return {
    phase: words.phases.backward,
    where: words.pushOf(from, ...placeAmong(recording, k)),
    sentence: isValue(node) ? sentenceOn(event as Push, recording as unknown as Recording, graph) : [...rule(event, node, recording), whatWasThere(event, to)],
    formula: {kind: "line", parts: named, result: isMap(share) ? null : {text: told(share), of: "grad"}},
    change: null,
    pushed: isMap(share) ? share : undefined,
    spoken: heard(to, "grad", after),
  };
}

/** What the way back of an op does for one operand. */
function rule(event: Push<Filled>, node: NodeInfo<Filled>, recording: Walk): Rich {
  const operand = recording.graph.nodes[event.operand]!;
  const g: Rich = [own.upstream(clean(node.name), inWords(held(event.upstream)))];
  const to = quoted(operand);
  const back = own.back[node.op];
  if (back) return [...back(g, to), "."];
  const [was, is] = [shapeText(shapeOf(operand.data)), shapeText(shapeOf(node.data))];
  const summed = was === is ? "" : own.summed(was, is);
  if (node.op === "+" || (node.op === "-" && event.position === 0)) return own.copies(node.op.replace("-", "−"), g, to, summed);
  if (node.op === "-") return own.turns(g, to, summed);
  if (node.op === "*" && node.operands.length === 2) return own.swaps(g, to, quoted(recording.graph.nodes[node.operands[1 - event.position]!]!), summed);
  return own.slope(node.op, g, to, summed);
}

function whatWasThere(event: Push<Filled>, to: string): string {
  const after = held(event.after);
  if (event.before === null) return toldAsShape(after) ? own.firstShape(to, told(after)) : own.first(to, told(after));
  return toldAsShape(after) ? own.addedShape(to) : own.added(to, told(held(event.before)), told(held(event.contribution)), told(after));
}
