/** The presets with their walks, recorded and laid out by Python when the site was built: they step at once. */
import recordings from "#generated/recordings.json";
import type {Material, PresetEntry, TensorEntry} from "../../python/schema.ts";
import {presets as words} from "../../strings/en/presets.ts";

const material = recordings as unknown as Material;
const titled = <Entry extends PresetEntry | TensorEntry>(entry: Entry): Entry => ({...entry, title: words.titles[entry.name] ?? entry.title});

/** Those of single numbers, which can be walked in any order. */
export const presets: PresetEntry[] = material.presets.map(titled);

/** All that can be stepped. */
export const walks: (PresetEntry | TensorEntry)[] = [...presets, ...material.tensors.map(titled)];

export const walkOf = (name: string): PresetEntry | TensorEntry | undefined => walks.find((entry) => entry.name === name || entry.title === name);

/** … of single numbers. */
export const presetOf = (name: string): PresetEntry | undefined => presets.find((entry) => entry.name === name || entry.title === name);
