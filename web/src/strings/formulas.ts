/** Formulas that a step shows: they read the same in every language. */

/** Where the local derivative of an op comes from: in terms of its operands' names and its own. */
export const SLOPES: Record<string, (position: number, names: string[], out: string) => string> = {
  tanh: (_: number, _names: string[], out: string) => `1 − ${out}²`,
  exp: (_: number, _names: string[], out: string) => out,
  log: (_: number, [x]: string[]) => `1 / ${x}`,
  sqrt: (_: number, _names: string[], out: string) => `1 / (2·${out})`,
  sigmoid: (_: number, _names: string[], out: string) => `${out}·(1 − ${out})`,
  sin: (_: number, [x]: string[]) => `cos ${x}`,
  cos: (_: number, [x]: string[]) => `−sin ${x}`,
  "/": (position: number, [x, y]: string[]) => (position === 0 ? `1 / ${y}` : `−${x} / ${y}²`),
  "**2": (_: number, [x]: string[]) => `2·${x}`,
  "**3": (_: number, [x]: string[]) => `3·${x}²`,
  "**-1": (_: number, [x]: string[]) => `−1 / ${x}²`,
};
