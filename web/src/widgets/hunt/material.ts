/** What Python knows of a case (gradwalk.learn.page.hunting), and what a learner has done about it. */
import type {Graph, Layout, Num} from "../../python/schema.ts";

export type HuntEvent = {
  kind: "compute" | "seed" | "visit" | "push" | "write";
  node: number;
  operand: number | null;
  position: number | null;
  slot: "data" | "grad";
  upstream: Num | null;
  before: Num | null;
  after: Num | null;
  line: number | null;
};
export type Wrong = {node: number; name: string; slot: "data" | "grad"; got: number; right: number};
export type Measured = {name: string; said: number; measured: number; ok: boolean};
export type Stopped = {kind: string; error: string; message: string; line: number | null; steps: number};
export type Check = {value: Measured | null; leaves: Measured[]; stopped: Stopped | null};
/** One walk of one engine, and what the instrument says; `engine` is its source where the text to mend is a program. */
export type Seen = {graph: Graph | null; events: HuntEvent[]; wrong: Wrong[]; check: Check; engine: string | null; layout: Layout | null};
export type Choice = {family: string; label: string; right: boolean; why: string};
export type Case = Seen & {
  name: string;
  title: string;
  where: "engine" | "program";
  program: string;
  text: string;
  mended: string;
  explanation: string;
  solution: string;
  hints: string[];
  choices: Choice[];
};
/** Of the rest of the museum only names and places are there from the start. */
export type Material = {sets: Record<string, string[]>; cases: Record<string, Case>; where: Record<string, Case["where"]>};

/** Under this name the learner's text and tries are kept, beside those of the exercises. */
export const keyOf = (name: string): string => `hunt:${name}`;
