import assert from "node:assert/strict";
import {test} from "node:test";
import {merged, MIGRATIONS, read, write, WHAT, type Data} from "./saved.ts";

const steps = [
  (data: Data) => ({...data, progress: Object.fromEntries((data.done as string[]).map((id) => [id, "2020-01-01"]))}),
  ({done: _done, ...rest}: Data) => rest,
];
const text = (version: number, data: unknown) => JSON.stringify({what: WHAT, version, data});

test("what was written is read again", () => {
  const data = {"code:__mul__": "def __mul__…", progress: {"x/quiz-1": "2026-01-01"}};
  assert.deepEqual(read(write(data)), {state: "read", data, old: false, seen: {}});
});

test("who wrote lately lies beside the work, and nonsense there does no harm", () => {
  assert.deepEqual(read(write({a: 1}, {page: 3})), {state: "read", data: {a: 1}, old: false, seen: {page: 3}});
  assert.deepEqual(read(JSON.stringify({what: WHAT, version: 1, data: {}, seen: 7})), {state: "read", data: {}, old: false, seen: {}});
});

test("nothing there is no error", () => assert.deepEqual(read(null), {state: "empty"}));

test("an old text is taken through every step it lacks, and no other", () => {
  assert.deepEqual(read(text(1, {done: ["a"], code: "x"}), steps), {state: "read", data: {code: "x", progress: {a: "2020-01-01"}}, old: true, seen: {}});
  assert.deepEqual(read(text(2, {done: ["a"], progress: {b: "2021"}}), steps), {state: "read", data: {progress: {b: "2021"}}, old: true, seen: {}});
  assert.deepEqual(read(text(3, {progress: {}}), steps), {state: "read", data: {progress: {}}, old: false, seen: {}});
});

test("a newer text is told apart, so that nobody overwrites it", () => assert.deepEqual(read(text(9, {}), steps), {state: "newer", version: 9}));

test("what is not ours, or broken, is unreadable and never throws", () => {
  for (const bad of ["", "{", "null", "3", "[]", '{"version":1,"data":{}}', text(0, {}), text(1.5, {}), text(1, []), text(1, null), text(-1, {})]) {
    assert.equal(read(bad).state, "unreadable", bad);
  }
  assert.equal(read(text(1, {done: 3}), steps).state, "unreadable", "a step that fails");
});

test("the published steps are as many as the version says", () => assert.equal(JSON.parse(write({})).version, MIGRATIONS.length + 1));

test("an import adds what was done and brings its own work", () => {
  const ours = {progress: {a: "1", b: "2"}, "code:x": "ours", "code:y": "ours"};
  const theirs = {progress: {b: "9", c: "3"}, "code:x": "theirs"};
  assert.deepEqual(merged(ours, theirs), {progress: {a: "1", b: "2", c: "3"}, "code:x": "theirs", "code:y": "ours"});
});
