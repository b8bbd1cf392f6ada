/** Tensors in a walk: heat maps where single numbers stand otherwise. Their colours, numbers and words, Python has made. */
import {num, readable} from "../text/numbers.ts";
import type {HeatMap, Num, Pointer, TensorRecording} from "../python/schema.ts";

/** What a slot can hold. */
export type Held = number | HeatMap;
/** The same as JSON brings it, once every pointer to a map has been followed. */
export type Filled = Num | HeatMap;

export const isMap = (x: unknown): x is HeatMap => typeof x === "object" && x !== null && "steps" in x;

export const held = (x: Filled): Held => (isMap(x) ? x : num(x));

export const maybeHeld = (x: Filled | null): Held | null => (x === null ? null : held(x));

/** A recording with the maps that it points at. */
export function filled(recording: TensorRecording<Num | Pointer>, maps: readonly HeatMap[]): TensorRecording<Filled> {
  const fill = (x: unknown): unknown => {
    if (Array.isArray(x)) return x.map(fill);
    if (typeof x !== "object" || x === null) return x;
    return "map" in x ? maps[(x as Pointer).map]! : Object.fromEntries(Object.entries(x).map(([name, part]) => [name, fill(part)]));
  };
  return fill(recording) as TensorRecording<Filled>;
}

// --- in words -----------------------------------------------------------------------------------------------------------

/** As Python writes it: (3, 2), (2,). */
export const shapeText = (shape: readonly number[]): string => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

export const shapeOf = (x: unknown): readonly number[] => (isMap(x) ? x.shape : []);

const MOST_SHOWN = 3; // numbers of a tensor that are written out in a sentence

/** A number, or few of them, as they are; of more their shape. As Python's `walk.readable`. */
export function told(x: Held): string {
  if (!isMap(x)) return readable(x);
  const [row] = x.numbers;
  const few = x.shape.length === 1 && row !== undefined && row.length <= MOST_SHOWN;
  return few ? `[${row.map((each) => readable(num(each))).join(", ")}]` : shapeText(x.shape);
}

/** Whether `told` gives a shape. */
export const toldAsShape = (x: unknown): x is HeatMap => isMap(x) && told(x) === shapeText(x.shape);

// --- places -------------------------------------------------------------------------------------------------------------

export type Place = readonly number[];
/** Row and column of a map. */
export type Cell = readonly [row: number, column: number];

/** Where a cell of a map stands in its tensor. */
export function placeOf({shape, every}: HeatMap, [i, j]: Cell): Place {
  let row = i * every[0]!;
  const found = [j * every[1]!];
  for (const n of shape.slice(0, -1).reverse()) {
    found.unshift(row % n);
    row = Math.floor(row / n);
  }
  return found;
}

/** Which cell shows a place; of a map that shows some rows and columns alone, the one next to it. */
export function cellOf({shape, every, steps}: HeatMap, place: Place): Cell {
  const row = shape.slice(0, -1).reduce((sum, n, axis) => sum * n + place[axis]!, 0);
  const near = (at: number, step: number, count: number) => Math.min(count - 1, Math.round(at / step));
  return [near(row, every[0]!, steps.length), near(place.at(-1)!, every[1]!, steps[0]?.length ?? 1)];
}

/** The number at a place; null where it did not travel. */
export function numberAt(map: HeatMap, place: Place): number | null {
  if (!map.numbers.length) return null;
  const [i, j] = cellOf(map, place);
  return num(map.numbers[i]![j]!);
}

// --- sizes --------------------------------------------------------------------------------------------------------------

/** How large the maps of a node get: as many cells as its shape has, and room for the longest number that it ever holds. */
export type MapBox = {shape: string; rows: number; columns: number; block: number; letters: number; notes: number; noteLetters: number; constant: boolean};

const SMALL = {side: 120, most: 14, thin: 12}; // pixels of a map without numbers, of its cells, and of a map of one row
export const WRITTEN = {letter: 6.9, pad: 9, least: 27, high: 20};
export const BLOCK_GAP = 4;

/** How many lines stand below a map, and how long they get: how far its scale goes, what is not finite, which of its cells are shown. */
function notesOf({texts, odd, every}: HeatMap): {lines: number; letters: number} {
  const sampled = every.filter((step) => step > 1).length;
  const scale = texts.length ? 0 : 1;
  const strange = Object.keys(odd).length;
  return {lines: scale + strange + sampled, letters: sampled ? 21 : scale || strange ? 9 : 0};
}

export function boxOf(maps: readonly HeatMap[], constant: boolean): MapBox {
  const [{shape, steps, block}] = maps as [HeatMap];
  const notes = maps.map(notesOf);
  return {
    shape: shapeText(shape),
    rows: steps.length,
    columns: steps[0]?.length ?? 0,
    block,
    letters: Math.max(...maps.flatMap((map) => map.texts.flat().map((text) => text.length)), 0),
    notes: Math.max(...notes.map(({lines}) => lines)),
    noteLetters: Math.max(...notes.map(({letters}) => letters)),
    constant,
  };
}

/** Width and height of a cell: with its number in it, or as large as the room allows. */
export function cellSize({rows, columns, letters}: Pick<MapBox, "rows" | "columns" | "letters">, written: boolean): readonly [width: number, height: number] {
  if (written && letters) return [Math.max(WRITTEN.least, Math.ceil(letters * WRITTEN.letter) + WRITTEN.pad), WRITTEN.high];
  const side = Math.min(SMALL.most, SMALL.side / Math.max(rows, columns, 1));
  return [Math.max(side, SMALL.thin / Math.max(columns, 1)), Math.max(side, SMALL.thin / Math.max(rows, 1))];
}

/** Width and height of a map, blocks apart. */
export function mapSize(box: Pick<MapBox, "rows" | "columns" | "letters" | "block">, written: boolean): readonly [width: number, height: number] {
  const [wide, high] = cellSize(box, written);
  const blocks = box.block ? box.rows / box.block : 1;
  return [wide * box.columns, high * box.rows + BLOCK_GAP * (blocks - 1)];
}
