/** What a graph is called, and what it computes, in the bar above its picture. */
import {clean, written} from "../text/names.ts";
import type {Filled} from "../graph/heat.ts";
import type {Graph} from "../python/schema.ts";
import {elsewhere as words} from "../strings/en/elsewhere.ts";

export const rootName = (graph: Graph<Filled>): string => clean(graph.nodes[graph.root]!.name);

const MOST = 8; // lines that a bar has room for

/** The graph as a program, line by line: `e = a × b`, `d = e + c`. */
export function programOf(graph: Graph<Filled>): string {
  const lines = graph.nodes
    .filter((node) => node.operands.length)
    .map((node) => `${clean(node.name)} = ${written(node.op, node.operands.map((id) => clean(graph.nodes[id]!.name)))}`);
  const shown = lines.length > MOST ? [...lines.slice(0, MOST - 1), words.andMore(lines.length - MOST + 1)] : lines;
  return shown.join("   ");
}
