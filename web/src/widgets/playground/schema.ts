import type {Options} from "../../graph/geometry.ts";
import type {Material, PresetEntry} from "../../python/schema.ts";
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
  frame: "wide",
  look: "order",
  check: ({preset, order}: Props, generated) => {
    const entry = presets(generated).find(({name}) => name === preset);
    if (!order || !entry) return undefined;
    const names = nodesOf(entry);
    const same = names.length === order.length && [...names].sort().join() === [...order].sort().join();
    return same ? undefined : `"order" lists each node of ${preset} once: ${names.join(", ")}`;
  },
};
