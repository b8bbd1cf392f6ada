import {progress as words} from "../../strings/en/progress.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; scope: "lesson" | "course"};

export const schema: Schema = {
  fields: {scope: {type: "text", choices: ["lesson", "course"], default: "lesson"}},
  height: ({scope}: Props) => (scope === "course" ? [640, 520, 520] : [89, 73, 73]),
  fallback: () => words.fallback,
  frame: "column",
};
