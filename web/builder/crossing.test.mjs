// What crosses from Python has types that Python's own classes made (src/python/schema.ts), and none that were copied by hand.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import path from "node:path";
import test from "node:test";
import {SOURCE} from "./paths.mjs";

const SCHEMA = "python/schema.ts";
/** Files that the build itself makes. */
const NOT_PYTHONS = ["course", "times", "versions", "names"];

const files = Object.fromEntries(
  readdirSync(SOURCE, {recursive: true}).filter((name) => /\.tsx?$/.test(name) && !name.includes(".test."))
    .map((name) => [name.split(path.sep).join("/"), readFileSync(path.join(SOURCE, name), "utf8")]),
);

/** [name here, name there, file]: what a file imports or passes on. */
const named = (file, words) =>
  [...files[file].matchAll(new RegExp(`${words} (?:type )?\\{([^}]*)\\} from "(\\.[^"]+)"`, "g"))].flatMap(([, names, from]) =>
    names.split(",").map((name) => name.trim().replace(/^type /, "").split(" as ")).map(([there, here = there]) => [here, there, path.posix.join(path.posix.dirname(file), from)]));

/** Whether a type comes from the schema, straight or passed on. */
function isPythons(name, file) {
  const way = named(file, "(?:import|export)").find(([here]) => here === name);
  return way !== undefined && (way[2] === SCHEMA || isPythons(way[1], way[2]));
}

test("what Python's functions give has a type of Python's", () => {
  const calls = Object.entries(files).flatMap(([file, text]) => [...text.matchAll(/python\.call<(\w+)>/g)].map(([, name]) => [file, name]));
  assert.ok(calls.length > 10);
  assert.deepEqual(calls.filter(([file, name]) => !isPythons(name, file)), []);
  const untyped = Object.entries(files).filter(([file, text]) => file !== "python/index.ts" && /python\.call\(/.test(text)).map(([file]) => file);
  assert.deepEqual(untyped, []);
});

test("what Python exported for the build has a type of Python's", () => {
  const imports = Object.entries(files).flatMap(([file, text]) => [...text.matchAll(/import (\w+) from "#(?:generated|recorded)\/(\w+)[^"]*"/g)].map(([, name, from]) => ({file, text, name, from})));
  const pythons = imports.filter(({from}) => !NOT_PYTHONS.includes(from));
  assert.ok(pythons.length > 6);
  const wrong = pythons.filter(({file, text, name}) => {
    const told = new RegExp(`\\b${name} as (?:unknown as )?(\\w+)`).exec(text)?.[1];
    return !(told && (told === "string" || isPythons(told, file))); // a large file is known by its address, and fetched
  });
  assert.deepEqual(wrong.map(({file, from}) => [file, from]), []);
});
