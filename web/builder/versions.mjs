// The engine in versions: the files of examples/versions, and what each changes in the one before.
import {readFileSync, readdirSync, writeFileSync} from "node:fs";
import path from "node:path";
import {diffArrays} from "diff";
import {GENERATED, VERSIONS, shown} from "./paths.mjs";
import {BuildError} from "./problems.mjs";
import {colours} from "./tokens.mjs";

const MAIN = /\n*^if __name__ == "__main__":\n/m;

/** → [{name, number, lines, demo}], also written to generated/versions.json; `lines` as `difference` gives them. */
export function readVersions(folder = VERSIONS) {
  const files = readdirSync(folder).filter((name) => /^v\d\d_\w+\.py$/.test(name)).sort();
  let before = "";
  const versions = files.map((file) => {
    const {engine, demo} = parts(readFileSync(path.join(folder, file), "utf8").replace(/\r\n/g, "\n"), path.join(folder, file));
    const lines = before ? difference(before, engine) : engine.split("\n").map((text) => ({sign: "+", text}));
    paint(lines, before, "-");
    paint(lines, engine, "+");
    before = engine;
    return {name: file.slice(0, -3), number: Number(file.slice(1, 3)), lines, demo};
  });
  writeFileSync(path.join(GENERATED, "versions.json"), JSON.stringify(versions));
  return versions;
}

/** Give the lines of a text their colours, each counted from its own start; `sign` is theirs beside those that stayed. */
function paint(lines, text, sign) {
  const all = colours(text);
  let start = 0;
  for (const line of lines.filter((line) => line.sign === sign || line.sign === " ")) {
    const end = start + line.text.length;
    line.colours = all.filter(([from, to]) => to > start && from < end).map(([from, to, kind]) => [Math.max(0, from - start), Math.min(end, to) - start, kind]);
    start = end + 1;
  }
}

/** A file without its first line, and what it does when it is run, apart. */
export function parts(text, file) {
  const [whole, ...rest] = text.split(MAIN);
  if (!/^"""[^\n]*"""\n/.test(text) || rest.length !== 1) {
    throw new BuildError(`${shown(file)}: a version begins with one line """…""" and ends with if __name__ == "__main__":`);
  }
  const demo = rest[0].split("\n").map((line) => line.replace(/^ {4}/, "")).join("\n").trim();
  return {engine: whole.replace(/^[^\n]*\n+/, "").trim(), demo};
}

/** Line by line: [{sign: " " | "+" | "-", text, marks?}]; `marks` is the part of a changed line that is new or gone. */
export function difference(old, next) {
  const lines = common(old.split("\n"), next.split("\n"));
  for (let at = 0; at < lines.length; at++) {
    if (lines[at].sign !== "-") continue;
    const gone = run(lines, at, "-"), come = run(lines, at + gone.length, "+");
    if (gone.length === come.length) gone.forEach((line, index) => mark(line, come[index]));
    at += gone.length + come.length - 1;
  }
  return lines;
}

function run(lines, from, sign) {
  let to = from;
  while (lines[to]?.sign === sign) to++;
  return lines.slice(from, to);
}

/** What stayed, what is gone and what has come, in this order within a change. */
function common(a, b) {
  return diffArrays(a, b).flatMap(({value, added, removed}) => value.map((text) => ({sign: added ? "+" : removed ? "-" : " ", text})));
}

const WORD = /\w/;

/** What differs between two lines, if it is the smaller part. */
function mark(gone, come) {
  const [a, b] = [gone.text, come.text];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  while (start > 0 && WORD.test(a[start - 1]) && (WORD.test(a[start] ?? "") || WORD.test(b[start] ?? ""))) start--; // whole words
  while (end > 0 && WORD.test(a[a.length - end]) && (WORD.test(a[a.length - end - 1] ?? "") || WORD.test(b[b.length - end - 1] ?? ""))) end--;
  const indent = /^\s*/.exec(b)[0].length;
  if (start + end - indent < (b.length - indent) * 0.35) return;
  if (start < a.length - end) gone.marks = [start, a.length - end];
  if (start < b.length - end) come.marks = [start, b.length - end];
}
