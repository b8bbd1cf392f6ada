/** The two functions of the first lesson, slopes measured by nudging, and how far off they are. */

export type Inputs = Record<string, number>;

export type Measured = {
  formula: string;
  output: string;
  inputs: Inputs;
  value: (at: Inputs) => number;
  /** The exact slope, for each input. */
  slopes: Record<string, (at: Inputs) => number>;
  /** How far each side of the starting point the plot reaches. */
  reach: readonly [below: number, above: number];
};

export const FUNCTIONS: Record<string, Measured> = {
  parabola: {
    formula: "3x² − 4x + 5",
    output: "f",
    inputs: {x: 3},
    value: ({x}) => 3 * (x! * x!) - 4 * x! + 5,
    slopes: {x: ({x}) => 6 * x! - 4},
    reach: [-5, 2],
  },
  "product-plus": {
    formula: "a·b + c",
    output: "d",
    inputs: {a: 2, b: -3, c: 10},
    value: ({a, b, c}) => a! * b! + c!,
    slopes: {a: ({b}) => b!, b: ({a}) => a!, c: () => 1},
    reach: [-4, 4],
  },
};

/** One input moved, the rest held. */
export const moved = (at: Inputs, name: string, to: number): Inputs => ({...at, [name]: to});

/** (f(x+h) − f(x)) / h, or from both sides (f(x+h) − f(x−h)) / 2h, in the order in which Python computes it. */
export function measure({value}: Measured, at: Inputs, name: string, h: number, both = false): number {
  const x = at[name]!;
  if (both) return (value(moved(at, name, x + h)) - value(moved(at, name, x - h))) / (2 * h);
  return (value(moved(at, name, x + h)) - value(at)) / h;
}

export const exact = ({slopes}: Measured, at: Inputs, name: string): number => slopes[name]!(at);

export const errorOf = (f: Measured, at: Inputs, name: string, h: number, both = false): number =>
  Math.abs(measure(f, at, name, h, both) - exact(f, at, name));

/** Ten to a power; whole powers as Python writes them. */
export const power = (exponent: number): number =>
  Number.isInteger(exponent) ? Number(`1e${exponent}`) : 10 ** exponent;

/** The errors for nudges from 1 down to 10⁻¹⁷, four to each power of ten. */
export function errors(f: Measured, at: Inputs, name: string, both: boolean): {exponent: number; h: number; error: number}[] {
  return Array.from({length: 17 * 4 + 1}, (_, index) => {
    const exponent = -index / 4;
    return {exponent, h: power(exponent), error: errorOf(f, at, name, power(exponent), both)};
  });
}

/** A scale: data to pixels. */
export const scale = (from: number, to: number, start: number, end: number) => (x: number) =>
  start + ((x - from) / (to - from)) * (end - start);

/** Round steps for an axis, about `count` of them. */
export function ticks(from: number, to: number, count: number): number[] {
  const rough = (to - from) / count;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((candidate) => candidate >= rough)!;
  const first = Math.ceil(from / step);
  return Array.from({length: Math.floor(to / step) - first + 1}, (_, index) => (first + index) * step);
}
