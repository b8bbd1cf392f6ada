import assert from "node:assert/strict";
import {test} from "node:test";
import {answered as show} from "../../text/numbers.ts";
import {judge, meant, number, read} from "./answer.ts";

const value = (text: string) => {
  const reading = read(text);
  return reading.kind === "number" ? reading.value : reading.kind;
};

test("numbers as people type them", () => {
  const typed: [string, number][] = [
    ["1.5", 1.5], ["-1.5", -1.5], ["−1.5", -1.5], ["–1.5", -1.5], ["3/2", 1.5], ["-3/2", -1.5], ["3 / -2", -1.5], ["½", 0.5], ["−¾", -0.75], ["1,5", 1.5], ["0,001", 0.001],
    ["33,554,432", 33554432], ["1,024", 1024], [".5", 0.5], ["5.", 5], ["+7", 7], ["1e-3", 0.001], ["2E3", 2000], ["a.grad = 15", 15], ["= 4", 4], ["１５", 15], ["6÷4", 1.5], ["0", 0], ["-0", -0],
  ];
  for (const [text, wanted] of typed) assert.equal(value(text), wanted, text);
});

test("what is no number", () => {
  for (const text of ["hello", "1/2/3", "--1", "1..2", "NaN", "Infinity", "1/", "/2", "1e999", "0x10", "1 2 x", "2*3", "1,2,3", "½½"]) assert.equal(value(text), "unreadable", text);
  for (const text of ["", "   ", "="]) assert.equal(value(text), "nothing", text);
  assert.equal(value("1/0"), "over zero");
  assert.throws(() => number("three"), /"three" is no number/);
});

test("a tolerance, the nearest of the known wrong answers, and the sign", () => {
  const wrong = [{value: "0.7071", why: "height"}, {value: "0.705", why: "other"}];
  const judged = (x: number) => judge(x, "0.5", wrong, 0.003);
  assert.deepEqual(judged(0.5), {kind: "right"});
  assert.deepEqual(judged(0.502), {kind: "right"});
  assert.deepEqual(judged(0.7071068), {kind: "known", why: "height"});
  assert.deepEqual(judged(0.7045), {kind: "known", why: "other"});
  assert.deepEqual(judged(-0.5), {kind: "sign"});
  assert.deepEqual(judged(0.6), {kind: "other"});
  assert.deepEqual(judge(-0, "0", []), {kind: "right"});
  assert.deepEqual(judge(2, "2", [{value: "2", why: "never"}]), {kind: "right"});
  assert.deepEqual(judge(0.6666667, "2/3", []), {kind: "right"});
  assert.deepEqual(judge(0.6667, "2/3", []), {kind: "other"});
});

test("a comma with three figures after it means what the question knows", () => {
  const typed = (text: string) => meant(read(text) as {kind: "number"; value: number}, "14.003", [{value: "1400", why: ""}]);
  assert.deepEqual(["14,003", "14003", "1,400", "1,500"].map(typed), [14.003, 14003, 1400, 1500]);
});

test("numbers as they are shown", () => {
  assert.deepEqual([1.5, -1.5, 2 / 3, 33554432, 1e-7, 0, -0].map(show), ["1.5", "−1.5", "0.666667", "33554432", "1.000e−7", "0", "0"]);
});
