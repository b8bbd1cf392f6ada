import {slope as words} from "../../strings/en/slope.ts";
import type {Schema} from "../types.ts";

export type Props = {id: string; lesson: string; function: "parabola" | "product-plus"; view: "secant" | "error"};

export const schema: Schema = {
  fields: {
    function: {type: "text", choices: ["parabola", "product-plus"], required: true},
    view: {type: "text", choices: ["secant", "error"], default: "secant"},
  },
  height: (props: Props) => (props.view === "error" ? [742, 690, 400] : props.function === "product-plus" ? [850, 761, 425] : [796, 744, 400]),
  fallback: () => words.fallback,
  frame: "wide",
};
