import {script as words} from "../../strings/en/script.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; code: string};

export const schema: Schema = {
  fields: {code: {type: "block", required: true}},
  height: ({code}: Props) => {
    const editor = (code.split("\n").length + 1) * 22.1 + 17;
    return [editor + 68 + 112, editor + 64 + 112, editor + 64 + 112];
  },
  fallback: ({code}: Props) => words.fallback(code),
  frame: "wide",
};
