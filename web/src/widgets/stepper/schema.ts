import {stepper as words} from "../../strings/en/stepper.ts";
import {sceneOf} from "../../graph/scene.ts";
import {leastWidth, place} from "../../graph/geometry.ts";
import type {Material, PresetEntry, TensorEntry} from "../../python/schema.ts";
import type {Generated, Schema} from "../types.ts";
import {ledgerHeight, sharedNodes} from "./contributions.ts";
import {SLIM} from "./slim.ts";

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
  height: (props: Props, generated) => {
    const entry = found(presets(generated), props.preset);
    if (!entry) return [900, 900, 760];
    const scene = sceneOf(entry);
    const {graph} = scene;
    const canvas = (width: number) => {
      const picture = place(graph, entry.layout, width);
      return picture.height + (picture.width > width ? 10 : 0);
    };
    const ledger = props.until === "end" && scene.kind === "numbers" ? ledgerHeight(sharedNodes(scene.recording)) : 0;
    const lines = (width: number) => 20 * Math.ceil((entry.text.length * 7.9) / width);
    const parts = ledger && ledger + 12;
    const beside = scene.kind === "numbers" && leastWidth(graph, entry.layout) <= SLIM;
    const above = beside ? Math.max(401, canvas(712) + 20 + parts) : canvas(1040) + 157 + (parts && 52);
    // what stands around the graph: the bar, the step, the walk line, the buttons, the legend
    return [
      canvas(330) + lines(330) + 690 + Math.max(0, ledger - 22),
      canvas(654) + lines(680) + 523 + parts,
      above + Math.max(0, lines(420) - 40) + 209,
    ];
  },
  fallback: ({preset}: Props, generated) => words.fallback(found(presets(generated), preset)?.title ?? preset),
  frame: "wide",
  check: ({at}: Props) => (Number.isInteger(at) && at >= 0 ? undefined : `"at" is the number of a step, and is ${at}`),
};
