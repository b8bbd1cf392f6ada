import {times as words} from "../../strings/en/times.ts";
import type {Generated, Schema} from "../types.ts";
import {groups} from "./scale.ts";

/** As builder/times.mjs makes it from benchmarks/results. */
export type Bar = {who: string; how: string; seconds: number; ours: boolean};
export type Times = {machine: Record<string, string> | null; measured: {eager: boolean; compiled: boolean}; bars: Record<string, Bar[]>};
export type Props = {id: string; lesson: string; of: string};

const known = (generated: Generated): Record<string, Bar[]> => (generated.times as Times | undefined)?.bars ?? {};

export const schema: Schema = {
  fields: {of: {type: "text", required: true, choices: (generated) => Object.keys(known(generated))}},
  height: ({of}: Props, generated) => {
    const bars = known(generated)[of] ?? [];
    const more = Math.max(0, groups(bars).length - 1);
    const plain = bars.filter(({seconds}) => bars[0]!.seconds / seconds <= 1.15).length; // without a ratio under them
    const wide = 107 + bars.length * 52 - plain * 18 + more * 57;
    return [98 + bars.length * 79 + more * 48, wide, wide];
  },
  fallback: ({of}: Props) => words.fallback(words.captions[of] ?? of),
  frame: "wide",
};
