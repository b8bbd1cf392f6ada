import assert from "node:assert/strict";
import {test} from "node:test";
import {shownNumbers} from "./numbers.mjs";

const read = (text) => {
  const failed = [];
  return [shownNumbers(text, (line, message) => failed.push([line, message])), failed];
};

test("a checked number is read as what is after the arrow", () => {
  assert.deepEqual(read("it is {{ diamond.a.grad -> 15 }}, and $x = {{ a -> −2 }}$"), ["it is 15, and $x = −2$", []]);
  assert.deepEqual(read("{{ visited(d, \"a b\").a -> 6 }}"), ["6", []]);
  assert.deepEqual(read("one\n{{ a -> 1 }} and {{ b -> 2/3 }}"), ["one\n1 and 2/3", []]);
});

test("braces of formulas are left alone", () => {
  assert.deepEqual(read("$\\frac{{a}{b}$ and x -> y"), ["$\\frac{{a}{b}$ and x -> y", []]);
});

test("what is no checked number is told with its line", () => {
  assert.equal(read("a\n{{ 15 }}")[1][0][0], 1);
  assert.match(read("{{ 15 }}")[1][0][1], /is no checked number/);
  assert.match(read("{{ -> 15 }}")[1][0][1], /expression -> 15/);
  assert.match(read("{{ a -> }}")[1][0][1], /expression -> 15/);
});
