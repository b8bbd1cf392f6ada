import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; upTo: number};

export const schema: Schema = {
  fields: {"up-to": {type: "number", required: true}},
  frame: "wide",
  says: ["exercises", "grader"],
};
