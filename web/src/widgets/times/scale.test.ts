import assert from "node:assert/strict";
import {test} from "node:test";
import {coarse, scale, timeOf} from "./scale.ts";

test("times that differ little are bars in proportion", () => {
  const {logarithmic, of} = scale([1, 2, 4]);
  assert.deepEqual([logarithmic, of(4), of(1)], [false, 1, 0.25]);
});

test("times that differ much are bars by powers of ten, and none is empty", () => {
  const {logarithmic, of, lines} = scale([0.6, 0.04, 11e-6]);
  assert.equal(logarithmic, true);
  assert.equal(of(0.6), 1);
  assert.ok(of(11e-6) > 0.05 && of(11e-6) < of(0.04));
  assert.equal(lines.length, 5); // 10 µs to 0.1 s
  assert.ok(Math.abs(lines[1]! - lines[0]! - (lines[2]! - lines[1]!)) < 1e-12);
});

test("a time has the unit that fits it, a ratio the figures one remembers", () => {
  const units = {s: "s", ms: "ms", us: "µs", ns: "ns"};
  assert.deepEqual([0.648, 0.0412, 11.2e-6, 2, 216.8, 4e-9].map((time) => timeOf(time, units)), ["648 ms", "41 ms", "11 µs", "2 s", "217 s", "4 ns"]);
  assert.deepEqual([1.94, 14.4, 51_234].map(coarse), ["1.9", "14", "51,000"]);
});
