/** A recorded graph as it is drawn: constants go into the sign of the op that uses them, uses become edges. */
import {maybe, num, readable} from "../text/numbers.ts";
import type {Graph, NodeInfo, Num, TensorRecording} from "../python/schema.ts";
import {boxOf, isMap, shapeOf, shapeText, type Filled, type MapBox} from "./heat.ts";

export type DrawnNode = {
  id: number;
  name: string;
  /** Whether the name was made up, for a node that has no label. */
  nameless: boolean;
  /** What stands in the op's circle; empty for a leaf. */
  op: string;
  /** Whether its gradient is the rule of +, of × or of another op; the sentence of a push goes by it. */
  rule: "plus" | "times" | "other";
  leaf: boolean;
  /** Of a tensor of several numbers: how large its maps are. */
  map?: MapBox;
};

/** One use of a node by another. Of several between the same two, `twin` says which this is. Between tensors it says the shape of what
goes along it, and whether that is repeated ("fan") or made into few ("funnel"). */
export type DrawnEdge = {id: string; from: number; to: number; position: number; twin: number; twins: number; slope: number | null; shape?: string; spread?: string};

export type DrawnGraph = {nodes: DrawnNode[]; edges: DrawnEdge[]; root: number; byId: Map<number, DrawnNode>};

export const edgeId = (to: number, position: number): string => `${to}:${position}`;

/** A constant of a single number stands in the sign of its op; one of many numbers has a card of its own. */
const inSign = (node: NodeInfo<Filled>): boolean => node.constant && !isMap(node.data);

export function drawn(graph: Graph<Filled>): DrawnGraph {
  const shown = graph.nodes.filter((node) => !inSign(node));
  const nodes = shown.map((node) => ({
    id: node.id,
    name: node.name,
    nameless: node.label === "",
    op: node.operands.length ? sign(node, graph.nodes) : "",
    rule: rule(node),
    leaf: node.leaf,
  }));
  const edges = shown.flatMap((node) => edgesOf(node, graph.nodes));
  return {nodes, edges, root: graph.root, byId: new Map(nodes.map((node) => [node.id, node]))};
}

/** A graph of tensors: with the maps that its nodes ever hold, shapes on its edges, and signs where those spread. */
export function drawnTensors({graph, events}: TensorRecording<Filled>, spreads: Record<string, string>): DrawnGraph {
  const {nodes, edges, root} = drawn(graph);
  const maps = graph.nodes.map(({data}) => [data].filter(isMap));
  for (const event of events) {
    if (event.kind === "push" && isMap(event.after)) maps[event.operand]!.push(event.after);
    if ((event.kind === "visit" || event.kind === "seed") && isMap(event.gradient)) maps[event.node]!.push(event.gradient);
  }
  const all = nodes.map((node) => (maps[node.id]!.length ? {...node, map: boxOf(maps[node.id]!, graph.nodes[node.id]!.constant)} : node));
  const shaped = edges.map((edge) => ({...edge, shape: shapeText(shapeOf(graph.nodes[edge.from]!.data)), spread: spreads[edge.id]}));
  return {nodes: all, edges: shaped, root, byId: new Map(all.map((node) => [node.id, node]))};
}

function edgesOf(node: NodeInfo<Filled>, all: NodeInfo<Filled>[]): DrawnEdge[] {
  const uses = node.operands.map((from, position) => ({from, position})).filter(({from}) => !inSign(all[from]!));
  return uses.map(({from, position}) => {
    const same = uses.filter((use) => use.from === from);
    const twin = same.findIndex((use) => use.position === position);
    return {id: edgeId(node.id, position), from, to: node.id, position, twin, twins: same.length, slope: maybe(node.slopes[position]!)};
  });
}

function rule(node: NodeInfo<Filled>): DrawnNode["rule"] {
  if (node.handmade || node.operands.length !== 2) return "other";
  return node.op === "+" ? "plus" : node.op === "*" ? "times" : "other";
}

// --- signs ------------------------------------------------------------------------------------------------------------

const INFIX: Record<string, string> = {"+": "+", "*": "×", "-": "−", "/": "÷"};
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LONGEST = 12;

/** What the op's circle says: `+`, `× 3`, `1 −`, `x²`, `tanh`, `max(·, 0)`. */
export function sign(node: NodeInfo<Filled>, all: NodeInfo<Filled>[]): string {
  const parts = node.operands.map((id) => (inSign(all[id]!) ? readable(num(all[id]!.data as Num)) : ""));
  const infix = INFIX[node.op];
  if (node.op === "neg") return "−x";
  if (node.op.startsWith("**")) return power(node.op.slice(2), parts);
  if (infix && parts.length === 2) return [parts[0], infix, parts[1]].filter(Boolean).join(" ");
  const name = node.op.replace(/[^\x20-\x7e\u00a0-\uffff]/g, " ").trim() || "f";
  const full = parts.some(Boolean) ? `${name}(${parts.map((part) => part || "·").join(", ")})` : name;
  return full.length > LONGEST ? `${full.slice(0, LONGEST - 1)}…` : full;
}

function power(exponent: string, [base, raised]: string[]): string {
  if (exponent) return /^-?\d+$/.test(exponent) ? `x${[...exponent].map((c) => RAISED[Number(c)] ?? "⁻").join("")}` : `x^${exponent}`;
  return `${base || "x"}${raised ? `^${raised}` : "ʸ"}`;
}
