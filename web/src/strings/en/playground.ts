/** Every word of the visit-order playground. */
import {readable} from "../../text/numbers.ts";
import {code, lost, rich, type Rich} from "../../text/rich.ts";
import {listed} from "./lists.ts";

const standing = (leaf: string, holds: number | null, right: number): string =>
  `${leaf}.grad ${holds === null ? "holds nothing" : `= ${readable(holds)}`}, right is ${readable(right)}`;

export const playground = {
  name: "Your order",
  preset: "Graph",
  orderLabel: "Visit order, first to last",
  earlier: (name: string) => `Visit ${name} earlier`,
  later: (name: string) => `Visit ${name} later`,
  handle: (name: string, place: number, all: number) => `${place} ${name}, of ${all}. Drag it, or move it with the arrow keys.`,
  placed: (name: string, place: number, all: number) => `${name} is visited as number ${place} of ${all}.`,
  run: "Run all",
  step: "Step",
  shuffle: "Shuffle",
  search: "Show the search that finds an order",
  hideSearch: "Back to your order",
  guess: {title: "Guess first.", why: "Which contribution will be lost? Put the nodes in an order, then visit them all."},
  log: "What happened",
  underWay: "Each node passes on what it holds when its turn comes.",
  shouldArrive: "what should arrive",
  through: (name: string) => `through ${name}`,
  lostAt: (name: string) => `lost at ${name}`,
  moreLost: (count: number) => `And ${count} more.`,

  // --- the verdict ---
  wrong: (leaf: string, got: number | null, right: number) =>
    got === null ? `${leaf}.grad is still empty. Right is ${readable(right)}.` : `${leaf}.grad = ${readable(got)}. Right is ${readable(right)}.`,
  right: (leaf: string, got: number | null) => `${leaf}.grad = ${got === null ? "nothing" : readable(got)}. Nothing was lost.`,
  lucky: (leaf: string, got: number | null) => `${leaf}.grad = ${got === null ? "nothing" : readable(got)}. Right, but by luck.`,
  allRight: rich`Each node came after all that use it: every gradient is right.`,
  /** The same words as in Python, part by part. */
  lost: (loss: {name: string; users: string[]; held: number | null; amount: number; leaf: string; got: number | null; right: number}): Rich => {
    const {name, users, held, amount, leaf, got, right} = loss;
    const before = rich`${code(name)} was visited before ${listed(users)}: `;
    const what =
      held === null
        ? rich`it had nothing to pass on yet, so the ${lost(readable(amount))}`
        : rich`it had only ${readable(held)} to pass on yet, so another ${lost(readable(amount))}`;
    return rich`${before}${what} that goes through ${code(name)} never reached ${code(leaf)}; ${standing(leaf, got, right)}`;
  },
  firstOf: (count: number) => ` (the first of ${count} nodes where something went wrong)`,
  luck: (name: string, users: string[], leaf: boolean): Rich =>
    rich`Right, but only by luck: ${code(name)} was visited before ${listed(users)}, which ${users.length === 1 ? "pushes" : "push"} to it; ${
      leaf ? "a leaf pushes nothing itself" : "what came too late adds up to 0"
    }.`,

  // --- the log ---
  logLeaf: (name: string): Rich => rich`${code(name)} is a leaf. It has nothing to push.`,
  logNothing: (name: string): Rich => rich`${code(name)} holds nothing yet. Pushes nothing.`,
  logHolds: (name: string, held: number): Rich => rich`${code(name)} holds ${readable(held)}.`,
  logPush: (upstream: number, local: number, share: number, to: string): Rich => rich`${readable(upstream)} × ${readable(local)} = ${readable(share)} to ${code(to)}`,
  logPushes: (pushes: Rich[]): Rich => [" Pushes ", ...pushes.flatMap((push, i) => (i === 0 ? push : [i === pushes.length - 1 ? " and " : ", ", ...push])), "."],
  logLate: (names: string[]): Rich => rich` For ${listed(names)} that is too late.`,

  // --- the graph ---
  lostChip: (amount: number) => `${readable(amount)} lost`,
  lateChip: (amount: number) => `${readable(amount)}, too late`,
  graph: (title: string) => `The graph ${title}, with the place of each node in your order`,

  // --- the search ---
  searchTitle: "Depth-first search",
  searchStep: (k: number, all: number) => `Step ${k} of ${all}`,
  searchStart: rich`Go from the root towards the leaves. A node is written down once all of its operands have been.`,
  begin: (name: string): Rich => rich`Begin at ${code(name)}. First go through its operands.`,
  enter: (by: string, name: string, leaf: boolean): Rich => rich`${code(by)} uses ${code(name)}, which is new: ${leaf ? "nothing lies below it" : "go on below it"}.`,
  already: (by: string, name: string): Rich => rich`${code(by)} also uses ${code(name)}, which has been visited: go on.`,
  leave: (name: string, leaf: boolean, place: number): Rich =>
    leaf
      ? rich`${code(name)} uses nothing: write it down, as number ${String(place)}.`
      : rich`Every operand of ${code(name)} is written down: now write ${code(name)}, as number ${String(place)}.`,
  path: "on the way",
  written: "written down",
  nothingYet: "nothing yet",
  back: "Back",
  next: "Next",
  toTheEnd: "To the end",
  reversed: rich`Read the list backwards, and every node comes after all the nodes that use it.`,
  useIt: "Use this order",
};
