/** A matrix product as three faces of a cube: the left factor at the left, the right one above, the product in the corner between them.
Each cell of the product is at the end of a row of the one and of a column of the other. As `gradwalk.stepper.faces` in the terminal. */
import {readable, num} from "../text/numbers.ts";
import type {HeatMap} from "../python/schema.ts";
import {numberAt, type Place} from "./heat.ts";

export type Faces = {left: HeatMap; above: HeatMap; corner: HeatMap; row: number; column: number};

/** The block of each factor that a cell comes from, and which row and column; null where not all numbers are at hand. */
export function facesOf(a: HeatMap, b: HeatMap, c: HeatMap, place: Place): Faces | null {
  if (![a, b, c].every((map) => map.numbers.length > 0)) return null;
  const left = block(a, behind(a, place), "row");
  const above = block(b, behind(b, place), "column");
  const [rows, columns] = [left.numbers.length, above.numbers[0]!.length];
  const batch = place.slice(0, place.length - Number(a.shape.length > 1) - Number(b.shape.length > 1));
  const first = batch.reduce((at, i, axis) => at * c.shape[axis]! + i, 0) * rows * columns;
  const part = <T>(cells: readonly T[][]): T[][] => chunks(cells.flat().slice(first, first + rows * columns), columns);
  const corner = {...c, shape: [rows, columns], block: 0, steps: part(c.steps), numbers: part(c.numbers), texts: c.texts.length ? part(c.texts) : []};
  const column = b.shape.length > 1 ? place.at(-1)! : 0;
  const row = a.shape.length > 1 ? place.at(b.shape.length > 1 ? -2 : -1)! : 0;
  return {left, above, corner, row, column};
}

/** Where the block of a factor is: dims of 1 serve all. */
function behind({shape}: HeatMap, place: Place): Place {
  const extra = shape.length - 2;
  if (extra <= 0) return [];
  const batch = place.slice(0, -2).slice(-extra);
  return shape.slice(0, extra).map((n, axis) => (n === 1 ? 0 : batch[axis]!));
}

/** The last two dims of a map at a place in the others; a vector as a row or a column. */
function block(map: HeatMap, at: Place, vector: "row" | "column"): HeatMap {
  if (map.shape.length < 2) {
    const turned = <T>(cells: T[][]): T[][] => (vector === "column" ? cells.flat().map((x) => [x]) : cells);
    return {...map, steps: turned(map.steps), numbers: turned(map.numbers), texts: turned(map.texts)};
  }
  const [rows] = map.shape.slice(-2) as [number];
  const first = at.reduce((sum, i, axis) => sum * map.shape[axis]! + i, 0) * rows;
  const part = <T>(cells: T[][]): T[][] => cells.slice(first, first + rows);
  return {...map, shape: map.shape.slice(-2), block: 0, steps: part(map.steps), numbers: part(map.numbers), texts: part(map.texts)};
}

function chunks<T>(cells: T[], wide: number): T[][] {
  return Array.from({length: cells.length / wide}, (_, i) => cells.slice(i * wide, (i + 1) * wide));
}

/** The sum that a cell of a product is: `1 × 3 + 2 × (−5) = −7`. */
export function products({left, above, row, column}: Faces, c: HeatMap, place: Place, more: (n: number) => string, most = 6): string {
  const guarded = (x: number): string => (readable(x).startsWith("−") ? `(${readable(x)})` : readable(x));
  const all = left.numbers[row]!.map((x, k) => `${guarded(num(x))} × ${guarded(num(above.numbers[k]![column]!))}`);
  const terms = all.length > most ? [...all.slice(0, most - 1), more(all.length - most), all.at(-1)!] : all;
  return `${terms.join(" + ") || "0"} = ${readable(numberAt(c, place)!)}`;
}
