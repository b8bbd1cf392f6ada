/** The presets with their walks, recorded and laid out by Python when the site was built: they step at once. */
import recordings from "#generated/recordings.json";
import type {Material, PresetEntry} from "../../python/schema.ts";
import {presets as words} from "../../strings/en/presets.ts";

export const presets: PresetEntry[] = (recordings as unknown as Material).presets.map((entry) => ({...entry, title: words.titles[entry.name] ?? entry.title}));

export const presetOf = (name: string): PresetEntry | undefined => presets.find((entry) => entry.name === name || entry.title === name);
