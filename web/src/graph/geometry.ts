/** From ranks and tracks to pixels, for a given width. What does not fit, scrolls.

From 840 pixels on the walk goes from left to right, and from 480 on if it fits; else from top to bottom, where below 600
the cards lose their captions. Before a picture scrolls, its cards and the gaps between them get smaller; from left to
right its cards then lose their captions too, and last of all it shrinks a little, as far as it is easily read.
What lies along the walk is called `along`, what lies across it `across`; at the very end they become x and y.
*/
import {mapSize, type MapBox} from "./heat.ts";
import type {DrawnEdge, DrawnGraph, DrawnNode} from "./model.ts";
import {readable} from "../text/numbers.ts";
import type {Layout} from "../python/schema.ts";

export type Point = readonly [x: number, y: number];
export type Box = {x: number; y: number; width: number; height: number};

export type Picture = {
  width: number;
  height: number;
  /** How large it is shown: 1, or a little less where it would scroll otherwise. */
  scale: number;
  leftToRight: boolean;
  /** Whether the rows of a card say "data" and "grad". */
  captions: boolean;
  /** Whether there is room for the numbers of heat maps. */
  written: boolean;
  cards: Map<number, Box>;
  ops: Map<number, Box>;
  edges: Map<string, PlacedEdge>;
};

export type PlacedEdge = {
  edge: DrawnEdge;
  /** From the node that uses to the one that is used: the way of a gradient. */
  path: string;
  /** The point of the arrow, for a gradient that arrived at the operand, and for data on its way to the op. */
  head: string;
  dataHead: string;
  /** The middle of the label that tells the local derivative. */
  chip: Point;
  /** Where the chip stands beside the line rather than on it. */
  beside: boolean;
  /** Other places on the line, for a chip with more to say. */
  spots: Point[];
  /** Where numbers are repeated, or many become few: strands that part before the op, or come together behind the card. */
  strands: string;
};

/** What a picture is made from, in pixels. */
export type Sizes = {card: number; height: number; head: number; row: number; round: number; stub: number; of(node: DrawnNode): {width: number; height: number}};

const WIDE = 840; // from here on always from left to right
const WIDE_IF_IT_FITS = 480;
const CAPTIONS = 600;
const MONO = 0.6; // of the font size: how wide a letter of the mono face is

export const sizesFor = (picture: Pick<Picture, "captions">): Pick<Sizes, "head" | "row" | "round"> =>
  picture.captions ? {head: 28, row: 23, round: 14} : {head: 21, row: 18, round: 11};

/** What stands on an edge: the local derivative, or between tensors the shape of what goes along it. */
export const chipText = ({slope, shape}: Pick<DrawnEdge, "slope" | "shape">): string => shape ?? (slope === null ? "" : `× ${readable(slope)}`);

export const chipWidth = (text: string, captions: boolean): number => text.length * (captions ? 13 : 12) * MONO + (captions ? 14 : 8);

export function opWidth(op: string, round: number): number {
  return op.length <= 1 ? 2 * round : Math.max(2 * round, Math.ceil(op.length * 7.4) + (round > 12 ? 16 : 12));
}

export type Options = {
  /** More room between ranks, for longer labels on the edges. */
  air?: number;
};

export function place(graph: DrawnGraph, layout: Layout, width: number, {air = 0}: Options = {}): Picture {
  const {grid, sizes, captions, written, leftToRight} = fitted(graph, layout, width, air);
  const scale = leftToRight && width >= WIDE && width >= grid.width * LEAST_SCALE ? Math.min(1, width / grid.width) : 1;
  const cards = new Map<number, Box>();
  const ops = new Map<number, Box>();
  for (const node of graph.nodes) {
    const [rank, track] = layout.spots[node.id]!;
    const size = sizes.of(node);
    const card: Box = leftToRight
      ? {x: grid.along[rank]!, y: grid.across(track) - size.height / 2, ...size}
      : {x: grid.across(track) - size.width / 2, y: grid.along[rank]!, ...size};
    cards.set(node.id, card);
    if (node.op) ops.set(node.id, opBox(node, card, sizes, leftToRight));
  }
  const boxes = {leftToRight, captions, cards, ops};
  const edges = withChips(graph.edges.map((edge) => drafted(edge, boxes, grid, layout)), boxes, grid.width);
  return {width: grid.width, height: grid.height, scale, written, ...boxes, edges};
}

type Fitted = {grid: Grid; sizes: Sizes; captions: boolean; written: boolean; leftToRight: boolean};

/** The direction that fits; of tensors first of all with their numbers. */
function fitted(graph: DrawnGraph, layout: Layout, width: number, air: number): Fitted {
  const fits = ({grid, leftToRight}: Fitted) => grid.width * hardly(leftToRight, width) <= width;
  const wide = width >= WIDE_IF_IT_FITS ? gridFor(graph, layout, width, true, air) : null;
  if (wide && fits(wide) && wide.written) return wide;
  const tall = gridFor(graph, layout, width, false, air);
  if (isOfMaps(graph)) return (tall.written && fits(tall)) || !wide || !fits(wide) ? tall : wide;
  return wide && width >= WIDE ? wide : tall;
}

function gridFor(graph: DrawnGraph, layout: Layout, width: number, leftToRight: boolean, air: number, captions = leftToRight || width >= CAPTIONS): Fitted {
  const span = Math.max(0, ...tracksOf(layout));
  const ranks = 1 + Math.max(...Object.values(layout.spots).map(([rank]) => rank));
  const sizes = {...sizesFor({captions}), height: captions ? 82 : 60, stub: leftToRight && !captions ? 6 : 9};
  const made = (card: number, written = true): Fitted => {
    const of = ({map, name}: DrawnNode) => (map ? mapCard(map, name, captions, written) : {width: card, height: sizes.height});
    const all = {...sizes, card, of};
    return {grid: leftToRight ? columns(graph, layout, ranks, span, all, width) : rows(graph, layout, ranks, span, all, width, air), sizes: all, captions, written, leftToRight};
  };
  if (isOfMaps(graph)) {
    const numbers = made(captions ? AMONG_MAPS : NARROW);
    return numbers.grid.width * hardly(leftToRight, width) <= width ? numbers : made(NARROW, false); // numbers go first where there is no room
  }
  if (leftToRight && !captions) return made(BARE);
  const roomy = made(cardWidth(graph, width, span, captions));
  if (!leftToRight || roomy.grid.width <= width) return roomy;
  const tight = made(Math.max(NARROW, Math.floor(roomy.sizes.card - (roomy.grid.width - width) / ranks)));
  if (tight.grid.width * HARDLY <= width || width < WIDE) return tight;
  const bare = gridFor(graph, layout, width, true, air, false);
  return bare.grid.width * LEAST_SCALE <= width ? bare : tight;
}

const AMONG_MAPS = 120; // pixels: a card of one number among tensors
const NARROW = 108; // pixels: a card from left to right that still holds a caption and four decimals
const BARE = 78; // … and one without a caption
const [HARDLY, LEAST_SCALE] = [0.95, 0.8]; // a picture that is shrunk so far looks the same; below the second, numbers are hard to read
const [GAP, LEAST_GAP, BARE_GAP] = [58, 46, 32]; // between ranks from left to right: at first, for narrow cards, for bare ones

/** By how much a picture may be shrunk before it is drawn in another way: on a phone it turns instead. */
const hardly = (leftToRight: boolean, width: number): number => (leftToRight && width >= WIDE ? LEAST_SCALE : 1);

/** How wide a picture from left to right is at the least. */
export function leastWidth(graph: DrawnGraph, layout: Layout): number {
  return gridFor(graph, layout, 1, true, 0).grid.width;
}

const COMMON = [300, 330, 654]; // inside the frame on small phones, on most phones, on a tablet

/** Widths to draw a graph for where its frame is not known: from one to the next it has one height, and a frame has room for it. */
export function widthsFor(graph: DrawnGraph, layout: Layout, common: number[] = [], {air = 0}: Options = {}): number[] {
  if (isOfMaps(graph)) return [...new Set([...COMMON, ...common, ...turns(graph, layout, air)])].sort((a, b) => a - b);
  let turn = WIDE_IF_IT_FITS;
  while (turn < WIDE && gridFor(graph, layout, turn, true, air).grid.width > turn) turn++;
  const kept = [...COMMON, CAPTIONS, ...common].filter((width) => width < turn || common.includes(width));
  return [...new Set([...kept, turn, ...turns(graph, layout, air).filter((width) => width > turn)])].sort((a, b) => a - b);
}

/** Widths from which on a graph is drawn in another direction, or with more written on it. */
function turns(graph: DrawnGraph, layout: Layout, air: number): number[] {
  const widths = Array.from({length: 1 + WIDEST - COMMON[0]!}, (_, i) => COMMON[0]! + i);
  const ways = widths.map((width) => {
    const {leftToRight, written, captions} = fitted(graph, layout, width, air);
    return [leftToRight, written, captions].join();
  });
  return widths.filter((_, i) => i > 0 && ways[i] !== ways[i - 1]);
}

const WIDEST = 1100; // pixels: no frame of the course is wider

type Boxes = Pick<Picture, "leftToRight" | "captions" | "cards" | "ops">;

/** What the bends of an edge are known by. */
const between = (from: number, to: number): string => `${from}>${to}`;

const tracksOf = (layout: Layout): number[] => [...Object.values(layout.spots), ...Object.values(layout.bends).flat()].map(([, track]) => track);

/** Wide enough for the longest label, within reason; narrow enough for the tracks side by side on a phone. */
function cardWidth(graph: DrawnGraph, width: number, span: number, captions: boolean): number {
  const longest = Math.max(...graph.nodes.map(({name}) => name.length));
  if (captions) return Math.max(122, Math.min(176, Math.ceil(longest * 15 * MONO) + 38));
  const room = Math.floor((width - 8 * span) / (span + 1));
  return Math.min(Math.max(92, Math.min(128, Math.ceil(longest * 13.5 * MONO) + 28)), Math.max(76, room));
}

// --- the cards of tensors -----------------------------------------------------------------------------------------------

/** Pixels around the maps of a card: its head, a caption over each map, what is written below one, its sides. */
export const MAP = {head: 26, caption: 15, note: 15, gap: 4, side: 8};

/** From one map of a card to the next. */
export const mapRow = (map: MapBox, written: boolean): number => MAP.caption + mapSize(map, written)[1] + map.notes * MAP.note + MAP.gap;

function mapCard(map: MapBox, name: string, captions: boolean, written: boolean): {width: number; height: number} {
  const head = Math.min(name.length, 14) * (captions ? 9 : 8.1) + map.shape.length * 7.3 + 44; // with the tick of a visit
  const notes = map.noteLetters * 6.6 + 2 * MAP.side;
  return {
    width: Math.ceil(Math.max(mapSize(map, written)[0] + 2 * MAP.side, head, notes)),
    height: MAP.head + mapRow(map, written) * (map.constant ? 1 : 2) + 3,
  };
}

function opBox(node: DrawnNode, card: Box, {round, stub}: Sizes, leftToRight: boolean): Box {
  const width = opWidth(node.op, round);
  return leftToRight
    ? {x: card.x - stub - width, y: card.y + card.height / 2 - round, width, height: 2 * round}
    : {x: card.x + card.width / 2 - width / 2, y: card.y - stub - 2 * round, width, height: 2 * round};
}

// --- the grid -----------------------------------------------------------------------------------------------------------

type Grid = {
  /** Where the cards of each rank begin, and how far before that the ops reach. */
  along: number[];
  lead: number[];
  /** The middle of a track. */
  across: (track: number) => number;
  depth: number[];
  width: number;
  height: number;
};

const clamp = (x: number, least: number, most: number): number => Math.min(Math.max(x, least), most);

function columns(graph: DrawnGraph, layout: Layout, ranks: number, span: number, sizes: Sizes, width: number): Grid {
  const lead = most(graph, layout, ranks, ({op}) => (op ? opWidth(op, sizes.round) + sizes.stub : 0));
  const depth = most(graph, layout, ranks, (node) => sizes.of(node).width);
  const more = sizes.card > BARE ? lead.map(() => 0) : roomForChips(graph, layout, lead);
  const fixed = sum(depth) + sum(lead) + sum(more);
  const chips = Math.max(0, ...graph.edges.map(({shape}) => (shape ? chipWidth(shape, true) + 6 : 0)));
  const gap = ranks > 1 ? clamp((width - fixed) / (ranks - 1), Math.max(chips, sizes.card > NARROW ? GAP : sizes.card > BARE ? LEAST_GAP : BARE_GAP), 150) : 0;
  const needed = fixed + gap * (ranks - 1);
  const along: number[] = [];
  let x = Math.max(0, (width - needed) / 2);
  for (let rank = 0; rank < ranks; rank++) {
    x += lead[rank]! + (rank ? gap + more[rank]! : 0);
    along.push(x);
    x += depth[rank]!;
  }
  const top = 34;
  if (isOfMaps(graph)) {
    const {pitch, first, last} = tight(graph, layout, (node) => sizes.of(node).height, 14);
    return {along, lead, depth, across: (track) => top + first + track * pitch, width: Math.max(width, needed), height: top + first + last + 18};
  }
  const pitch = sizes.height + (span <= 1 ? 48 : span <= 2 ? 30 : 14);
  const height = top + span * pitch + sizes.height + 18;
  return {along, lead, depth, across: (track) => top + track * pitch + sizes.height / 2, width: Math.max(width, needed), height};
}

/** Between bare cards: what a gap needs beyond the least one, so that the labels on lines that climb to a rank cover no card. */
function roomForChips(graph: DrawnGraph, layout: Layout, lead: number[]): number[] {
  const more = lead.map(() => 0);
  for (const edge of graph.edges) {
    const [[, from], [rank, to]] = [layout.spots[edge.from]!, layout.spots[edge.to]!];
    if (from !== to) more[rank] = Math.max(more[rank]!, chipWidth(chipText(edge), false) + 6 - lead[rank]! - BARE_GAP);
  }
  return more;
}

function rows(graph: DrawnGraph, layout: Layout, ranks: number, span: number, sizes: Sizes, width: number, air: number): Grid {
  const lead = most(graph, layout, ranks, ({op}) => (op ? 2 * sizes.round + sizes.stub : 0));
  const depth = most(graph, layout, ranks, (node) => sizes.of(node).height);
  const roomy = sizes.height > 60 ? 90 : 44;
  const maps = isOfMaps(graph) ? tight(graph, layout, (node) => sizes.of(node).width, 8) : null;
  // as far apart as there is room for, within reason
  const pitch = !span ? 0 : maps ? maps.pitch + clamp((width - maps.first - maps.last) / span, 0, roomy / 2) : clamp((width - sizes.card) / span, sizes.card + 8, sizes.card + roomy);
  const needed = maps ? maps.first + maps.last + span * (pitch - maps.pitch) : span * pitch + sizes.card;
  const gap = (sizes.height > 60 ? 42 : 34) + air + (graph.edges.some(({twins}) => twins > 1) ? TWINS : 0);
  const along: number[] = [];
  let y = 14;
  for (let rank = 0; rank < ranks; rank++) {
    y += lead[rank]! + (rank ? gap + (isCrossed(graph, layout, rank) ? CROSSED : 0) : 0);
    along.push(y);
    y += depth[rank]!;
  }
  const left = Math.max(0, (width - needed) / 2) + (maps ? maps.first : sizes.card / 2);
  return {along, lead, depth, across: (track) => left + track * pitch, width: Math.max(width, needed), height: y + 14};
}

const isOfMaps = (graph: DrawnGraph): boolean => graph.nodes.some(({map}) => map);

/** For cards of several sizes: how far apart tracks must be for none to touch its neighbour, and how far the first and the last card reach
from the middle of the first track. */
function tight(graph: DrawnGraph, layout: Layout, size: (node: DrawnNode) => number, gap: number): {pitch: number; first: number; last: number} {
  const spots = graph.nodes.map((node) => ({spot: layout.spots[node.id]!, half: size(node) / 2}));
  const bends = Object.values(layout.bends).flat().map((spot) => ({spot, half: 0}));
  const all = [...spots, ...bends].sort((a, b) => a.spot[0] - b.spot[0] || a.spot[1] - b.spot[1]);
  const pairs = all.slice(1).map((next, i) => ({next, last: all[i]!})).filter(({next, last}) => next.spot[0] === last.spot[0] && next.spot[1] > last.spot[1]);
  const pitch = Math.max(40, ...pairs.map(({next, last}) => (next.half + last.half + gap) / (next.spot[1] - last.spot[1])));
  return {
    pitch,
    first: Math.max(...spots.map(({spot, half}) => half - spot[1] * pitch)),
    last: Math.max(...spots.map(({spot, half}) => half + spot[1] * pitch)),
  };
}

const CROSSED = 28; // more room where lines cross on their way down
const TWINS = 24; // and where two go the same way, with a label on each

/** Whether two edges cross just before they come to a rank. */
function isCrossed(graph: DrawnGraph, layout: Layout, rank: number): boolean {
  const ends = graph.edges
    .filter(({to}) => layout.spots[to]![0] === rank)
    .map(({from, to}) => [(layout.bends[between(from, to)]?.at(-1) ?? layout.spots[from]!)[1], layout.spots[to]![1]] as const);
  return ends.some(([a, b]) => ends.some(([c, d]) => a < c && b > d));
}

const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);

/** The most that any node of each rank needs. */
function most(graph: DrawnGraph, layout: Layout, ranks: number, need: (node: DrawnNode) => number): number[] {
  const found = Array<number>(ranks).fill(0);
  for (const node of graph.nodes) {
    const rank = layout.spots[node.id]![0];
    found[rank] = Math.max(found[rank]!, need(node));
  }
  return found;
}

// --- edges --------------------------------------------------------------------------------------------------------------

type Bezier = readonly [Point, Point, Point, Point];

/** An edge without its chip yet. */
type Draft = Omit<PlacedEdge, "chip" | "beside"> & {straight: boolean};

function drafted(edge: DrawnEdge, {leftToRight, cards, ops}: Boxes, grid: Grid, layout: Layout): Draft {
  const [card, op] = [cards.get(edge.from)!, ops.get(edge.to)!];
  // everything as [along, across] first; a twin leaves and arrives beside its brother, and bulges away from it
  const side = edge.twin - (edge.twins - 1) / 2;
  const start: Point = leftToRight
    ? [card.x + card.width, card.y + card.height / 2 + side * 26]
    : [card.y + card.height, card.x + card.width / 2 + side * Math.min(36, card.width / 2)];
  const end: Point = leftToRight ? [op.x, op.y + op.height / 2 + side * 10] : [op.y, op.x + op.width / 2 + side * 10];
  const stops: Point[] = [[start[0] + 3, start[1]]];
  for (const [rank, track] of layout.bends[between(edge.from, edge.to)] ?? []) {
    const across = grid.across(track) + side * 14;
    stops.push([grid.along[rank]! - grid.lead[rank]!, across], [grid.along[rank]! + grid.depth[rank]!, across]);
  }
  stops.push(end);
  const bulge = side * (leftToRight ? 40 : 46);
  const pieces = stops.slice(1).map((stop, i) => curve(stops[i]!, stop, leftToRight ? 0.5 : 0.62, bulge));
  const flip = ([a, b]: Point): Point => (leftToRight ? [a, b] : [b, a]);
  const told = (point: Point) => flip(point).map((x) => Math.round(x * 10) / 10).join(" ");
  const backwards = [...pieces].reverse();
  const path = `M${told(backwards[0]![3])}` + backwards.map(([a, b, c]) => `C${told(c)} ${told(b)} ${told(a)}`).join("");
  const [along, across] = start;
  const head = `M${told([along + 10, across - 5])}L${told([along + 2, across])}L${told([along + 10, across + 5])}`;
  const dataHead = `M${told([end[0] - 8, end[1] - 4])}L${told([end[0] - 1, end[1]])}L${told([end[0] - 8, end[1] + 4])}`;
  const straight = edge.twins === 1 && pieces.length === 1 && Math.abs(start[1] - end[1]) < 12;
  return {edge, path, head, dataHead, straight, strands: strands(edge.spread, start, end, told), spots: candidates(pieces, start, end).map(flip)};
}

const STRANDS = {long: 24, apart: 9};

function strands(spread: string | undefined, start: Point, end: Point, told: (point: Point) => string): string {
  if (!spread) return "";
  const [one, many]: [Point, Point] = spread === "fan" ? [[end[0] - STRANDS.long, end[1]], end] : [[start[0] + STRANDS.long, start[1]], start];
  return [-STRANDS.apart, STRANDS.apart].map((apart) => `M${told(one)}L${told([many[0], many[1] + apart])}`).join("");
}

/** From one point to another, leaving and arriving along the walk. */
function curve([a0, a1]: Point, [b0, b1]: Point, pull: number, bulge: number): Bezier {
  const k = (b0 - a0) * pull;
  return [[a0, a1], [a0 + k, a1 + bulge], [b0 - k, b1 + bulge], [b0, b1]];
}

function at([a, b, c, d]: Bezier, t: number): Point {
  const u = 1 - t;
  const mix = (i: 0 | 1) => u * u * u * a[i] + 3 * u * u * t * b[i] + 3 * u * t * t * c[i] + t * t * t * d[i];
  return [mix(0), mix(1)];
}

/** Where a label may stand: on the piece that climbs most, for there it is farthest from other lines; then on the others. */
function candidates(pieces: Bezier[], start: Point, end: Point): Point[] {
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  const climbs = Math.abs(last[0][1] - end[1]) >= Math.abs(first[3][1] - start[1]) ? last : first;
  const rest = pieces.filter((piece) => piece !== climbs);
  return [0.5, 0.6, 0.4, 0.68, 0.32, 0.76, 0.24].map((t) => at(climbs, t)).concat(rest.map((piece) => at(piece, 0.5)));
}

// --- chips --------------------------------------------------------------------------------------------------------------

/** Every edge gets the place for its chip once, for the text it will have, so that no chip moves when another appears. */
function withChips(drafts: Draft[], {leftToRight, captions, cards, ops}: Boxes, total: number): Map<string, PlacedEdge> {
  const taken: Box[] = [...cards.values(), ...ops.values()];
  const placed = new Map<string, PlacedEdge>();
  // a straight line is short and has few places to offer: it comes first
  for (const {straight, ...edge} of [...drafts].sort((a, b) => Number(b.straight) - Number(a.straight))) {
    const {spots} = edge;
    const width = chipWidth(chipText(edge.edge), captions);
    const [x, y] = spots[0]!;
    const card = cards.get(edge.edge.from)!;
    const above: Point[] = [[x + 3, y - 15], [card.x + card.width + width / 2, y - 26]]; // a long one also above the op
    const besides = spots.flatMap(([x, y]): Point[] => [-1, 1].map((side) => (leftToRight ? [x, y + side * 13] : [clamp(x + side * (width / 2 + 6), width / 2, total - width / 2), y])));
    const snug = leftToRight ? besideTheOp(card, cards.get(edge.edge.to)!, ops.get(edge.edge.to)!) : [];
    const tries: Point[] = !straight ? [...spots, ...besides, ...snug] : leftToRight ? above : [[x + width / 2 + 6, y]];
    const chip = tries.find((spot) => !taken.some((box) => touches(box, spot, width))) ?? tries[0]!;
    taken.push({x: chip[0] - width / 2, y: chip[1] - 11, width, height: 22});
    placed.set(edge.edge.id, {...edge, chip, beside: straight});
  }
  return placed;
}

/** Where ranks are close: in the whole gap between two cards, over or under the op that stands in it. */
function besideTheOp(operand: Box, user: Box, op: Box): Point[] {
  const middle = (operand.x + operand.width + user.x) / 2;
  const [over, under]: Point[] = [[middle, op.y - 11], [middle, op.y + op.height + 11]];
  return operand.y + operand.height / 2 < op.y + op.height / 2 ? [over!, under!] : [under!, over!];
}

/** Where a longer text than the derivative may stand: on the line, away from the cards, or beside it. */
export function spotFor(picture: Picture, placed: PlacedEdge, width: number): Point {
  const cards = [...picture.cards.values(), ...picture.ops.values()];
  const notes: Box[] = []; // the others have their places too, as if they said as much
  for (const each of picture.edges.values()) {
    const free = (boxes: Box[]) => (spot: Point) => !boxes.some((box) => touches(box, spot, width));
    const tries = noteSpots(picture, each, width);
    const [x, y] = tries.find(free([...cards, ...notes])) ?? tries.find(free(cards)) ?? each.chip;
    if (each === placed) return [x, y];
    notes.push({x: x - width / 2, y: y - 11, width, height: 22});
  }
  return placed.chip;
}

function noteSpots(picture: Picture, {edge, spots, chip}: PlacedEdge, width: number): Point[] {
  if (picture.leftToRight) return [chip, ...spots];
  const [card, op] = [picture.cards.get(edge.from)!, picture.ops.get(edge.to)!];
  const [from, to] = [card.x + card.width / 2, op.x + op.width / 2];
  const outwards = from < (Math.abs(from - to) > 12 ? to : picture.width / 2) ? -1 : 1; // a straight one: to the nearer end of the picture
  const beside = (side: number) => spots.map(([x, y]): Point => [clamp(x + side * (width / 2 + 6), width / 2, picture.width - width / 2), y]);
  return [...beside(outwards), ...spots, ...beside(-outwards)];
}

function touches(box: Box, [x, y]: Point, width: number): boolean {
  return x + width / 2 > box.x && x - width / 2 < box.x + box.width && y + 10 > box.y && y - 10 < box.y + box.height;
}
