import {place, type Options} from "../../graph/geometry.ts";
import {drawn} from "../../graph/model.ts";
import type {Material, PresetEntry} from "../../python/schema.ts";
import {playground as words} from "../../strings/en/playground.ts";
import type {Generated, Schema} from "../types.ts";

export type Props = {id: string; lesson: string; preset: string; order?: string[]};

const presets = (generated: Generated): PresetEntry[] => (generated.recordings as Material | undefined)?.presets ?? [];
const nodesOf = (entry: PresetEntry): string[] => entry.recording.graph.nodes.filter((node) => !node.constant).map((node) => node.name);

/** The playground's graph has half the width, and longer words on its edges. */
export const OPTIONS: Options = {air: 18};

export const schema: Schema = {
  fields: {
    preset: {type: "text", default: "diamond", choices: (generated) => presets(generated).map(({name}) => name)},
    order: {type: "words"},
  },
  height: ({preset}: Props, generated) => {
    const entry = presets(generated).find(({name}) => name === preset);
    if (!entry) return [1100, 1000, 520];
    const graph = drawn(entry.recording.graph);
    const count = nodesOf(entry).length;
    const canvas = (width: number) => place(graph, entry.layout, width, OPTIONS).height + 28;
    const strip = (columns: number) => Math.ceil(count / columns) * 68;
    return [canvas(342) + count * 60 + 470, canvas(656) + strip(4) + 460, Math.max(canvas(548), 330) + strip(5) + 152];
  },
  fallback: ({preset}: Props, generated) => words.fallback(presets(generated).find(({name}) => name === preset)?.title ?? preset),
  frame: "wide",
  check: ({preset, order}: Props, generated) => {
    const entry = presets(generated).find(({name}) => name === preset);
    if (!order || !entry) return undefined;
    const names = nodesOf(entry);
    const same = names.length === order.length && [...names].sort().join() === [...order].sort().join();
    return same ? undefined : `"order" lists each node of ${preset} once: ${names.join(", ")}`;
  },
};
