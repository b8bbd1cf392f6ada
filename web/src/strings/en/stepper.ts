/** Every word of the graph stepper. */
import {readable} from "../../text/numbers.ts";
import {code, em, op, rich, type Rich} from "../../text/rich.ts";
import {SLOPES} from "../formulas.ts";
import {listed} from "./lists.ts";

const COUNTS = ["no operands", "one operand", "two operands", "three operands"];
const operands = (n: number): string => COUNTS[n] ?? `${n} operands`;

export const stepper = {
  name: "Graph stepper",
  preset: "Preset",
  own: "Your own expression",
  graph: (title: string) => `The graph of ${title}`,
  ownTitle: "your program",

  // --- the controls ---
  reset: "Reset",
  back: "Back",
  stepBack: "Step back",
  play: "Play",
  pause: "Pause",
  step: "Step",
  toTheEnd: "To the end",
  runToTheEnd: "Run to the end",
  startBackward: "Start backward",
  speed: "Speed",
  speeds: {0.5: "0.5×", 1: "1×", 2: "2×", 4: "4×"} as Record<number, string>,
  count: (k: number, all: number) => [`Step `, String(k), ` of ${all}`] as const,
  walk: "Walk, step by step",
  keys: {step: "step", play: "play", space: "Space"},

  // --- groups of the walk line ---
  forward: "forward",
  seed: "seed",

  // --- what a step says ---
  ready: {
    where: "Ready",
    sentence: rich`The leaves have their data. Nothing else is computed yet. Press Step to fill in the first node.`,
    nothing: rich`A leaf alone: there is nothing to compute. Press Step to seed it.`,
  },
  phases: {compute: "Forward", seed: "Seed", backward: "Backward"},
  visitingNode: (name: string) => `visiting ${name}`,
  pushOf: (name: string, n: number, all: number) => `visiting ${name}, push ${n} of ${all}`,
  computed: (name: string, from: Rich, count: number): Rich =>
    rich`${code(name)} is ${from}. ${count > 1 ? "Its operands are" : "Its operand is"} known, so it can be computed.`,
  seeded: (name: string): Rich => rich`${code(name)} is the root. Move it a little, and it moves by exactly that much. So its gradient is 1.`,
  visitRoot: (name: string, n: number): Rich => rich`${code(name)} is the root: nothing uses it, so its gradient is final. Now it pushes to its ${operands(n)}.`,
  visit: (name: string, n: number): Rich =>
    rich`Every node that uses ${code(name)} has pushed to it, so its gradient is final. Now it pushes to its ${operands(n)}.`,
  plus: (sign: string, to: string, from: string): Rich => rich`${op(sign)} copies. ${code(to)} receives what ${code(from)} has, unchanged.`,
  times: (sign: string, to: string, from: string, other: Rich): Rich =>
    rich`${op(sign)} swaps. ${code(to)} receives the gradient of ${code(from)}, scaled by the ${em("other")} operand, ${other}.`,
  square: (sign: string, to: string, from: string): Rich =>
    rich`${op(sign)} swaps. ${code(to)} receives the gradient of ${code(from)}, scaled by the ${em("other")} operand, which is ${code(to)} again.`,
  minus: (sign: string, to: string, from: string, turned: boolean): Rich =>
    turned
      ? rich`${op(sign)} flips the sign. ${code(to)} receives minus what ${code(from)} has.`
      : rich`${op(sign)} copies to its first operand. ${code(to)} receives what ${code(from)} has, unchanged.`,
  slope: (sign: string, rule: string, local: number): Rich =>
    rich`${op(sign)} multiplies by its slope. Here that is ${rule ? `${rule} = ` : ""}${readable(local)}.`,
  adds: (name: string, before: string): Rich => rich` ${code(name)} already had ${before}: the two add up.`,
  /** What happens seldom: with data that was changed, hooks, closures of one's own, paths that lead nowhere. */
  moved: (name: string, from: Rich, value: string, now: string): Rich =>
    rich`${code(name)} is ${from}, and was computed as ${value}. An operand was changed after that: with its new number it would be ${now}.`,
  seededWith: (name: string, value: string): Rich => rich`${code(name)} is the root. Its gradient is set to ${value}.`,
  again: (name: string, turn: number, value: string | null): Rich =>
    value === null ? rich`${code(name)} is visited again (visit ${String(turn)}).` : rich`${code(name)} is visited again (visit ${String(turn)}): it pushes all it holds, ${value}, once more.`,
  tooEarly: (name: string, waiting: string[], leaf: boolean): Rich =>
    rich`${leaf ? rich`Nothing has reached ${code(name)} yet` : rich`${code(name)} has nothing to pass on yet`}: ${listed(waiting)}, which ${waiting.length === 1 ? "uses it, has" : "use it, have"} not been visited.`,
  soFar: (name: string, value: string, waiting: string[]): Rich =>
    rich`${code(name)} holds ${value} so far: ${listed(waiting)}, which ${waiting.length === 1 ? "uses it, has" : "use it, have"} not pushed yet.`,
  nothingPushed: (name: string): Rich => rich`Nothing was pushed to ${code(name)}, so it has nothing to pass on.`,
  rootAlone: (name: string): Rich => rich`${code(name)} is the root: its gradient is final.`,
  allPushed: (name: string): Rich => rich`Every node that uses ${code(name)} has pushed to it, so its gradient is final.`,
  hooked: (before: string, after: string): Rich => rich` A hook turned the ${before} that arrived into ${after}.`,
  leafPushes: " A leaf pushes nothing.",
  ownBackward: (from: string, upstream: string, share: string, to: string): Rich => rich`The ${code("_backward")} of ${code(from)} turns its gradient, ${upstream}, into ${share} for ${code(to)}.`,
  replaces: (name: string, before: string, after: string): Rich => rich` ${code(name)} already had ${before}, which is replaced by ${after}; ${code("+=")} would add up.`,
  always1: "always 1",
  alwaysMinus1: "always −1",
  /** Where the local derivative of an op comes from: in terms of its operands' names and its own. */
  slopes: SLOPES,
  empty: "empty",
  before: "before",
  after: "after",
  /** The numbers of a step, as they are spoken after its sentence. */
  spokenStep: (k: number, all: number, where: string, sentence: string, numbers: string) => `Step ${k} of ${all}. ${where}. ${sentence} ${numbers}`.trim(),
  spokenCompute: (name: string, value: string) => `${name} data is ${value}.`,
  spokenSeed: (name: string, value: string) => `${name} grad is ${value}.`,
  spokenPush: (upstream: string, local: string, share: string, name: string, before: string | null, after: string) =>
    `${upstream} times ${local} is ${share}. ${name} grad ${before === null ? "was empty" : `was ${before}`}, is now ${after}.`,

  // --- several contributions to one gradient ---
  contributions: (n: number) => (n === 2 ? "two contributions" : n === 3 ? "three contributions" : `${n} contributions`),
  through: (name: string) => `through ${name}`,
  toCome: "to come",

  // --- the leaves ---
  leaves: "Change the leaves",
  leavesNote: "everything is recomputed as you type",
  leafValue: (name: string) => `${name}, number`,
  leafSlide: (name: string) => `${name}, slider`,
  leavesBack: "Reset the leaves",
  waiting: (percent: number) => `Python is still loading (${percent}%). Your numbers run as soon as it is there.`,
  notANumber: (name: string) => `${name} needs a number, such as 2, -0.5 or 1e-3.`,

  // --- your own program ---
  editor: "Your program",
  hint: "Any lines of Python with Values or Tensors. The last one is the root.",
  hintShort: rich`Short forms work too: ${code("L = tanh(a*b + c)")}. A name without a number starts at 1.`,
  draw: "Draw it",
  drawKey: "Ctrl ↵",
  stop: "Stop",
  drawing: "Running your program.",
  loading: (percent: number) => `Python is still loading (${percent}%). Your program will draw itself when it is ready.`,
  failed: "Python could not be loaded, so your own programs cannot run. The presets still work.",
  fromLink: {title: "This program came with a link.", why: "Nothing has run. Read it, then press Draw it."},
  badLink: {title: "This link cannot be read.", why: "Part of it may be missing."},
  tooLong: (seconds: number) => `It was stopped after ${seconds} seconds. Is there a loop that never ends?`,
  stopped: "You stopped it.",
  tooDeep: "It nested so deeply that Python had to be started again. Does a function lead back to itself?",
  onLine: (line: number) => `Line ${line}`,
  assumed: (names: string[]) =>
    names.length > 1 ? `${names.join(", ")} had no number: they start at 1. Change them below.` : `${names[0]} had no number: it starts at 1. Change it below.`,
  drawn: (n: number) => `Drawn: a graph with ${n} nodes. Step through it below.`,
  printed: "It printed",
  changed: "You have changed the program since it was drawn.",
  starter: "a = Value(2.0, label='a')\nb = Value(-3.0, label='b')\nd = a * b + a.tanh()\nd.label = 'd'\nd\n",

  // --- tools ---
  copyLink: "Copy link",
  copied: "Link copied",
  copyThis: "Copy this link",
  saveSvg: "Save SVG",
  saved: "Saved",
};
