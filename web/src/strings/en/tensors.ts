/** Every word of a walk over tensors. Its sentences are those of Python (`gradwalk.walk.many_sentences`); a test holds one to the other. */
import {code, rich, type Rich} from "../../text/rich.ts";

type Back = (g: Rich, to: Rich) => Rich;

const and = (parts: string[]): string => parts.join(" and ");

/** `b`, `b` and `c`, `b`, `c` and 7 others. */
const listed = (names: string[], most = 4): Rich => {
  const shown = names.length > most ? names.slice(0, most - 1) : names;
  const others = names.length > most ? [`${names.length - most + 1} others`] : [];
  const parts = [...shown.map((name): Rich => [code(name)]), ...others.map((text): Rich => [text])];
  return parts.flatMap((part, i) => [...(i === 0 ? [] : [i === parts.length - 1 ? " and " : ", "]), ...part]);
};

export const tensors = {
  ready: rich`The leaves have their numbers. Nothing else is computed yet. Press Step to fill in the first node.`,
  ofShape: (shape: string) => `of shape ${shape}`,
  computed: (name: string, from: Rich) => rich`${code(name)} is ${from}`,
  byNumber: ", number by number",
  repeated: (shapes: string[]) => ` (${and(shapes)} repeated to fit)`,
  fromShapes: (shapes: string[]) => `, from ${and(shapes)}`,
  result: (value: string) => `: ${value}.`,
  seeded: (name: string, value: string): Rich =>
    value === "1"
      ? rich`Begin at ${code(name)}, the root: it changes as fast as itself, so its gradient is 1.`
      : rich`Begin at ${code(name)}, the root: its gradient is set to ${value}.`,
  gradIs: (name: string, value: string, shape: boolean) => (shape ? `${name}.grad, ${value},` : `${name}.grad = ${value}`),
  visitRoot: (name: string, grad: string): Rich => rich`${code(name)} is the root: ${grad} is final.`,
  visitOne: (name: string, user: string, grad: string): Rich => rich`${code(user)}, the only node that uses ${code(name)}, has pushed: ${grad} is final.`,
  visitAll: (name: string, users: string[], grad: string): Rich => rich`All that use ${code(name)}, ${listed(users)}, have pushed: ${grad} is final.`,
  visitNothing: (name: string): Rich => rich`Nothing was pushed to ${code(name)}, so it has nothing to pass on.`,
  hooked: (arrived: string) => ` A hook turned ${arrived} into that.`,
  leaf: " A leaf pushes nothing.",
  upstream: (name: string, value: string) => `${name}.grad, ${value},`,
  /** What the way back of an op on structure does with the upstream gradient for an operand. */
  back: {
    sum: (g, to) => rich`sum copies: ${g} goes to every number of ${to} that was added`,
    max: (g, to) => rich`max chooses: ${g} goes to the numbers of ${to} that were the largest, and 0 to the others`,
    reshape: (g, to) => rich`reshape only moves numbers: ${g} goes back to ${to} in its own shape`,
    permute: (g, to) => rich`permute only moves numbers: ${g} goes back to ${to} with its axes in the old order`,
    expand: (g, to) => rich`expand repeats: ${g} holds one gradient for each copy, and they are summed for ${to}`,
    index: (g, to) => rich`index takes numbers: ${g} goes back to where they were in ${to}, and adds up where one was taken twice`,
    add_at: (g, to) => rich`the numbers of ${to} were added at places: each gets what ${g} holds at its place`,
    cat: (g, to) => rich`cat puts parts side by side: ${to} gets the part of ${g} that is its own`,
    pad: (g, to) => rich`pad adds numbers around: ${to} gets the part of ${g} that is its own`,
    cumsum: (g, to) => rich`cumsum adds up along the way: each number of ${to} gets the sum of ${g} from its place on`,
    "@": (g, to) => rich`@ multiplies by the other factor: each number of ${to} gets ${g} times what it was multiplied with, summed`,
    einsum: (g, to) => rich`einsum multiplies by the other factors: each number of ${to} gets ${g} times what it was multiplied with, summed`,
    of: (g, to) => rich`each Value has one number here: ${to} gets the one of ${g} that is its own`,
    to: (g, to) => rich`only the dtype changes: ${g} goes to ${to} as it is`,
  } as Record<string, Back>,
  summed: (from: string, to: string) => `; it was repeated from ${from} to ${to}, so what comes back is summed`,
  copies: (sign: string, g: Rich, to: Rich, summed: string): Rich => rich`${sign} copies: ${g} goes to ${to}${summed || " as it is"}.`,
  turns: (g: Rich, to: Rich, summed: string): Rich => rich`− flips the sign: ${to} gets −${g} number by number${summed}.`,
  swaps: (g: Rich, to: Rich, factor: Rich, summed: string): Rich => rich`× swaps and scales: ${to} gets ${g} times the other factor, ${factor}, number by number${summed}.`,
  slope: (op: string, g: Rich, to: Rich, summed: string): Rich => rich`${op} multiplies each number by its slope: ${to} gets ${g} times that${summed}.`,
  firstShape: (name: string, shape: string) => ` Before it had nothing; now ${name}.grad holds numbers of shape ${shape}.`,
  first: (name: string, after: string) => ` Before it had nothing; now ${name}.grad = ${after}.`,
  addedShape: (name: string) => ` That is added to what ${name}.grad had before, number by number.`,
  added: (name: string, before: string, share: string, after: string) => ` Before it had ${before}; now ${share} is added: ${name}.grad = ${after}.`,
  through: (op: string) => `, back through ${op}:`,
  /** How a node's numbers are read aloud. */
  spoken: (name: string, kind: "data" | "grad", words: string) => `${name} ${kind}: ${words}.`,

  // --- the legend ---
  below: "below 0",
  above: "above 0",
  odd: "nan or inf",
  scale: "each map has its own scale; 0 is in the middle",

  // --- the numbers of one tensor ---
  cells: (name: string) => `The numbers of ${name}`,
  close: "Close",
  axis: (axis: number, last: number) => `dim ${axis}, 0 to ${last}`,
  moves: "Arrow keys move from number to number.",
  gradOf: (at: string, value: string) => `gradient of ${at}: ${value}`,
  noGrad: "no gradient yet",
  constant: "a constant: no gradient flows to it",
  unknown: "too many numbers to send: only their colours are here",
  sampled: "Of so many numbers only some are shown. Type a place to reach any other.",
  faces: (name: string, left: string, above: string) => `${name} as a matrix product: ${left} at the left, ${above} above, one row and one column lit`,
  more: (n: number) => `… ${n} more …`,
  stepInto: (at: string) => `Step through the graph of ${at}`,
  opening: "Computing its graph.",
  leave: "Back to the tensors",
  opened: (root: string, at: string) => `${root}, as far as ${at} counts`,
  openedNote: "Every other number is a constant here.",
  notInFile: "This file holds the graphs of some single numbers only, and this is not one of them. In a notebook, gradwalk.walk_widget(loss) opens every one.",
  needsPython: "Python could not be loaded, so the graph of one number cannot be computed.",
};
