import type {Material, PresetEntry, TensorEntry} from "../../python/schema.ts";
import type {Generated, Schema} from "../types.ts";

export type Props = {id: string; lesson: string; preset: string; until: "forward" | "end"; at: number; own: boolean};

const presets = (generated: Generated): (PresetEntry | TensorEntry)[] => {
  const material = generated.recordings as Material | undefined;
  return material ? [...material.presets, ...material.tensors] : [];
};

/** By its name or its title. */
export const found = <Entry extends {name: string; title: string}>(all: Entry[], name: string): Entry | undefined => all.find((entry) => entry.name === name || entry.title === name);

export const schema: Schema = {
  fields: {
    preset: {type: "text", default: "neuron", choices: (generated) => presets(generated).flatMap(({name, title}) => [name, title])},
    until: {type: "text", default: "end", choices: ["forward", "end"]},
    at: {type: "number", default: 0},
    own: {type: "flag", default: false},
  },
  frame: "wide",
  look: "stepper",
  check: ({at}: Props) => (Number.isInteger(at) && at >= 0 ? undefined : `"at" is the number of a step, and is ${at}`),
};
