/** The learner's work, kept in this browser: a few named things, each anything JSON can hold.

Each thing is a signal: whoever reads one is told when it changes, here, by an import, or in another tab. Changes are written
a moment later, several at once, onto what lies in the browser by then; and once more if another tab, which wrote in the same
moment, had not seen them. Where the browser keeps nothing (blocked, full), they
are held as long as the page is open, and `status` says so. As long as the page is asleep, nothing is kept.
*/
import {batch, signal, type Signal} from "@preact/signals";
import {asleep} from "../waking/index.ts";
import {merged, read, write, type Data, type Seen} from "./saved.ts";

type Edit = (old: unknown) => unknown;
export type StoreStatus = "kept" | "session only";
/** Why nothing is kept: storage is blocked, it is full, or a newer course wrote there. */
export type StoreTrouble = "blocked" | "full" | "newer";

/** A file that holds no work of this course. */
export class ImportError extends Error {
  constructor(readonly reason: "unreadable" | "newer") {
    super(reason);
  }
}

const KEY = "gradwalk:work";
const ASIDE = "gradwalk:work-before"; // what was there before an update, or could not be read
const DELAY = 250; // milliseconds: a learner types faster than a browser writes
const MOMENT = 10_000; // milliseconds: so long what one tab wrote may be on its way to another, on a busy machine
const PAGE = `page-${Math.random().toString(36).slice(2)}`;
const PAGES = 8; // so many of the latest writers are named beside the work

const status = signal<StoreStatus>("kept");
const trouble = signal<StoreTrouble | undefined>(undefined);
const signals = new Map<string, Signal<unknown>>();
/** What was changed here and is not written yet: what each change makes of the old value. */
const pending = new Map<string, Edit[]>();
/** What this page wrote a moment ago, and with which of its writes. */
let written: {key: string; edit: Edit; number: number; when: number}[] = [];
let writes = 0;
let data: Data = {}; // as it was last read or written, without what is pending
let seen: Seen = {}; // whose writes are in it
let timer: ReturnType<typeof setTimeout> | undefined;

function at(key: string): Signal<unknown> {
  let found = signals.get(key);
  if (!found) signals.set(key, (found = signal(withPending(data)[key])));
  return found;
}

/** What lies there, what we wrote and whoever wrote it had not seen, and what is pending. */
function withPending(base: Data, known = seen): Data {
  const whole = {...base};
  const lost = written.filter(({number}) => number > (known[PAGE] ?? 0)).map(({key, edit}) => [key, edit] as const);
  for (const [key, edit] of [...lost, ...[...pending].flatMap(([key, edits]) => edits.map((edit) => [key, edit] as const))]) {
    const value = edit(whole[key]);
    if (value === undefined) delete whole[key];
    else whole[key] = value;
  }
  return whole;
}

/** Tell every signal what it holds now. */
function spread(): void {
  const whole = withPending(data);
  batch(() => {
    for (const [key, each] of signals) if (JSON.stringify(each.peek()) !== JSON.stringify(whole[key])) each.value = whole[key];
  });
}

function readKept(): void {
  try {
    const text = localStorage.getItem(KEY);
    const found = read(text);
    if (found.state === "read") ({data, seen} = found);
    if (found.state === "newer") return lost("newer");
    if (found.state === "unreadable" || (found.state === "read" && found.old)) localStorage.setItem(ASIDE, text!);
    localStorage.setItem(KEY, write(data, seen)); // tells at once whether there is room
  } catch (error) {
    lost(isFull(error) ? "full" : "blocked");
  }
}

function lost(why: StoreTrouble): void {
  trouble.value = why;
  status.value = "session only";
}

function edit(key: string, change: Edit): void {
  pending.set(key, [...(pending.get(key) ?? []), change]);
  const value = at(key);
  value.value = change(value.peek());
  timer ??= setTimeout(flush, DELAY);
}

/** Write what is pending onto what lies there by now: another tab may have written meanwhile. */
function flush(): void {
  clearTimeout(timer);
  timer = undefined;
  if (!pending.size && !isLost()) return;
  if (trouble.value !== "blocked" && trouble.value !== "newer") {
    try {
      const found = read(localStorage.getItem(KEY));
      const there = found.state === "read" ? found : {data, seen};
      const whole = withPending(there.data, there.seen);
      const number = writes + 1;
      const others = Object.entries(there.seen).filter(([page]) => page !== PAGE);
      const writers = {...Object.fromEntries(others.slice(1 - PAGES)), [PAGE]: number};
      localStorage.setItem(KEY, write(whole, writers));
      [data, seen, writes] = [whole, writers, number];
      const when = Date.now();
      const ours = [...pending].flatMap(([key, edits]) => edits.map((edit) => ({key, edit, number, when})));
      written = [...written.filter((one) => when - one.when < MOMENT), ...ours];
      pending.clear();
      trouble.value = undefined;
      status.value = "kept";
      spread();
    } catch (error) {
      lost(isFull(error) ? "full" : "blocked"); // it stays pending: perhaps there is room later
    }
  }
}

/** Whether something we wrote is not in what lies there: another tab wrote onto what was there before. */
const isLost = (): boolean => written.some(({number, when}) => number > (seen[PAGE] ?? 0) && Date.now() - when < MOMENT);

const isFull = (error: unknown): boolean => error instanceof DOMException && /quota/i.test(error.name);

/** Something else than what is there, at once: an import, or nothing at all. */
function replace(whole: Data): void {
  for (const key of new Set([...Object.keys(withPending(data)), ...Object.keys(whole)])) pending.set(key, [() => whole[key]]);
  spread();
  flush();
}

function importAll(text: string): void {
  const found = read(text);
  if (found.state !== "read") throw new ImportError(found.state === "newer" ? "newer" : "unreadable");
  replace(merged(withPending(data), found.data));
}

export const store: {
  status: Signal<StoreStatus>;
  trouble: Signal<StoreTrouble | undefined>;
  /** What is kept under a name. Whoever reads it while drawing or computing is told when it changes. */
  get<T>(key: string, otherwise: T): T;
  set(key: string, value: unknown): void;
  /** Change what is there by then, in whichever tab: `update("progress", (old) => ({...old, more}))`. */
  update<T>(key: string, change: (old: T | undefined) => T | undefined): void;
  remove(key: string): void;
  /** Write now what would be written in a moment. */
  flush(): void;
  /** Everything, as the text of a file. */
  exportAll(): string;
  /** Add what such a file holds; throws ImportError. */
  importAll(text: string): void;
  /** Forget everything. */
  clear(): void;
} = {
  status,
  trouble,
  get: <T>(key: string, otherwise: T) => (asleep.value ? undefined : (at(key).value as T | undefined)) ?? otherwise,
  set: (key, value) => edit(key, () => value),
  update: (key, change) => edit(key, change as Edit),
  remove: (key) => edit(key, () => undefined),
  flush,
  exportAll: () => write(withPending(data)),
  importAll,
  clear: () => replace({}),
};

function begin(): void {
  readKept();
  addEventListener("storage", ({key, newValue}) => {
    const found = key === KEY ? read(newValue) : undefined;
    if (found?.state !== "read") return;
    ({data, seen} = found);
    spread();
    if (isLost()) timer ??= setTimeout(flush, DELAY);
  });
  addEventListener("pagehide", flush);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && flush());
}

if (typeof document !== "undefined") begin(); // the build draws widgets too
