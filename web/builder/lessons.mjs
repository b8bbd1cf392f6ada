// The lessons of a folder: front matter, order, text. A file NN-some-name.md is lesson NN at lessons/some-name/.
import {existsSync, readFileSync, readdirSync} from "node:fs";
import path from "node:path";
import {shown} from "./paths.mjs";
import {shownNumbers} from "./numbers.mjs";

const FRONT = {title: true, lead: true, minutes: true, needs: false, teaches: false};
const NAME = /^(\d\d)-([a-z0-9-]+)\.md$/;

function readLessons(folder, problems) {
  const lessons = readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .flatMap((name) => {
      const file = path.join(folder, name);
      const match = NAME.exec(name);
      if (!match) {
        problems.error(shown(file), "a lesson's file is called NN-some-name.md: two digits, then small letters and hyphens");
        return [];
      }
      return [{...readPage(file, FRONT, problems), number: Number(match[1]), slug: match[2]}];
    });
  for (const [index, lesson] of lessons.entries()) {
    const twin = lessons.slice(0, index).find(({number, slug}) => number === lesson.number || slug === lesson.slug);
    if (twin) problems.error(shown(lesson.file), `has the number or the name of ${shown(twin.file)}; give it one of its own`);
  }
  return lessons;
}

/** The lessons of a language, in order. Each has an `id`, the same in every language, and a `path` from the site's root.
 * A lesson that is not translated yet stands there as it is in `originals`, with its own `language`. */
export function readCourse({code, folder, home}, originals, problems) {
  const lessons = readLessons(folder, problems).map((lesson) => ({...lesson, language: code, path: `${home}lessons/${lesson.slug}/`}));
  if (!originals) return lessons.map((lesson) => ({...lesson, id: lesson.slug}));
  for (const lesson of lessons) {
    const original = originals.find(({number}) => number === lesson.number);
    if (original) lesson.id = original.id;
    else problems.error(shown(lesson.file), `is a translation of nothing: there is no lesson ${lesson.number} in ${originals[0]?.language}`);
  }
  const last = Math.max(0, ...lessons.map(({number}) => number));
  for (const {number, file} of originals) {
    if (number < last && !lessons.some((lesson) => lesson.number === number)) problems.error(shown(folder), `lesson ${number} is missing, though lesson ${last} is there: translate ${shown(file)}`);
  }
  return originals.map((original) => lessons.find(({number}) => number === original.number) ?? original);
}

/** A Markdown file with `key: value` lines between two lines of ---; `keys` says which there are, and which must be. */
export function readPage(file, keys, problems) {
  if (!existsSync(file)) {
    problems.error(shown(file), "is missing");
    return {file, front: {}, text: "", offset: 0};
  }
  const lines = readFileSync(file, "utf8").replace(/\r\n/g, "\n").split("\n");
  const end = lines.indexOf("---", 1);
  const front = {};
  if (lines[0] !== "---" || end < 0) {
    problems.error(`${shown(file)}:1`, `begins with a line ---, then ${Object.keys(keys).join(", ")}, one a line, and another ---`);
    return {file, front, text: lines.join("\n"), offset: 0};
  }
  for (let at = 1; at < end; at++) {
    const match = /^([a-z]+):\s+(.+)$/.exec(lines[at]);
    if (match && match[1] in keys) front[match[1]] = match[2].trim();
    else problems.error(`${shown(file)}:${at + 1}`, `expected one of ${Object.keys(keys).join(", ")} and a colon, found "${lines[at]}"`);
  }
  for (const [key, needed] of Object.entries(keys)) {
    if (needed && !(key in front)) problems.error(`${shown(file)}:1`, `"${key}" is missing between the lines ---`);
  }
  if (front.minutes && !/^\d+$/.test(front.minutes)) problems.error(`${shown(file)}:1`, `"minutes" must be a whole number, and is "${front.minutes}"`);
  const text = shownNumbers(lines.slice(end + 1).join("\n"), (line, message) => problems.error(`${shown(file)}:${line + end + 2}`, message));
  return {file, front, text, offset: end + 1};
}
