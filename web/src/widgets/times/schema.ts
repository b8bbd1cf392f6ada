import type {Generated, Schema} from "../types.ts";

/** As builder/times.mjs makes it from benchmarks/results. */
export type Bar = {who: string; how: string; seconds: number; ours: boolean};
export type Times = {machine: Record<string, string> | null; measured: {eager: boolean; compiled: boolean}; bars: Record<string, Bar[]>};
export type Props = {id: string; lesson: string; of: string};

const known = (generated: Generated): Record<string, Bar[]> => (generated.times as Times | undefined)?.bars ?? {};

export const schema: Schema = {
  fields: {of: {type: "text", required: true, choices: (generated) => Object.keys(known(generated))}},
  frame: "wide",
};
