// The widgets there are, what each may be told, and whether a lesson tells it so.
import {build} from "esbuild";
import {existsSync, readdirSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {GENERATED, WIDGETS} from "./paths.mjs";
import {readBlock, readRecord} from "./fence.mjs";

/** name → schema, for every folder of src/widgets. */
export async function loadSchemas() {
  const names = existsSync(WIDGETS) ? readdirSync(WIDGETS, {withFileTypes: true}).filter((d) => d.isDirectory()).map((d) => d.name) : [];
  const found = names.filter((name) => existsSync(path.join(WIDGETS, name, "schema.ts")) && existsSync(path.join(WIDGETS, name, "index.tsx")));
  const outfile = path.join(GENERATED, "schemas.mjs");
  await build({
    stdin: {
      contents: found.map((name) => `export {schema as ${name}} from "./${name}/schema.ts";`).join("\n"),
      resolveDir: WIDGETS,
      loader: "ts",
    },
    bundle: true, format: "esm", platform: "node", outfile, logLevel: "silent",
  });
  return {...(await import(`${pathToFileURL(outfile)}?${Date.now()}`))};
}

/** What the block says, checked and with its types; nothing, if something is wrong. `html` makes HTML of a line of Markdown. */
export function readProps(schema, text, firstLine, {generated, html, fail}) {
  const context = {generated, html, fail};
  const {values, failed} = readFields(schema.fields, readBlock(text, firstLine, fail), firstLine - 1, context);
  if (failed) return undefined;
  const wrong = schema.check?.(values, generated);
  if (wrong) return void fail(firstLine - 1, wrong);
  return values;
}

function readFields(fields, entries, line, context) {
  const values = {};
  let failed = false;
  const fail = (where, message) => {
    failed = true;
    context.fail(where, message);
  };
  for (const entry of entries) {
    const field = fields[entry.key];
    if (field) values[camel(entry.key)] = readField(field, entry, {...context, fail});
    else fail(entry.line, `there is no "${entry.key}" here; there are: ${Object.keys(fields).join(", ") || "none"}`);
  }
  for (const [key, field] of Object.entries(fields)) {
    if (entries.some((entry) => entry.key === key)) continue;
    if (field.required) fail(line, `"${key}" is missing`);
    else if ("default" in field) values[camel(key)] = field.default;
  }
  return {values, failed};
}

function readField(field, entry, {generated, html, fail}) {
  const {key, line, text, block, items} = entry;
  const wants = (what) => void fail(line, `"${key}" must be ${what}`);
  const allowed = typeof field.choices === "function" ? field.choices(generated) : field.choices;
  const chosen = (word) => {
    if (allowed && !allowed.includes(word)) fail(line, `"${key}" cannot be "${word}"; choose from: ${allowed.join(", ")}`);
    return word;
  };
  switch (field.type) {
    case "text":
      return text === undefined || text === "" ? wants("words on its line") : chosen(text);
    case "markdown":
      return text || block ? html(text ?? block) : wants("words on its line");
    case "number":
      return text !== undefined && text !== "" && Number.isFinite(Number(text)) ? Number(text) : wants(`a number, and is "${text ?? ""}"`);
    case "flag":
      return text === "yes" ? true : text === "no" ? false : wants(`yes or no, and is "${text ?? ""}"`);
    case "words":
      return text ? text.split(",").map((word) => chosen(word.trim())) : wants("words with commas between them");
    case "block":
      return block ?? text ?? wants(`lines of text after "${key}: |"`);
    case "list":
      return items ? items.map((item) => readField(field.of, {key, ...item}, {generated, html, fail})) : wants('a list, "- …" on each line');
    case "records":
      return items
        ? items.map((item) => readFields(field.fields, readRecord(item, fail), item.line, {generated, html, fail}).values)
        : wants('a list of records, each beginning with "- name: value"');
    default:
      throw new Error(`${key}: a schema knows no type "${field.type}"`);
  }
}

const camel = (key) => key.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
