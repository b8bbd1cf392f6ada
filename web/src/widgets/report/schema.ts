import {report as words} from "../../strings/en/report.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; upTo: number};

export const schema: Schema = {
  fields: {"up-to": {type: "number", required: true}},
  height: () => [191, 127, 103],
  fallback: () => words.fallback,
  frame: "wide",
  english: "src/gradwalk/diagnose",
};
