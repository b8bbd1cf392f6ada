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

/** With a true minus sign. */
export const minus = (text: string): string => text.replaceAll("-", "−");

const written = (x: number, decimals: number): string => minus(text(x, decimals));

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
  return minus(Number.isFinite(x) ? String(x) : special(x));
}

/** No more digits than this, as a number: what comes after them is noise. */
export const rounded = (x: number, digits: number): number => Number(x.toPrecision(digits));

/** Up to seven digits, or as many as are asked for. */
export const digits = (x: number, most = 7): string => minus(String(rounded(x, most)));

/** Up to so many decimals. */
export const upTo = (x: number, decimals: number): string => minus(String(Number(x.toFixed(decimals))));

/** A count, its thousands apart. */
export const counted = (n: number): string => n.toLocaleString("en");

/** As `digits`, but a tiny number as a power of ten, as it is written by hand: 10⁻⁸. */
export function powers(x: number, most = 7): string {
  if (x === 0) return "0";
  const text = Math.abs(x) < 1e-4 ? x.toExponential(1).replace(/\.0(?=e)/, "") : String(rounded(x, most));
  return minus(text.replace(/e-(\d+)/, (_, n: string) => `·10⁻${superscript(n)}`).replace(/^1·/, ""));
}

const superscript = (digits: string) => [...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");

/** Six decimals at most; a very small or large number as a power of ten. */
export function answered(x: number): string {
  const size = Math.abs(x);
  return size !== 0 && (size < 0.001 || size >= 1e9) ? minus(x.toExponential(3)) : upTo(x, 6);
}
