/** Where each number stands: in the graph of single numbers, and in its block. Left to right; on a phone top to bottom. */
import type {Block, Cell, Folding} from "./material.ts";

export type Spot = {x: number; y: number};
export type Frame = Spot & {width: number; height: number; block: Block};
export type Picture = {
  width: number;
  height: number;
  /** How large a number is drawn. */
  cell: {width: number; height: number};
  /** The middle of each number, unfolded and folded. */
  apart: Spot[];
  together: Spot[];
  frames: Frame[];
  down: boolean;
};

const STEPS = 6; // from the leaves to the loss
const PLACES = 12;
const NARROW = 640;
/** Where along the way each block is drawn: evenly, though in single numbers a product takes two steps. */
const ALONG: Record<string, number> = {P: 1.25, Z: 2.5, S: 3.75, L: 5};

export function placed({cells, blocks}: Folding, width: number): Picture {
  const down = width < NARROW;
  const cell = down ? {width: Math.min(28, Math.floor((width - 8) / PLACES) - 2), height: 24} : {width: 44, height: 26};
  const along = down ? 84 : (width - 2 * cell.width - 24) / (STEPS - 1);
  const across = down ? (width - cell.width - 4) / (PLACES - 1) : 35;
  const at = (step: number, place: number): Spot =>
    down
      ? {x: 2 + cell.width / 2 + place * across, y: 46 + step * along}
      : {x: 12 + cell.width + step * along, y: 26 + cell.height / 2 + place * across};
  const apart = cells.map(({step, place}) => at(step, place));
  const together: Spot[] = cells.map(() => ({x: 0, y: 0}));
  const frames = blocks.map((block): Frame => {
    const own = cells.flatMap((one, n) => (one.block === block.name ? [n] : []));
    const mean = (of: (spot: Spot) => number) => own.reduce((sum, n) => sum + of(apart[n]!), 0) / own.length;
    const [rows, columns] = sizes(block);
    const start = at(ALONG[block.name] ?? 0, 0);
    const middle = down ? {x: mean((spot) => spot.x), y: start.y} : {x: start.x, y: mean((spot) => spot.y)};
    const left = middle.x - (columns * cell.width) / 2;
    const top = middle.y - (rows * cell.height) / 2;
    for (const n of own) {
      const [row, column] = placeIn(cells[n]!);
      together[n] = {x: left + (column + 0.5) * cell.width, y: top + (row + 0.5) * cell.height};
    }
    return {x: left, y: top, width: columns * cell.width, height: rows * cell.height, block};
  });
  const height = down ? 46 + (STEPS - 1) * along + 30 : 26 + cell.height + (PLACES - 1) * across + 14;
  return {width, height, cell, apart, together, frames, down};
}

const sizes = ({shape}: Block): [number, number] => (shape.length === 2 ? [shape[0]!, shape[1]!] : [1, shape[0] ?? 1]);

const placeIn = ({at}: Cell): [number, number] => (at.length === 2 ? [at[0]!, at[1]!] : [0, at[0] ?? 0]);

export const mixed = (one: Spot, other: Spot, t: number): Spot => ({x: one.x + (other.x - one.x) * t, y: one.y + (other.y - one.y) * t});

/** A line from what was used to what was made of it; it leaves and arrives along the way of the walk. */
export function line(from: Spot, to: Spot, {cell, down}: Picture): string {
  if (!down && Math.abs(from.x - to.x) < 1) return `M${from.x} ${from.y + cell.height / 2}L${to.x} ${to.y - cell.height / 2}`; // a sum, term by term
  const [a, b] = down
    ? [{x: from.x, y: from.y + cell.height / 2}, {x: to.x, y: to.y - cell.height / 2}]
    : [{x: from.x + cell.width / 2, y: from.y}, {x: to.x - cell.width / 2, y: to.y}];
  const bend = (down ? b.y - a.y : b.x - a.x) * 0.45;
  return down ? `M${a.x} ${a.y}C${a.x} ${a.y + bend} ${b.x} ${b.y - bend} ${b.x} ${b.y}` : `M${a.x} ${a.y}C${a.x + bend} ${a.y} ${b.x - bend} ${b.y} ${b.x} ${b.y}`;
}

const SHORT = 90; // a line so short is not covered by the shape that goes along it: that stands beside it

/** The line between two blocks, and the place for the shape that goes along it; a second operand arrives further down. */
export function thick(from: Frame, to: Frame, down: boolean): {d: string; label: Spot} {
  const share = to.block.operands.length < 2 ? 0.5 : to.block.operands[0] === from.block.name ? 0.4 : 0.85;
  const a = down ? {x: from.x + from.width / 2, y: from.y + from.height} : {x: from.x + from.width, y: from.y + from.height / 2};
  const b = down ? {x: to.x + to.width * share, y: to.y} : {x: to.x, y: to.y + to.height * share};
  const length = down ? b.y - a.y : b.x - a.x;
  const bend = length * 0.45;
  const d = down ? `M${a.x} ${a.y}C${a.x} ${a.y + bend} ${b.x} ${b.y - bend} ${b.x} ${b.y}` : `M${a.x} ${a.y}C${a.x + bend} ${a.y} ${b.x - bend} ${b.y} ${b.x} ${b.y}`;
  const level = Math.abs(down ? b.x - a.x : b.y - a.y) < 30;
  const aside = length < SHORT && level;
  return {d, label: {x: (a.x + b.x) / 2 + (aside && down ? (share === 0.4 ? -32 : 32) : 0), y: (a.y + b.y) / 2 - (aside && !down ? 14 : 0)}};
}
