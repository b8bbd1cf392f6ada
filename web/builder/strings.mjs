// The words of the pages, from the same files as those of the scripts; and whether a translation has all of them.
import {build} from "esbuild";
import {existsSync, readdirSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {GENERATED, SOURCE, shown} from "./paths.mjs";
import {ORIGIN} from "./languages.mjs";

const folderOf = (language) => path.join(SOURCE, "strings", language);
const namesIn = (language) => (existsSync(folderOf(language)) ? readdirSync(folderOf(language)).filter((name) => name.endsWith(".ts")).sort() : []);

/** Every file of words of a language: its name without .ts → what it exports. */
export async function loadStrings(language) {
  const outfile = path.join(GENERATED, `strings.${language}.mjs`);
  const names = namesIn(language);
  const contents = names.map((name, index) => `export * as file${index} from "./${name}";`).join("\n");
  await build({stdin: {contents, resolveDir: folderOf(language), loader: "ts"}, bundle: true, format: "esm", platform: "node", outfile, logLevel: "silent"});
  const loaded = await import(`${pathToFileURL(outfile)}?${Date.now()}`);
  return Object.fromEntries(names.map((name, index) => [name.slice(0, -3), {...loaded[`file${index}`]}]));
}

/** What a translation lacks, or has too much, goes to `problems`, with its file. */
export function compareStrings(language, theirs, ours, problems) {
  const file = (name) => shown(path.join(folderOf(language), `${name}.ts`));
  for (const name of Object.keys(ours)) {
    if (!(name in theirs)) problems.error(file(name), `is missing: translate ${shown(path.join(folderOf(ORIGIN), `${name}.ts`))}`);
    else for (const difference of differences(ours[name], theirs[name], "")) problems.error(file(name), difference);
  }
  for (const name of Object.keys(theirs)) if (!(name in ours)) problems.error(file(name), `there is no such file in ${ORIGIN}`);
}

/** A translation has a title for each preset; in English they come from Python. */
export function compareTitles(language, titles, presets, problems) {
  const lacking = presets.filter(({name}) => !titles[name]);
  for (const {name, title} of lacking) problems.error(shown(path.join(folderOf(language), "presets.ts")), `"titles" has none for "${name}", which is "${title}" in ${ORIGIN}`);
}

/** The parts of what Python says that a language has words for: every page needs the first, the others are begun by their first sentence. */
export const spokenIn = (theirs, parts) => Object.keys(parts).filter((part) => part === "page" || Object.keys(parts[part]).some((words) => theirs[words]));

/** A translation has every sentence of a part that Python can say (generated/messages.json), with the same holes, and no other. */
export function compareMessages(language, theirs, parts, problems) {
  const file = shown(path.join(folderOf(language), "messages.ts"));
  for (const [words, holes] of spokenIn(theirs, parts).flatMap((part) => Object.entries(parts[part]))) {
    if (!theirs[words]) problems.error(file, `there is nothing for "${words}", which Python says`);
    else if (holesOf(theirs[words]) !== holes.join()) problems.error(file, `"${words}" must have the holes ${holes.join(", ") || "none"}, and has ${holesOf(theirs[words]) || "none"}`);
  }
  const all = Object.assign({}, ...Object.values(parts));
  for (const words of Object.keys(theirs)) if (!(words in all)) problems.error(file, `Python does not say "${words}" any more`);
}

const holesOf = (words) => [...new Set([...words.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort().join();

/** A translated lesson holds no widget that says what its language has no words for. */
export function findEnglish({file, widgets}, schemas, spoken, problems) {
  for (const kind of new Set(widgets.map((widget) => widget.kind))) {
    const lacking = (schemas[kind].says ?? []).filter((part) => !spoken.includes(part));
    if (lacking.length) problems.error(shown(file), `the widget "${kind}" speaks English only: messages.ts has no words for what Python says in ${lacking.join(" and ")} (see generated/messages.json)`);
  }
}

/** In words, where two sets of words have not the same shape. */
export function differences(ours, theirs, where) {
  if (kind(ours) !== kind(theirs)) return [theirs === undefined ? `"${where}" is missing` : `"${where}" must be ${kind(ours)}, and is ${kind(theirs)}`];
  if (kind(ours) === "an object" && Object.keys(ours).length === 0) return []; // filled by the translation alone
  if (kind(ours) !== "an object") return theirs === "" && ours !== "" ? [`"${where}" is empty`] : [];
  const inside = (key) => (where ? `${where}.${key}` : key);
  return [
    ...Object.keys(ours).flatMap((key) => differences(ours[key], theirs[key], inside(key))),
    ...Object.keys(theirs).filter((key) => !(key in ours)).map((key) => `"${inside(key)}" is not in ${ORIGIN}`),
  ];
}

/** A sentence made of parts (see src/text/rich.ts) may have other parts in another language. */
function kind(words) {
  if (Array.isArray(words)) return "a list";
  return {string: "text", function: "a function", object: "an object", undefined: "missing"}[typeof words] ?? `a ${typeof words}`;
}
