/** What lies in the browser's storage, as text: an envelope with a version, brought up to date by migrations.

A learner's work is never lost by an update. Each change of form adds one step to `MIGRATIONS`; a text of any earlier
version is taken through the steps it lacks. A text from a newer course is left alone. A text that cannot be read is
put aside, not thrown away.
*/
export type Data = Record<string, unknown>;
/** The latest write of each page that wrote lately, and that is in the data. */
export type Seen = Record<string, number>;
export type Envelope = {what: typeof WHAT; version: number; data: Data; seen?: Seen};
type Migration = (data: Data) => Data;

export const WHAT = "gradwalk work";

/** Step n leads from version n + 1 to n + 2. Never change a step that was published; add one. */
export const MIGRATIONS: readonly Migration[] = [];

export type Reading = {state: "empty"} | {state: "unreadable"} | {state: "newer"; version: number} | {state: "read"; data: Data; old: boolean; seen: Seen};

/** Read a text; what is older is brought up to date. */
export function read(text: string | null, migrations: readonly Migration[] = MIGRATIONS): Reading {
  if (text === null) return {state: "empty"};
  const found = parsed(text);
  if (!found) return {state: "unreadable"};
  const current = migrations.length + 1;
  if (found.version > current) return {state: "newer", version: found.version};
  try {
    const data = migrations.slice(found.version - 1).reduce((older, step) => step(older), found.data);
    return {state: "read", data, old: found.version < current, seen: isObject(found.seen) ? (found.seen as Seen) : {}};
  } catch {
    return {state: "unreadable"};
  }
}

export function write(data: Data, seen?: Seen): string {
  return JSON.stringify({what: WHAT, version: MIGRATIONS.length + 1, data, seen} satisfies Envelope);
}

function parsed(text: string): Envelope | undefined {
  try {
    const found = JSON.parse(text) as Partial<Envelope> | null;
    const right = found?.what === WHAT && Number.isInteger(found.version) && found.version! >= 1 && isObject(found.data);
    return right ? (found as Envelope) : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Data => typeof value === "object" && value !== null && !Array.isArray(value);

/** What both have done, and the work of the second where both have some. */
export function merged(ours: Data, theirs: Data): Data {
  const both = {...ours, ...theirs};
  if (isObject(ours.progress) && isObject(theirs.progress)) both.progress = {...theirs.progress, ...ours.progress};
  return both;
}
