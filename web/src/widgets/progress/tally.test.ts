import assert from "node:assert/strict";
import {test} from "node:test";
import {tally} from "./tally.ts";

test("counts by kind", () => {
  const tasks = [{id: "l/a", widget: "quiz"}, {id: "l/b", widget: "exercise"}, {id: "l/c", widget: "quiz"}];
  const lesson = {number: 1, slug: "l", title: "L", tasks};
  assert.deepEqual(tally(lesson, {"l/a": "2026", "other/b": "2026"}), {quiz: {done: 1, all: 2}, exercise: {done: 0, all: 1}});
  assert.deepEqual(tally({...lesson, tasks: []}, {}), {});
});
