import {habits as words} from "../../strings/en/habits.ts";
import type {Schema} from "../types.ts";

export const schema: Schema = {
  fields: {},
  height: () => [400, 413, 195],
  fallback: () => words.fallback,
  frame: "column",
};
