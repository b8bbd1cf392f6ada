import type {Generated, Schema} from "../types.ts";
import type {Material} from "./material.ts";

export type Props = {id: string; lesson: string; exercise: string};

const known = (generated: Generated): Material["exercises"] => (generated.exercises as Material | undefined)?.exercises ?? {};

export const schema: Schema = {
  fields: {exercise: {type: "text", required: true, choices: (generated) => Object.keys(known(generated))}},
  frame: "wide",
  says: ["exercises"],
  task: true,
};
