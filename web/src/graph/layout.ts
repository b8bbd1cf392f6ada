/** Where the cards of a graph stand, in ranks (along the walk) and tracks (across it); pixels come later.

Ranks are whole numbers, leaves first. A track is as wide as a card and the gap beside it. One layout serves left to
right and top to bottom, and every width of the page. Loads d3-dag: import it lazily.
*/
import {coordGreedy, coordSimplex, decrossTwoLayer, graph as dag, layeringSimplex, sugiyama, type MutGraphNode, type SugiNode} from "d3-dag";
import type {DrawnEdge, DrawnGraph} from "./model.ts";
import {between, type Layout, type Spot} from "./spots.ts";

export type {Layout, Spot} from "./spots.ts";

const CARD = 0.8; // of a track; the rest is the gap
const GAP = 0.2;
const LARGE = 60; // from so many nodes on, quick beats neat

export function layOut(graph: DrawnGraph): Layout {
  const net = dag<number, number>();
  const nodes = new Map<number, MutGraphNode<number, number>>(graph.nodes.map(({id}) => [id, net.node(id)]));
  const reading = readingOrder(graph);
  for (const edge of graph.edges) {
    if (edge.twin === 0) net.link(nodes.get(edge.from)!, nodes.get(edge.to)!, reading.edges.get(edge.id)!);
  }
  const large = graph.nodes.length > LARGE;
  const layers: SugiNode<number, number>[][] = [];
  const arrange = sugiyama()
    .layering(layeringSimplex())
    .decross((found: SugiNode<number, number>[][]) => {
      order(found, reading.nodes, large);
      layers.push(...found);
    })
    .coord(large ? coordGreedy() : coordSimplex())
    .nodeSize(() => [CARD, 1] as const)
    .gap([GAP, 0]);
  arrange(net);
  const tracks = new Map(layers.flat().map((node) => [node, node.x]));
  if (!large) for (const layer of layers) centre(layer, tracks);
  return collect(layers, tracks);
}

// --- the order within a rank ------------------------------------------------------------------------------------------

/** When a reader who goes from the root through the operands, first to last, comes to each node and edge. */
function readingOrder(graph: DrawnGraph): {nodes: Map<number, number>; edges: Map<string, number>} {
  const into = new Map<number, DrawnEdge[]>();
  for (const edge of graph.edges) into.set(edge.to, [...(into.get(edge.to) ?? []), edge]);
  const nodes = new Map([[graph.root, 0]]);
  const edges = new Map<string, number>();
  const ahead = [...(into.get(graph.root) ?? [])].reverse();
  let count = 1;
  for (let edge = ahead.pop(); edge; edge = ahead.pop()) {
    edges.set(edge.id, count);
    if (!nodes.has(edge.from)) {
      nodes.set(edge.from, count);
      ahead.push(...[...(into.get(edge.from) ?? [])].reverse());
    }
    count++;
  }
  return {nodes, edges};
}

/** As it is read, unless another order has fewer crossings. */
function order(layers: SugiNode<number, number>[][], reading: Map<number, number>, large: boolean): void {
  const place = ({data}: SugiNode<number, number>) => (data.role === "node" ? reading.get(data.node.data)! : data.link.data);
  for (const layer of layers) layer.sort((a, b) => place(a) - place(b));
  const asRead = layers.map((layer) => [...layer]);
  const before = crossings(layers);
  if (before === 0) return;
  decrossTwoLayer().passes(large ? 4 : 24)(layers);
  if (crossings(layers) >= before) layers.forEach((layer, i) => layer.splice(0, layer.length, ...asRead[i]!));
}

function crossings(layers: SugiNode<number, number>[][]): number {
  let count = 0;
  for (const layer of layers.slice(1)) {
    const above = layers[layers.indexOf(layer) - 1]!;
    const ends = layer.flatMap((node, to) => [...node.parents()].map((parent) => [above.indexOf(parent), to] as const));
    for (const [a, b] of ends) for (const [c, d] of ends) if (a < c && b > d) count++;
  }
  return count;
}

// --- each node in the middle of its operands ----------------------------------------------------------------------------

/** Give each node of a rank the mean track of its operands, as nearly as the order and the distances allow. */
function centre(layer: SugiNode<number, number>[], tracks: Map<SugiNode<number, number>, number>): void {
  const apart: number[] = [0];
  layer.slice(1).forEach((node, i) => apart.push(apart[i]! + half(layer[i]!) + half(node) + GAP));
  const wanted = layer.map((node, i) => {
    const operands = [...node.parents()].map((parent) => tracks.get(parent)!);
    const mean = operands.length ? operands.reduce((a, b) => a + b, 0) / operands.length : tracks.get(node)!;
    return mean - apart[i]!;
  });
  nondecreasing(wanted).forEach((track, i) => tracks.set(layer[i]!, track + apart[i]!));
}

const half = ({data}: SugiNode<number, number>): number => (data.role === "node" ? CARD / 2 : 0);

/** The sequence that never falls and is nearest to this one: neighbours that fall are replaced by their mean. */
function nondecreasing(wanted: number[]): number[] {
  const blocks: {sum: number; count: number}[] = [];
  for (const x of wanted) {
    blocks.push({sum: x, count: 1});
    for (let last = blocks.length - 1; last > 0 && mean(blocks[last - 1]!) > mean(blocks[last]!); last--) {
      const {sum, count} = blocks.pop()!;
      blocks[last - 1]!.sum += sum;
      blocks[last - 1]!.count += count;
    }
  }
  return blocks.flatMap((block) => Array<number>(block.count).fill(mean(block)));
}

const mean = ({sum, count}: {sum: number; count: number}): number => sum / count;

// --- the result ---------------------------------------------------------------------------------------------------------

function collect(layers: SugiNode<number, number>[][], tracks: Map<SugiNode<number, number>, number>): Layout {
  const first = Math.min(...tracks.values());
  const spots: Layout["spots"] = {};
  const bends: Layout["bends"] = {};
  layers.forEach((layer, rank) => {
    for (const node of layer) {
      const spot: Spot = [rank, Math.round((tracks.get(node)! - first) * 1000) / 1000];
      if (node.data.role === "node") spots[node.data.node.data] = spot;
      else (bends[between(node.data.link.source.data, node.data.link.target.data)] ??= []).push(spot);
    }
  });
  return {spots, bends};
}
