import assert from "node:assert/strict";
import {test} from "node:test";
import {powers as show} from "../../text/numbers.ts";
import {FUNCTIONS, errorOf, errors, exact, measure, power, scale, ticks} from "./maths.ts";

const parabola = FUNCTIONS.parabola!;
const line = FUNCTIONS["product-plus"]!;

test("slopes by nudging", () => {
  assert.equal(measure(parabola, {x: 3}, "x", 1), 17);
  assert.equal(measure(parabola, {x: 3}, "x", 1, true), 14);
  assert.equal(measure(parabola, {x: 3}, "x", 1e-16), 0);
  assert.equal(exact(parabola, {x: 3}, "x"), 14);
  assert.deepEqual(["a", "b", "c"].map((name) => measure(line, line.inputs, name, 0.5)), [-3, 2, 1]);
  assert.equal(errorOf(parabola, {x: 3}, "x", 1), 3);
});

test("whole powers of ten are exact", () => {
  assert.deepEqual([0, -1, -3, -16].map(power), [1, 0.1, 0.001, 1e-16]);
  assert.equal(errors(parabola, {x: 3}, "x", false).length, 69);
  assert.equal(errors(parabola, {x: 3}, "x", false)[4]!.h, 0.1);
});

test("scales, ticks and shown numbers", () => {
  assert.equal(scale(0, 10, 100, 200)(5), 150);
  assert.deepEqual(ticks(-2, 5.5, 7), [-2, 0, 2, 4]);
  assert.deepEqual(ticks(0, 60, 5), [0, 20, 40, 60]);
  assert.equal(show(20.014003, 10), "20.014003");
  assert.deepEqual([0, 14.003, -3, 20.014003, 1e-8, 3e-9, -1e-5].map((x) => show(x)), ["0", "14.003", "−3", "20.014", "10⁻⁸", "3·10⁻⁹", "−1·10⁻⁵"]);
});
