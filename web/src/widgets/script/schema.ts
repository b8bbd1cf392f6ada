import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; code: string};

export const schema: Schema = {
  fields: {code: {type: "block", required: true}},
  frame: "wide",
  look: "script",
};
