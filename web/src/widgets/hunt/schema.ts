import {hunt as words} from "../../strings/en/hunt.ts";
import {drawn} from "../../graph/model.ts";
import {place} from "../../graph/geometry.ts";
import type {Generated, Schema} from "../types.ts";
import type {Material} from "./material.ts";

export type Props = {id: string; lesson: string; set: string; counts: boolean};

const known = (generated: Generated): Partial<Material> => (generated.hunt as Material | undefined) ?? {};

export const schema: Schema = {
  fields: {
    set: {type: "text", required: true, choices: (generated) => [...Object.keys(known(generated).sets ?? {}), "practice"]},
    counts: {type: "flag", default: true},
  },
  height: ({set}: Props, generated) => {
    const {sets, cases} = known(generated);
    const first = cases?.[sets?.[set]?.[0] ?? ""];
    if (!first?.graph || !first.layout) return [260, 225, 225];
    const [graph, layout] = [drawn(first.graph), first.layout];
    const canvas = (width: number) => place(graph, layout, width).height;
    const program = 22 * first.program.split("\n").length;
    return [canvas(330) + program + 1495, canvas(654) + program + 1408, canvas(600) + program + 1094];
  },
  fallback: () => words.fallback(4),
  frame: "wide",
  english: "src/gradwalk/diagnose/museum",
  task: ({counts}: Props) => counts,
};
