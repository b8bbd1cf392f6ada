import {training as words} from "../../strings/en/training.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string};

export const schema: Schema = {
  fields: {},
  height: () => [1046, 1154, 580],
  fallback: () => words.fallback,
  frame: "wide",
};
