/** How long a bar is, and how a time is written. No browser in here. */
import {counted, rounded} from "../../text/numbers.ts";

const VISIBLE = 1 / 60; // of the width: a bar that is shorter cannot be seen

/** Times, slowest first, in groups. In each all bars are in proportion; what would vanish is drawn anew, so many times larger. */
export function groups<T extends {seconds: number}>(bars: readonly T[]): {larger: number; bars: {bar: T; width: number}[]}[] {
  const found: {larger: number; bars: {bar: T; width: number}[]}[] = [];
  let rest = bars;
  while (rest.length > 0) {
    const most = rest[0]!.seconds;
    const seen = rest.filter(({seconds}) => seconds >= most * VISIBLE);
    found.push({larger: bars[0]!.seconds / most, bars: seen.map((bar) => ({bar, width: bar.seconds / most}))});
    rest = rest.filter(({seconds}) => seconds < most * VISIBLE);
  }
  return found;
}

/** Two or three figures and the unit that fits. */
export function timeOf(seconds: number, units: {s: string; ms: string; us: string; ns: string}): string {
  const [unit, size] = seconds >= 1 ? [units.s, 1] : seconds >= 1e-3 ? [units.ms, 1e-3] : seconds >= 1e-6 ? [units.us, 1e-6] : [units.ns, 1e-9];
  const x = seconds / size;
  return `${x >= 100 ? Math.round(x) : rounded(x, 2)} ${unit}`;
}

/** A ratio, coarsely: what one remembers of it. */
export function coarse(ratio: number): string {
  return counted(rounded(ratio, 2));
}
