/** Every word of the hunt. What is wrong with an engine, and why it is not something else, comes from Python. */
import {code, rich, type Rich} from "../../text/rich.ts";

export const hunt = {
  cases: "Engines to hunt in",
  engine: (n: number) => `Engine ${n}`,
  program: (n: number) => `Program ${n}`,
  mended: "mended",
  named: "named, not mended yet",
  untouched: "not named yet",
  loading: "The engines are loading.",

  // --- the four stages ---
  stages: {watch: "Watch it", measure: "Measure it", name: "Name it", mend: "Mend it"},
  theProgram: "The program",
  source: {engine: "The engine’s own source", program: "The engine is right. The program is not."},
  sourceLine: (n: number) => `Line ${n}`,
  graph: "The program’s graph, with this engine’s numbers",
  noGraph: "There is nothing to draw here. Go on to measure it.",

  // --- what a step says ---
  ready: rich`The leaves have their numbers. Step through what ${"this"} engine does, and watch which line does it.`,
  computes: (name: string): Rich => rich`The engine computes ${code(name)}.`,
  seeds: (name: string): Rich => rich`The walk begins. ${code(name)} is the root, and its gradient is set to 1.`,
  turn: (name: string, held: string | null): Rich => (held === null ? rich`Now ${code(name)} is visited. Nothing has reached it yet.` : rich`Now ${code(name)} is visited. It holds ${held}.`),
  writes: (line: number | null, text: string): Rich => (line === null ? rich`The program itself writes this number.` : rich`Line ${String(line)} writes it: ${code(text)}.`),
  end: (wrong: number) => (wrong ? `The walk is over. ${wrong === 1 ? "One number is" : `${wrong} numbers are`} not what ${wrong === 1 ? "it" : "they"} should be. The right ${wrong === 1 ? "one is" : "ones are"} shown below.` : "The walk is over."),
  endRight: "The walk is over, and every number is right.",
  raised: (error: string, line: number | null) => `The engine stops with ${error}${line ? ` on line ${line}` : ""}.`,
  endless: (steps: string) => `The engine did not finish. It was stopped after ${steps} steps.`,
  phases: {ready: "Ready", compute: "Forward", seed: "Seed", visit: "Backward", push: "Backward", write: "Change"} as Record<string, string>,
  was: " was ",
  nothing: "empty",
  is: ", is now",
  right: (number: string) => `right: ${number}`,
  spokenNumbers: (name: string, before: string | null, after: string) => `${name} was ${before ?? "empty"}, is now ${after}.`,

  // --- the instrument ---
  measure: "Nudge every leaf",
  measureWhy: "This moves each leaf a little up and a little down, runs the engine again, and sees how far the result moves. That is the slope, whatever the engine says.",
  columns: {leaf: "leaf", says: "the engine says", nudged: "nudging says"},
  checkColumns: {leaf: "", says: "it says", nudged: "right is"},
  value: (name: string) => `${name}, its value`,
  valueNote: "A value is compared with plain arithmetic.",
  agrees: "agrees",
  differs: "differs",
  allAgree: "Every gradient agrees with the nudge.",
  someDiffer: (n: number) => (n === 1 ? "One number differs." : `${n} numbers differ.`),

  // --- naming ---
  which: "Which bug is it?",
  check: "That is the one",
  nothingChosen: {title: "Nothing chosen yet.", why: "Choose one first."},
  miss: "It is not that one.",
  found: "That is it.",

  // --- mending ---
  mendFirst: "Name the bug first. Then the editor opens.",
  mendEngine: "Change the engine so that every check passes. It is the whole file, and you may change any line.",
  mendProgram: "Change the program so that its numbers are right.",
  editor: (what: string) => `${what}, to mend`,
  run: "Test it",
  before: "It will be tested with the grader’s own checks.",
  rewalk: "Walk it again",
  rewalked: "The walk above is now that of the code in the editor.",
  original: "Show the first walk again",
  explanation: "What it was",
  solution: "The remedy",
  next: "Next one",
  allDone: "All of these are mended.",
  solutionName: "this one",

  // --- practice ---
  practice: {
    title: "Practice",
    number: (seed: number) => `Engine no. ${seed}`,
    another: "Another one",
    drawing: "Drawing an engine.",
    loading: (percent: number) => `Python is loading, ${percent}%. Then an engine will be drawn.`,
    failed: "No engine could be drawn: Python did not load. Try again.",
    again: "Try again",
    link: "Copy link",
    copied: "Link copied",
    copyThis: "Copy this link",
    count: (n: number) => (n === 0 ? "None mended so far" : n === 1 ? "One mended so far" : `${n} mended so far`),
  },
};
