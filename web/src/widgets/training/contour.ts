/** Level lines of a field of numbers: marching squares, joined into rings. */

export type Field = {columns: number; rows: number; values: Float64Array};
export type Ring = [x: number, y: number][];

const RIM = -1e9;

/** A field with a rim of very low numbers, so that every region above a level is closed. */
export function sampled(columns: number, rows: number, at: (column: number, row: number) => number): Field {
  const field = {columns: columns + 2, rows: rows + 2, values: new Float64Array((columns + 2) * (rows + 2)).fill(RIM)};
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const value = at(column, row);
      field.values[(row + 1) * field.columns + column + 1] = Number.isFinite(value) ? Math.max(-1e8, Math.min(1e8, value)) : 0;
    }
  }
  return field;
}

/** The borders of where the field is above a level, in columns and rows of the samples (the rim lies around them). */
export function rings({columns, rows, values}: Field, level: number): Ring[] {
  const next = new Map<number, number>(); // from crossing to crossing; a crossing is named by the edge of the grid it lies on
  const above = (column: number, row: number) => values[row * columns + column]! >= level;
  const across = (column: number, row: number) => 2 * (row * columns + column); // edge to the right
  const down = (column: number, row: number) => 2 * (row * columns + column) + 1; // edge downwards
  for (let row = 0; row < rows - 1; row++) {
    for (let column = 0; column < columns - 1; column++) {
      const [top, right, bottom, left] = [across(column, row), down(column + 1, row), across(column, row + 1), down(column, row)];
      const corners = (above(column, row) ? 8 : 0) | (above(column + 1, row) ? 4 : 0) | (above(column + 1, row + 1) ? 2 : 0) | (above(column, row + 1) ? 1 : 0);
      for (const [from, to] of TURNS[corners]!) next.set([top, right, bottom, left][from]!, [top, right, bottom, left][to]!);
    }
  }
  const point = (edge: number): [number, number] => {
    const cell = edge >> 1;
    const [column, row] = [cell % columns, Math.floor(cell / columns)];
    const [a, b] = [values[cell]!, values[edge & 1 ? cell + columns : cell + 1]!];
    const t = a === RIM ? 0 : b === RIM ? 1 : (level - a) / (b - a); // along the rim, outside of what is seen
    return edge & 1 ? [column - 1, row - 1 + t] : [column - 1 + t, row - 1];
  };
  const found: Ring[] = [];
  while (next.size) {
    const first = next.keys().next().value!;
    const ring: Ring = [];
    for (let edge: number | undefined = first; edge !== undefined && next.has(edge); ) {
      const on: number = next.get(edge)!;
      ring.push(point(edge));
      next.delete(edge);
      edge = on;
    }
    found.push(ring);
  }
  return found;
}

/** For each pattern of corners (8 4 / 1 2), how the line passes, with the high ground on its right: from side to side. */
const TURNS: [number, number][][] = [
  [], [[3, 2]], [[2, 1]], [[3, 1]], [[1, 0]], [[1, 0], [3, 2]], [[2, 0]], [[3, 0]],
  [[0, 3]], [[0, 2]], [[0, 3], [2, 1]], [[0, 1]], [[1, 3]], [[1, 2]], [[2, 3]], [],
];
