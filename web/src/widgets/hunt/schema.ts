import type {Generated, Schema} from "../types.ts";
import type {Material} from "./material.ts";

export type Props = {id: string; lesson: string; set: string; counts: boolean};

const known = (generated: Generated): Partial<Material> => (generated.hunt as Material | undefined) ?? {};

export const schema: Schema = {
  fields: {
    set: {type: "text", required: true, choices: (generated) => [...Object.keys(known(generated).sets ?? {}), "practice"]},
    counts: {type: "flag", default: true},
  },
  frame: "wide",
  says: ["exercises", "hunt", "grader"],
  task: ({counts}: Props) => counts,
};
