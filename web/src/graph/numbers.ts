/** Numbers for people, as Python's `walk.readable` writes them, and with every digit for whoever points at one. */
import type {Num} from "./schema.ts";

const SPECIAL = {nan: NaN, inf: Infinity, "-inf": -Infinity} as const;

/** A number as JSON brings it. */
export const num = (x: Num): number => (typeof x === "number" ? x : SPECIAL[x]);

export const maybe = (x: Num | null): number | null => (x === null ? null : num(x));

/** Four decimals at most, a real minus sign, powers of ten where those would hide it. */
export function readable(x: number): string {
  return text(x).replaceAll("-", "−");
}

function text(x: number): string {
  if (x === 0) return "0";
  if (!Number.isFinite(x)) return special(x);
  const size = Math.abs(x);
  if (size >= 0.001 && size < 1e6) return cut(fixed(x));
  if (size < 1e15 && Number.isInteger(x)) return String(x);
  const [digits, power] = x.toExponential(3).split("e");
  return `${cut(digits!)}e${Number(power)}`;
}

const special = (x: number): string => (Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf");

const cut = (digits: string): string => digits.replace(/\.?0+$/, "");

/** Four decimals; a number exactly between two goes to the even one, as in Python, where JavaScript rounds it up. */
function fixed(x: number): string {
  const rounded = x.toFixed(4);
  const between = /\.\d{4}50*$/.test(Math.abs(x).toFixed(80));
  if (!between || Number(rounded.at(-1)) % 2 === 0) return rounded;
  return (x - Math.sign(x) * 0.00005).toFixed(4);
}

/** Every digit that there is. */
export function exact(x: number): string {
  return (Number.isFinite(x) ? String(x) : special(x)).replaceAll("-", "−");
}
