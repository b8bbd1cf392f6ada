// A translation says the same in other words: the same parts in the same order, the same numbers, the same code.
import {readFileSync} from "node:fs";
import {CHECKED} from "./numbers.mjs";
import {shown} from "./paths.mjs";

/** Whatever a translated page has otherwise than the page it was made from goes to `problems`. Both are rendered. */
export function comparePages(theirs, ours, problems) {
  const [translated, original] = [outline(theirs), outline(ours)];
  for (const [what, wanted] of Object.entries(original)) {
    const found = translated[what];
    const at = wanted.findIndex((part, index) => part !== found[index]);
    if (at < 0 && found.length === wanted.length) continue;
    const place = at < 0 ? wanted.length : at;
    problems.error(shown(theirs.file), `${what} ${place + 1}: ${say(wanted[place])} in ${shown(ours.file)}, ${say(found[place])} here`);
  }
}

const say = (part) => (part === undefined ? "none" : part.length > 160 ? `${part.slice(0, 159)}…` : part);

/** What must be the same in every language, each as a list of texts. */
function outline({file, widgets, blocks}) {
  const source = readFileSync(file, "utf8").replace(/\r\n/g, "\n");
  return {
    part: blocks,
    widget: widgets.map(({kind, id, settings}) => `${kind} ${id} ${JSON.stringify(settings)}`),
    "checked number": [...source.matchAll(CHECKED)].map(([, expression, number]) => `${expression.trim()} -> ${number}`).sort(), // a sentence may turn them round
    link: [...source.matchAll(/\]\(((?:lesson|page):[^)#]+)/g)].map(([, target]) => target).sort(),
    "code block": [...source.matchAll(/^```(?:python|output)\n([\s\S]*?)^```/gm)].map(([, code]) => code.replace(/ *#.*$/gm, "").trimEnd()),
  };
}

/** The settings of a widget, less its words: choices, numbers, switches, and how many records there are. */
export function settingsOf(fields, props) {
  const camel = (key) => key.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, settingOf(field, props[camel(key)])]).filter(([, value]) => value !== undefined));
}

function settingOf(field, value) {
  if (value === undefined) return undefined;
  if (field.type === "records") return value.map((record) => settingsOf(field.fields, record));
  if (field.type === "list") return value.map((item) => settingOf(field.of, item) ?? null);
  if (field.type === "text") return field.choices || /^[-−+]?[\d.,/]+$/.test(value) ? value : undefined;
  return ["number", "flag", "words"].includes(field.type) ? value : undefined;
}
