// The rooms of src/, and that each looks only into those before it.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import path from "node:path";
import test from "node:test";
import {SOURCE, WEB} from "./paths.mjs";

/** From what knows nothing to what knows everything. `graph` draws in words that are handed to it. */
const ORDER = ["offline", "python", "text", "strings", "waking", "store", "ui", "graph", "widgets", "elsewhere", "site"];
const BLIND = {graph: ["strings", "store", "python"]}; // what a room must not know, though it comes later; types are no knowledge

const files = readdirSync(SOURCE, {recursive: true}).filter((name) => /\.tsx?$/.test(name)).map((name) => name.split(path.sep).join("/"));

/** [file, imported file, whether types alone], both from src/. */
const imports = files.flatMap((file) =>
  [...readFileSync(path.join(SOURCE, file), "utf8").matchAll(/(?:^|\n)\s*(?:import|export)\s+(type\s)?[^"';]*?from\s+"(\.[^"]+)"|import\(\s*["`](\.[^"`$]+)/g)]
    .map(([, types, still, moving]) => [file, path.posix.join(path.posix.dirname(file), still ?? moving), Boolean(types)])
    .filter(([, to]) => !to.startsWith("..")),
);

const room = (file) => file.split("/")[0];
/** Each widget is a room of its own. */
const small = (file) => (room(file) === "widgets" ? file.split("/").slice(0, 2).join("/") : room(file));

test("imports are found, and lead to files that are there", () => {
  assert.ok(imports.length > 300);
  assert.deepEqual(imports.filter(([, to]) => /\.tsx?$/.test(to) && !files.includes(to)), []);
});

test("a room looks only into those before it", () => {
  assert.deepEqual([...new Set(files.map(room))].filter((name) => !ORDER.includes(name)), []);
  const wrong = imports.filter(([from, to]) => ORDER.indexOf(room(to)) > ORDER.indexOf(room(from)));
  assert.deepEqual(wrong, []);
});

test("a graph is drawn without knowing a language, a store or Python", () => {
  const wrong = imports.filter(([from, to, types]) => !types && BLIND[room(from)]?.includes(room(to)));
  assert.deepEqual(wrong, []);
});

test("no widget leads back to itself through another", () => {
  const next = new Map();
  for (const [from, to] of imports) if (small(from) !== small(to)) next.set(small(from), (next.get(small(from)) ?? new Set()).add(small(to)));
  const circle = (at, way) => (way.includes(at) ? [...way.slice(way.indexOf(at)), at] : [...(next.get(at) ?? [])].map((to) => circle(to, [...way, at])).find(Boolean));
  assert.equal([...next.keys()].map((name) => circle(name, [])).find(Boolean), undefined);
});

test("how a number is written is decided in one place", () => {
  const writing = /\.(?:toPrecision|toExponential|toLocaleString)\(|\("-", "−"\)/;
  const wrong = files.filter((file) => !file.startsWith("text/") && !file.startsWith("strings/") && writing.test(readFileSync(path.join(SOURCE, file), "utf8")));
  assert.deepEqual(wrong, ["widgets/stepper/tellTensors.ts"]); // the sign of an op, which is no number
});

test("tabs and files to save are made in one place", () => {
  const holding = (words) => files.filter((file) => words.test(readFileSync(path.join(SOURCE, file), "utf8")));
  assert.deepEqual(holding(/role="tab(?:list)?"/), ["ui/Tabs.tsx"]);
  assert.deepEqual(holding(/createObjectURL/), ["ui/save.ts"]);
});

test("every package is used", () => {
  const {dependencies, devDependencies} = JSON.parse(readFileSync(path.join(WEB, "package.json"), "utf8"));
  const under = (folder) => readdirSync(path.join(WEB, folder), {recursive: true}).map((name) => path.join(WEB, folder, name));
  const read = [...["src", "builder", "styles", "elsewhere"].flatMap(under), path.join(WEB, "build.mjs"), path.join(WEB, "../tests/axe.py")]
    .filter((file) => /\.(?:tsx?|mjs|css|py)$/.test(file)).map((file) => readFileSync(file, "utf8")).join("\n");
  const unused = Object.keys({...dependencies, ...devDependencies}).filter((name) => !name.startsWith("@types/") && name !== "typescript" && !new RegExp(`["'/]${name}["'/]`).test(read));
  assert.deepEqual(unused, []);
});
