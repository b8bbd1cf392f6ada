import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; function: "parabola" | "product-plus"; view: "secant" | "error"};

export const schema: Schema = {
  fields: {
    function: {type: "text", choices: ["parabola", "product-plus"], required: true},
    view: {type: "text", choices: ["secant", "error"], default: "secant"},
  },
  frame: "wide",
};
