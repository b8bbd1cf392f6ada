/** The learner's work, kept in this browser: a few named things, each anything JSON can hold.

Where the browser keeps nothing (blocked, full), it is held as long as the page is open, and `status` says so.
*/
import {signal, type Signal} from "@preact/signals";
import {merged, read, write, type Data} from "./saved.ts";

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

const status = signal<StoreStatus>("kept");
const trouble = signal<StoreTrouble | undefined>(undefined);
const changes = signal(0);
let data: Data = {};

function begin(): void {
  try {
    const text = localStorage.getItem(KEY);
    const found = read(text);
    if (found.state === "read") data = found.data;
    if (found.state === "newer") return lost("newer");
    if (found.state === "unreadable" || (found.state === "read" && found.old)) localStorage.setItem(ASIDE, text!);
    localStorage.setItem(KEY, write(data)); // tells at once whether there is room
  } catch (error) {
    lost(isFull(error) ? "full" : "blocked");
  }
}

function lost(why: StoreTrouble): void {
  trouble.value = why;
  status.value = "session only";
}

/** Change one thing. Another tab may have written meanwhile: its changes to other things are kept. */
function change(edit: (data: Data) => Data): void {
  if (trouble.value === "blocked" || trouble.value === "newer") {
    data = edit(data);
  } else {
    try {
      const found = read(localStorage.getItem(KEY));
      data = edit(found.state === "read" ? found.data : data);
      localStorage.setItem(KEY, write(data));
      trouble.value = undefined;
      status.value = "kept";
    } catch (error) {
      lost(isFull(error) ? "full" : "blocked");
    }
  }
  changes.value++;
}

const isFull = (error: unknown): boolean => error instanceof DOMException && /quota/i.test(error.name);

function importAll(text: string): void {
  const found = read(text);
  if (found.state !== "read") throw new ImportError(found.state === "newer" ? "newer" : "unreadable");
  change((ours) => merged(ours, found.data));
}

export const store: {
  status: Signal<StoreStatus>;
  trouble: Signal<StoreTrouble | undefined>;
  /** Grows with every change, also with those from another tab or an import. */
  changes: Signal<number>;
  get<T>(key: string, otherwise: T): T;
  set(key: string, value: unknown): void;
  remove(key: string): void;
  /** Everything, as the text of a file. */
  exportAll(): string;
  /** Add what such a file holds; throws ImportError. */
  importAll(text: string): void;
  /** Forget everything. */
  clear(): void;
} = {
  status,
  trouble,
  changes,
  get: <T>(key: string, otherwise: T) => (Object.hasOwn(data, key) ? (data[key] as T) : otherwise),
  set: (key, value) => change((old) => ({...old, [key]: value})),
  remove: (key) => change(({[key]: _gone, ...rest}) => rest),
  exportAll: () => write(data),
  importAll,
  clear: () => change(() => ({})),
};

begin();
addEventListener("storage", ({key, newValue}) => {
  const found = key === KEY ? read(newValue) : undefined;
  if (found?.state !== "read") return;
  data = found.data;
  changes.value++;
});
