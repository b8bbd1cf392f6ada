import assert from "node:assert/strict";
import {test} from "node:test";
import {engineOf, folded, type Line} from "./folds.ts";

const lines = (text: string): Line[] => text.split("\n").map((line) => ({sign: line[0] as Line["sign"], text: line.slice(1), colours: []}));
const shape = (text: string) => folded(lines(text)).map(({kind, lines}) => [kind, lines.length]);

test("what is far from a change is folded, two lines around it stay", () => {
  assert.deepEqual(shape(" a\n b\n c\n d\n e\n f\n+x\n g\n h\n i"), [["fold", 4], ["lines", 6]]);
  assert.deepEqual(shape(" a\n b\n c\n d\n e\n+x"), [["lines", 6]]); // three lines are not worth it
});

test("the method around a change stays in sight", () => {
  assert.deepEqual(shape("     def f():\n a\n b\n c\n d\n e\n g\n h\n-x"), [["lines", 1], ["fold", 5], ["lines", 3]]);
});

test("nothing is lost by folding", () => {
  const all = lines(" a\n b\n c\n d\n e\n f\n g\n+x\n-y\n h\n i\n j\n k\n l\n m\n n");
  assert.deepEqual(folded(all).flatMap(({lines}) => lines), all);
});

test("the engine is what is there, less what is gone", () => {
  assert.equal(engineOf({name: "", number: 1, demo: "", lines: lines(" a\n-b\n+c")}), "a\nc");
});
