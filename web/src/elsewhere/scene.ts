/** What Python hands over for a picture: a recording, and where its cards stand. No layout is made here. */
import type {Layout} from "../graph/spots.ts";
import {drawn} from "../graph/model.ts";
import {clean, written} from "../graph/names.ts";
import type {Scene} from "../graph/presets.ts";
import type {Graph, Recording} from "../graph/schema.ts";
import {elsewhere as words} from "../strings/en/elsewhere.ts";

export type Given = {recording: Recording; layout: Layout};

export const sceneFrom = ({recording, layout}: Given): Scene => ({recording, graph: drawn(recording.graph), layout});

export const rootName = (graph: Graph): string => clean(graph.nodes[graph.root]!.name);

const MOST = 8; // lines that a bar has room for

/** The graph as a program, line by line: `e = a × b`, `d = e + c`. */
export function programOf(graph: Graph): string {
  const lines = graph.nodes
    .filter((node) => node.operands.length)
    .map((node) => `${clean(node.name)} = ${written(node.op, node.operands.map((id) => clean(graph.nodes[id]!.name)))}`);
  const shown = lines.length > MOST ? [...lines.slice(0, MOST - 1), words.andMore(lines.length - MOST + 1)] : lines;
  return shown.join("   ");
}
