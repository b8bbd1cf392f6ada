/** What the learner has done: the names of tasks, each with the day it was done. */
import {computed, type ReadonlySignal} from "@preact/signals";
import {store} from "./index.ts";

/** Task id → when it was done (ISO date). */
export type Done = Record<string, string>;
/** A lesson as `#generated/course.json` lists it: `slug` names it in every language, `path` leads there from the start page. */
export type CourseLesson = {number: number; slug: string; path: string; title: string; language: string; minutes: string; tasks: {id: string; widget: string}[]};

const done = computed(() => store.get<Done>("progress", {}));

export const progress: {
  done: ReadonlySignal<Done>;
  mark(id: string): void;
  unmark(id: string): void;
  isDone(id: string): boolean;
  /** How many of a lesson's tasks are done. */
  of(lesson: CourseLesson): {done: number; all: number};
} = {
  done,
  mark(id) {
    if (!this.isDone(id)) store.update<Done>("progress", (old) => ({...old, [id]: new Date().toISOString()}));
  },
  unmark(id) {
    store.update<Done>("progress", (old) => Object.fromEntries(Object.entries(old ?? {}).filter(([name]) => name !== id)));
  },
  isDone: (id) => Object.hasOwn(done.value, id),
  of: ({tasks}) => ({done: tasks.filter(({id}) => Object.hasOwn(done.value, id)).length, all: tasks.length}),
};
