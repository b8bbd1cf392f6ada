import assert from "node:assert/strict";
import {test} from "node:test";
import {coarse, groups, timeOf} from "./scale.ts";

const bars = (...times: number[]) => times.map((seconds) => ({seconds}));
const widths = (...times: number[]) => groups(bars(...times)).map(({bars: shown}) => shown.map(({width}) => width));

test("times that differ little are bars in proportion", () => {
  assert.deepEqual(widths(4, 2, 1), [[1, 0.5, 0.25]]);
});

test("what would vanish is drawn anew, larger, and in proportion again", () => {
  assert.deepEqual(widths(600, 42, 4, 2, 0.01), [[1, 0.07], [1, 0.5], [1]]);
  assert.deepEqual(groups(bars(600, 42, 4, 2, 0.01)).map(({larger}) => larger), [1, 150, 60_000]);
  assert.deepEqual(groups([]), []);
});

test("a time has the unit that fits it, a ratio the figures one remembers", () => {
  const units = {s: "s", ms: "ms", us: "µs", ns: "ns"};
  assert.deepEqual([0.648, 0.0412, 11.2e-6, 2, 216.8, 4e-9].map((time) => timeOf(time, units)), ["648 ms", "41 ms", "11 µs", "2 s", "217 s", "4 ns"]);
  assert.deepEqual([1.94, 14.4, 51_234].map(coarse), ["1.9", "14", "51,000"]);
});
