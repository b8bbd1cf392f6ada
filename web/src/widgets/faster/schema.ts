import type {Schema} from "../types.ts";

/** As gradwalk.learn.page.rolling and web/recorded/rolled.py give it. */
export type Picture = {side: number; rows: string[]; cuts: number[]};
export type Step = {what: string; shape: number[]; nodes: number; parameters: number};
export type Rolled = {
  nodes: number;
  leaves: number;
  tape: string[];
  levels: number[];
  steps: Step[];
  /** From a step, to a step, how many numbers. */
  flows: number[][];
  pictures: {tape: Picture; levels: Picture; steps: Picture};
};
export type Source = "own" | "moons" | "gpt";
export type Props = {id: string; lesson: string; source: Source; stage: number};

export const schema: Schema = {
  fields: {source: {type: "text", default: "own", choices: ["own", "moons", "gpt"]}, stage: {type: "number", default: 1}},
  check: ({stage}: Props) => (Number.isInteger(stage) && stage >= 1 && stage <= 4 ? undefined : `"stage" is 1, 2, 3 or 4`),
  frame: "wide",
  look: "faster",
};
