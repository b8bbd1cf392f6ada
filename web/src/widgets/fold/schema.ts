import {fold as words} from "../../strings/en/fold.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string};

export const schema: Schema = {
  fields: {},
  height: () => [924, 733, 713],
  fallback: () => words.fallback,
  frame: "wide",
};
