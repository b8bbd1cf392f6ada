import assert from "node:assert/strict";
import {readFileSync, readdirSync} from "node:fs";
import path from "node:path";
import {test} from "node:test";
import {VERSIONS} from "./paths.mjs";
import {difference, parts} from "./versions.mjs";

const signs = (old, next) => difference(old, next).map(({sign, text}) => sign + text);

test("a line that changed shows what changed in it", () => {
  const [gone, come] = difference("x.grad = y", "x.grad += y");
  assert.deepEqual(gone, {sign: "-", text: "x.grad = y"});
  assert.deepEqual(come, {sign: "+", text: "x.grad += y", marks: [7, 8]});
});

test("whole words are marked", () => {
  const [gone, come] = difference("    return Value(data)", "    return Value(database)");
  assert.deepEqual(gone.marks, [17, 21]);
  assert.deepEqual(come.marks, [17, 25]);
});

test("lines that have little in common are not compared letter by letter", () => {
  for (const line of difference("    alpha = 1", "    return beta(2, 3)")) assert.equal(line.marks, undefined);
});

test("new lines among old ones", () => {
  assert.deepEqual(signs("a\nb\nc", "a\nx\nb\nc\ny"), [" a", "+x", " b", " c", "+y"]);
  assert.deepEqual(signs("a\nb\nc", "a\nc"), [" a", "-b", " c"]);
  assert.deepEqual(signs("a", "a"), [" a"]);
});

test("the lines of the old file, and those of the new one, are all there in order", () => {
  const files = readdirSync(VERSIONS).filter((name) => name.endsWith(".py")).sort();
  const engines = files.map((name) => parts(readFileSync(path.join(VERSIONS, name), "utf8"), name).engine);
  assert.ok(engines.length > 8);
  for (let at = 1; at < engines.length; at++) {
    const lines = difference(engines[at - 1], engines[at]);
    const without = (sign) => lines.filter((line) => line.sign !== sign).map(({text}) => text).join("\n");
    assert.equal(without("+"), engines[at - 1]);
    assert.equal(without("-"), engines[at]);
    assert.ok(lines.some(({sign}) => sign === " "));
  }
});

test("from version six to seven four characters change", () => {
  const engine = (name) => parts(readFileSync(path.join(VERSIONS, name), "utf8"), name).engine;
  const changed = difference(engine("v06_overwrites.py"), engine("v07_accumulates.py")).filter(({sign}) => sign === "+");
  assert.deepEqual(changed.map(({text, marks}) => text.slice(...marks)), ["+", "+", "+", "+"]);
});

test("a file that is not made like a version is refused", () => {
  assert.throws(() => parts("x = 1\n", "v01_x.py"), /begins with one line/);
});
