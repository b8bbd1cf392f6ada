/** Numbers for people, as Python's `walk.readable` writes them, and with every digit for whoever points at one. */
import type {Num} from "../python/schema.ts";

const SPECIAL = {nan: NaN, inf: Infinity, "-inf": -Infinity} as const;

/** A number as JSON brings it. */
export const num = (x: Num): number => (typeof x === "number" ? x : SPECIAL[x]);

export const maybe = (x: Num | null): number | null => (x === null ? null : num(x));

/** Four decimals at most, a real minus sign, powers of ten where those would hide it. */
export function readable(x: number): string {
  return written(x, DECIMALS);
}

/** Writes numbers that are added with as many decimals as it takes for what is shown to add up; as in Python. */
export function addingUp(parts: readonly number[], total: number): (x: number) => string {
  for (let decimals = DECIMALS; decimals <= MOST_DECIMALS; decimals++) {
    const [sum, ...shown] = [total, ...parts].map((x) => text(x, decimals));
    if ([sum!, ...shown].some((each) => /[en]/.test(each))) break; // powers of ten, inf or nan: no choice of decimals helps
    const whole = (each: string) => Math.round(Number(each) * 10 ** decimals);
    if (shown.reduce((so, each) => so + whole(each), 0) === whole(sum!)) return (x) => written(x, decimals);
  }
  return readable;
}

const [DECIMALS, MOST_DECIMALS] = [4, 9] as const;

const written = (x: number, decimals: number): string => text(x, decimals).replaceAll("-", "−");

function text(x: number, decimals: number): string {
  if (x === 0) return "0";
  if (!Number.isFinite(x)) return special(x);
  const size = Math.abs(x);
  if (size >= 0.001 && size < 1e6) return cut(fixed(x, decimals));
  if (size < 1e15 && Number.isInteger(x)) return String(x);
  const [digits, power] = x.toExponential(3).split("e");
  return `${cut(digits!)}e${Number(power)}`;
}

const special = (x: number): string => (Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf");

const cut = (digits: string): string => digits.replace(/\.?0+$/, "");

/** So many decimals; a number exactly between two goes to the even one, as in Python, where JavaScript rounds it up. */
function fixed(x: number, decimals: number): string {
  const rounded = x.toFixed(decimals);
  const between = /^50*$/.test(Math.abs(x).toFixed(80).split(".")[1]!.slice(decimals));
  if (!between || Number(rounded.at(-1)) % 2 === 0) return rounded;
  return (x - (Math.sign(x) * 0.5) / 10 ** decimals).toFixed(decimals);
}

/** Every digit that there is. */
export function exact(x: number): string {
  return (Number.isFinite(x) ? String(x) : special(x)).replaceAll("-", "−");
}
