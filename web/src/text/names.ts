/** Labels as people can read them. */

const LONGEST = 40;

/** One line, not endless: as in Python's sentences. */
export function clean(name: string): string {
  const text = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** What fits into so many letters; of a long name the beginning and the end, for they differ. */
export function fitted(name: string, letters: number): string {
  const text = clean(name);
  if (text.length <= letters) return text;
  const head = Math.max(1, Math.ceil((letters - 1) * 0.6));
  return `${text.slice(0, head)}…${text.slice(text.length - Math.max(0, letters - 1 - head))}`;
}

const INFIX: Record<string, string> = {"+": "+", "*": "×", "-": "−", "/": "/", "@": "@"};

/** An operation as a person writes it: a × b, tanh(n), x**2. */
export function written(op: string, parts: string[]): string {
  const guarded = parts.map((part) => (part.startsWith("−") ? `(${part})` : part));
  if (op === "neg") return `−${guarded[0]}`;
  if (op.startsWith("**")) return guarded.join("**") + (op.length > 2 ? op.replaceAll("-", "−") : "");
  const infix = INFIX[op];
  if (infix && parts.length === 2) return op === "-" || op === "/" ? `${parts[0]} ${infix} ${guarded[1]}` : parts.join(` ${infix} `);
  return `${op || "f"}(${parts.join(", ")})`;
}

/** A place in a tensor: [2, 0]. */
export const placeText = (place: readonly number[]): string => `[${place.join(", ")}]`;
