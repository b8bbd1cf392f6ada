/** A recorded graph as it is drawn: constants go into the sign of the op that uses them, uses become edges. */
import {maybe, num, readable} from "../text/numbers.ts";
import type {Graph, NodeInfo} from "../python/schema.ts";

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
};

/** One use of a node by another. Of several between the same two, `twin` says which this is. */
export type DrawnEdge = {id: string; from: number; to: number; position: number; twin: number; twins: number; slope: number | null};

export type DrawnGraph = {nodes: DrawnNode[]; edges: DrawnEdge[]; root: number; byId: Map<number, DrawnNode>};

export const edgeId = (to: number, position: number): string => `${to}:${position}`;

export function drawn(graph: Graph): DrawnGraph {
  const shown = graph.nodes.filter((node) => !node.constant);
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

function edgesOf(node: NodeInfo, all: NodeInfo[]): DrawnEdge[] {
  const uses = node.operands.map((from, position) => ({from, position})).filter(({from}) => !all[from]!.constant);
  return uses.map(({from, position}) => {
    const same = uses.filter((use) => use.from === from);
    const twin = same.findIndex((use) => use.position === position);
    return {id: edgeId(node.id, position), from, to: node.id, position, twin, twins: same.length, slope: maybe(node.slopes[position]!)};
  });
}

function rule(node: NodeInfo): DrawnNode["rule"] {
  if (node.handmade || node.operands.length !== 2) return "other";
  return node.op === "+" ? "plus" : node.op === "*" ? "times" : "other";
}

// --- signs ------------------------------------------------------------------------------------------------------------

const INFIX: Record<string, string> = {"+": "+", "*": "×", "-": "−", "/": "÷"};
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LONGEST = 12;

/** What the op's circle says: `+`, `× 3`, `1 −`, `x²`, `tanh`, `max(·, 0)`. */
export function sign(node: NodeInfo, all: NodeInfo[]): string {
  const parts = node.operands.map((id) => (all[id]!.constant ? readable(num(all[id]!.data)) : ""));
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
