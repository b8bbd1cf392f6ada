import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string};

export const schema: Schema = {
  fields: {},
  frame: "wide",
  look: "fold",
};
