/** Level lines of a field of numbers, by d3-contour. */
import {contours} from "d3-contour";

export type Field = {columns: number; rows: number; values: number[]};
export type Ring = [x: number, y: number][];

export function sampled(columns: number, rows: number, at: (column: number, row: number) => number): Field {
  const finite = (value: number) => (Number.isFinite(value) ? Math.max(-1e8, Math.min(1e8, value)) : 0);
  return {columns, rows, values: Array.from({length: columns * rows}, (_, i) => finite(at(i % columns, Math.floor(i / columns))))};
}

/** The borders of where the field is above a level, in columns and rows of the samples; at the edge they run half a sample outside. */
export function rings({columns, rows, values}: Field, level: number): Ring[] {
  const {coordinates} = contours().size([columns, rows]).contour(values, level);
  return coordinates.flat().map((ring) => ring.slice(0, -1).map(([x, y]): [number, number] => [x! - 0.5, y! - 0.5])); // the last point is the first
}
