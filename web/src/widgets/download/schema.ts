import {download as words} from "../../strings/en/exercise.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; upTo: number};

export const schema: Schema = {
  fields: {"up-to": {type: "number", required: true}},
  height: ({upTo}: Props) => (upTo > 7 ? [555, 351, 263] : [330, 250, 210]),
  fallback: () => words.fallback,
  frame: "wide",
};
