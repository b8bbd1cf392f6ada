/** The presets with their walks, recorded by Python and laid out when the site was built: they step at once. */
import layouts from "#generated/layouts.json";
import recordings from "#generated/recordings.json";
import {drawn, type DrawnGraph} from "./model.ts";
import type {Layout} from "./layout.ts";
import type {Graph, Material, PresetEntry, Recording} from "./schema.ts";
import {presets as words} from "../strings/en/presets.ts";

export const presets: PresetEntry[] = (recordings as unknown as Material).presets.map((entry) => ({...entry, title: words.titles[entry.name] ?? entry.title}));

export const presetOf = (name: string): PresetEntry | undefined => presets.find((entry) => entry.name === name || entry.title === name);

export const layoutOf = (name: string): Layout => (layouts as unknown as Record<string, Layout>)[name]!;

/** A recording ready to be drawn. */
export type Scene = {recording: Recording; graph: DrawnGraph; layout: Layout};

export const presetScene = (entry: PresetEntry): Scene => ({recording: entry.recording, graph: drawn(entry.recording.graph), layout: layoutOf(entry.name)});

/** Lay out any recording; the same graph with other numbers keeps its places. */
export async function sceneOf(recording: Recording, before?: Scene): Promise<Scene> {
  const graph = drawn(recording.graph);
  if (before && shape(before.recording.graph) === shape(recording.graph)) return {recording, graph, layout: before.layout};
  const {layOut} = await import("./layout.ts");
  const layout = layOut(graph);
  await new Promise((done) => setTimeout(done)); // let the page breathe before it draws
  return {recording, graph, layout};
}

const shape = (graph: Graph): string => JSON.stringify(graph.nodes.map(({operands, constant}) => [operands, constant]));
