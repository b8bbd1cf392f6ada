/** What a widget says about itself, so that the build can check a lesson.

Each widget folder has a `schema.ts` with `export const schema: Schema`. It runs at build time, in Node: no imports but
types, no browser, no Preact.

How a field is written in the lesson's fenced block, and what the widget gets:

| type       | in the lesson                                   | the widget gets                        |
|------------|-------------------------------------------------|----------------------------------------|
| `text`     | `key: some words`                               | string                                 |
| `markdown` | `key: some *words* with `code` and $x^2$`       | string of HTML, made by our own build  |
| `number`   | `key: 0.5`                                      | number                                 |
| `flag`     | `key: yes` or `key: no`                         | boolean                                |
| `words`    | `key: a, b, c`                                  | string[]                               |
| `block`    | `key: |` and indented lines                     | string, lines kept                     |
| `list`     | `key:` and indented lines `- item`              | one entry for each item, by `of`       |
| `records`  | `key:` and indented `- name: value` lines       | one object for each `-`, by `fields`   |
*/
import type {ComponentType} from "preact";

export type Field = {
  type: "text" | "markdown" | "number" | "flag" | "words" | "block" | "list" | "records";
  required?: boolean;
  /** What the widget gets where the lesson says nothing (else the key is absent). */
  default?: unknown;
  /** The only words allowed (text, words); from what Python exported where that knows them: `g => Object.keys(g.recordings)`. */
  choices?: readonly string[] | ((generated: Generated) => readonly string[]);
  /** For a list: what each item is. */
  of?: Field;
  /** For records: what each may hold. */
  fields?: Record<string, Field>;
};

/** What Python exported for the build: one entry for each file `web/generated/<name>.json`. */
export type Generated = Record<string, any>;

export type Schema = {
  fields: Record<string, Field>;
  /** Whether the widget has a frame (white, rounded, as wide as the page) or stands in the column of the text. */
  frame: "wide" | "column";
  /** A class for its place on the page, which its styles begin with. */
  look?: string;
  /** Whether doing it counts as a part of the lesson: it then has a mark in the progress. */
  task?: boolean | ((props: any) => boolean);
  /** The parts of what Python says (gradwalk.learn.page.sentences) that it needs beside "page": a translated lesson cannot hold it without their words. */
  says?: string[];
  /** More that must hold between the fields; gives what is wrong, in words, or nothing. */
  check?: (props: any, generated: Generated) => string | undefined;
};

/** Every widget gets these beside its own: where it stands, and its name in the learner's progress. */
export type Placed = {
  /** Stable name, such as `seed-the-root/quiz-2`, or `seed-the-root/<id>` where the block says `id: …`. */
  id: string;
  /** The lesson's slug, or the page's name. */
  lesson: string;
};

/** What `index.tsx` of a widget exports. The build draws it too, in Node: what only a browser has belongs into effects, or
 * behind `asleep` (src/waking), and the first drawing is the same for everybody. */
export type Widget = {
  default: ComponentType<any>;
  /** What must be there before the first drawing, where that is not in the script. */
  prepare?(props: any): Promise<void>;
};
