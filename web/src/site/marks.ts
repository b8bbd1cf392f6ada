/** Marks on the lessons: done, begun; and where to go on. */
import {effect} from "@preact/signals";
import courseData from "#generated/course.json";
import {arrivals} from "./arrivals.ts";
import {progress, type CourseLesson} from "../store/progress.ts";
import {site} from "../strings/en/site.ts";

export const course = courseData as CourseLesson[];

export function showProgress(): void {
  effect(() => {
    void arrivals.value;
    for (const lesson of course) {
      const {done, all} = progress.of(lesson);
      for (const entry of document.querySelectorAll<HTMLElement>(`li[data-lesson="${lesson.slug}"]`)) mark(entry, done, all);
    }
    showBegin();
  });
}

function mark(entry: HTMLElement, done: number, all: number): void {
  entry.classList.toggle("done", all > 0 && done === all);
  entry.classList.toggle("begun", done > 0 && done < all);
  const link = entry.querySelector("a");
  if (!link) return;
  let words = link.querySelector(".vh");
  if (!words) link.append((words = Object.assign(document.createElement("span"), {className: "vh"})));
  words.textContent = done === 0 ? "" : done === all ? ` (${site.done})` : ` (${site.partly(done, all)})`;
}

function showBegin(): void {
  const begin = document.querySelector<HTMLAnchorElement>("[data-begin]");
  const next = course.find((lesson) => progress.of(lesson).done < lesson.tasks.length);
  if (!begin || !next || Object.keys(progress.done.value).length === 0) return;
  begin.textContent = site.goOn(next.number);
  begin.href = next.path;
}
