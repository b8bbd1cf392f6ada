/** How long a bar is, and how a time is written. No browser in here. */

/** Fractions of the width for some times: in proportion, or by powers of ten where they differ too much for that. */
export function scale(seconds: readonly number[]): {logarithmic: boolean; of(time: number): number; lines: number[]} {
  const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
  if (most / least < 60) return {logarithmic: false, of: (time) => time / most, lines: []};
  const first = Math.floor(Math.log10(least)) - 0.35; // even the shortest is a bar
  const span = Math.log10(most) - first;
  const of = (time: number) => (Math.log10(time) - first) / span;
  const lines = Array.from({length: Math.floor(Math.log10(most)) - Math.ceil(first) + 1}, (_, n) => of(10 ** (Math.ceil(first) + n)));
  return {logarithmic: true, of, lines};
}

/** Two or three figures and the unit that fits. */
export function timeOf(seconds: number, units: {s: string; ms: string; us: string; ns: string}): string {
  const [unit, size] = seconds >= 1 ? [units.s, 1] : seconds >= 1e-3 ? [units.ms, 1e-3] : seconds >= 1e-6 ? [units.us, 1e-6] : [units.ns, 1e-9];
  const x = seconds / size;
  return `${x >= 100 ? Math.round(x) : Number(x.toPrecision(2))} ${unit}`;
}

/** A ratio, coarsely: what one remembers of it. */
export function coarse(ratio: number): string {
  return Number(ratio.toPrecision(2)).toLocaleString("en");
}
