import {versions as words} from "../../strings/en/versions.ts";
import type {Generated, Schema} from "../types.ts";
import {folded, type Version} from "./folds.ts";

/** What the lesson says of a version: its file, a name, and the reason. */
export type Told = {file: string; name: string; why: string};
export type Props = {id: string; lesson: string; show: Told[]};

const known = (generated: Generated): Version[] => (generated.versions as Version[] | undefined) ?? [];

export const schema: Schema = {
  fields: {
    show: {
      type: "records",
      required: true,
      fields: {
        file: {type: "text", required: true, choices: (generated) => known(generated).map(({name}) => name)},
        name: {type: "text", required: true},
        why: {type: "markdown", required: true},
      },
    },
  },
  height: ({show}: Props, generated) => {
    const version = known(generated).find(({name}) => name === show[0]?.file);
    if (!version) return [900, 800, 600];
    const shown = folded(version.lines);
    const code = shown.reduce((sum, {kind, lines}) => sum + (kind === "fold" ? 32 : lines.length * 22.4), 32);
    const demo = version.demo.split("\n").length * 22.4 + 32;
    const why = (across: number) => 64 + Math.ceil((show[0]!.why.length / across) * 25);
    const beside = why(52) + demo + 220;
    return [100 + code * 1.15 + why(42) + demo + 240, 70 + code + why(80) + demo + 210, 70 + Math.max(code + 48, beside)];
  },
  fallback: ({show}: Props) => words.fallback(show.map(({name}) => name).join(", ")),
  frame: "wide",
  task: true,
};
