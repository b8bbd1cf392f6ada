/** Numbers as people type them, and whether they are the answer. No browser in here: the build uses it too. */

/** `also`: 14,003 is fourteen thousand and three here, and fourteen and a bit there. */
export type Reading = {kind: "number"; value: number; also?: number} | {kind: "nothing"} | {kind: "over zero"} | {kind: "unreadable"};

const VULGAR: Record<string, string> = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8"};
const THOUSANDS = /^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;
const DECIMAL = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/;

/** `1.5`, `−1.5`, `3/2`, `-3 / 2`, `1,5`, `33,554,432`, `½`, `1e-3`, `x = 2`. */
export function read(text: string): Reading {
  const plain = text
    .normalize("NFKC") // figures and signs of other widths; ½ becomes 1⁄2
    .replace(/[½⅓⅔¼¾⅕⅛]/g, (sign) => VULGAR[sign]!)
    .replace(/[−–—‐‑]/g, "-")
    .replace(/[⁄÷]/g, "/")
    .replace(/^[^=]*=/, "")
    .replace(/\s+/g, "")
    .toLowerCase();
  if (plain === "") return {kind: "nothing"};
  const [above, below, ...more] = plain.split("/").map(decimal);
  if (above === undefined || more.length > 0 || (plain.includes("/") && below === undefined)) return {kind: "unreadable"};
  if (below === 0) return {kind: "over zero"};
  const value = above / (below ?? 1);
  if (!Number.isFinite(value)) return {kind: "unreadable"};
  return /^[-+]?[1-9]\d{0,2},\d{3}$/.test(plain) ? {kind: "number", value, also: Number(plain.replace(",", "."))} : {kind: "number", value};
}

function decimal(text: string): number | undefined {
  const plain = THOUSANDS.test(text) ? text.replaceAll(",", "") : text.replace(/^([-+]?\d*),(\d+)$/, "$1.$2");
  return DECIMAL.test(plain) ? Number(plain) : undefined;
}

/** The number that a lesson's author wrote. */
export function number(text: string): number {
  const reading = read(text);
  if (reading.kind !== "number") throw new Error(`"${text}" is no number`);
  return reading.value;
}

export type Known = {value: string; why: string};
export type Judgement = {kind: "right"} | {kind: "known"; why: string} | {kind: "sign"} | {kind: "other"};

/** Which of its two meanings a number has: the one that the question knows something about. */
export function meant(reading: Reading & {kind: "number"}, answer: string, wrong: readonly Known[], within?: number): number {
  const {value, also} = reading;
  const knows = (x: number) => ["right", "known"].includes(judge(x, answer, wrong, within).kind);
  return also !== undefined && !knows(value) && knows(also) ? also : value;
}

/** Whether a number is the answer, or a wrong one that the lesson has words for. */
export function judge(value: number, answer: string, wrong: readonly Known[], within?: number): Judgement {
  const right = number(answer);
  const near = (one: number, other: number) => Math.abs(one - other) <= (within ?? 1e-6 * Math.max(1, Math.abs(other)));
  if (near(value, right)) return {kind: "right"};
  // the nearest of the known ones, for a tolerance may reach two
  const known = wrong
    .filter((item) => near(value, number(item.value)))
    .sort((one, other) => Math.abs(value - number(one.value)) - Math.abs(value - number(other.value)))[0];
  if (known) return {kind: "known", why: known.why};
  return right !== 0 && near(-value, right) ? {kind: "sign"} : {kind: "other"};
}
