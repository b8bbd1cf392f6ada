import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; scope: "lesson" | "course"};

export const schema: Schema = {
  fields: {scope: {type: "text", choices: ["lesson", "course"], default: "lesson"}},
  frame: "column",
};
