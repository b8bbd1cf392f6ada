import {names as words} from "../../strings/en/names.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string};

export const schema: Schema = {
  fields: {},
  height: () => [926, 838, 536],
  fallback: () => words.fallback,
  frame: "wide",
};
