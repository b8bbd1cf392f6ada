import type {Schema} from "../types.ts";
import {read} from "./answer.ts";

/** A question with a number for an answer (`answer`, `wrong`), or a choice (`options`); `mode: predict` judges nothing. */
export type Props = {
  id: string;
  lesson: string;
  tag: "predict" | "check";
  mode: "judge" | "predict";
  ask: string;
  note?: string;
  answer?: string;
  within?: number;
  right?: string;
  wrong?: {value: string; why: string}[];
  other?: string;
  /** `id` is put in by the build: the same in every language, whatever the order. */
  options?: {id: string; text: string; right?: boolean; why?: string}[];
  after?: string;
};

export const schema: Schema = {
  fields: {
    tag: {type: "text", choices: ["predict", "check"], default: "check"},
    mode: {type: "text", choices: ["judge", "predict"], default: "judge"},
    ask: {type: "markdown", required: true},
    note: {type: "markdown"},
    answer: {type: "text"},
    within: {type: "number"},
    right: {type: "markdown"},
    wrong: {type: "records", fields: {value: {type: "text", required: true}, why: {type: "markdown", required: true}}},
    other: {type: "markdown"},
    options: {type: "records", fields: {text: {type: "markdown", required: true}, right: {type: "flag"}, why: {type: "markdown"}}},
    after: {type: "markdown"},
  },
  frame: "column",
  task: true,
  check,
};

function check(props: Props): string | undefined {
  const {answer, wrong = [], options = [], mode} = props;
  if ((answer === undefined) === (options.length === 0)) return 'a quiz has either "answer", a number, or "options", a choice';
  if (mode === "predict") return options.length < 2 ? '"mode: predict" needs two or more "options"' : undefined;
  if (answer !== undefined) {
    const bad = [answer, ...wrong.map(({value}) => value)].find((text) => read(text).kind !== "number");
    if (bad !== undefined) return `"${bad}" is no number`;
    return props.right === undefined ? '"right" is missing: what to say to the right answer' : undefined;
  }
  if (options.filter(({right}) => right).length !== 1) return 'exactly one of the "options" needs "right: yes"';
  return options.some(({why}) => why === undefined) ? 'each of the "options" needs a "why": what to say to whoever chooses it' : undefined;
}
