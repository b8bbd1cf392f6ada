import type {Schema} from "../types.ts";

export const schema: Schema = {
  fields: {},
  frame: "column",
  look: "habits",
};
