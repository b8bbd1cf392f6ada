/** What Python exports about the exercises (gradwalk.learn.page.exercises.material), and what a test gives back. */

export type Tab = {name: string; task: string; starter: string; solution: string; hints: string[]; checks: number};
export type Exercise = {title: string; kind: "methods" | "program" | "definitions"; tabs: Tab[]};
export type Material = {
  engine: {head: string; tail: string; parts: {name: string; lesson: number}[]};
  exercises: Record<string, Exercise>;
};

export type Row = {check: string; name: string; got: string | null; expected: string; ok: boolean; array?: boolean};
export type Contribution = {value: number; source: string; state: "kept" | "replaced" | "lost"};
export type Ledger = {name: string; parts: Contribution[]; got: string; expected: string};
export type Result = {
  status: "passed" | "failed" | "missing" | "error";
  kind: string;
  headline: string;
  why: string;
  ask: string;
  lines: number[];
  ledger: Ledger | null;
  error: {kind: string; line: number | null} | null;
  checks: Row[];
  passed: number;
  total: number;
};

/** The class as a file, as gradwalk.learn.page.exercises.splice.whole_class writes it. */
export function wholeClass({head, tail, parts}: Material["engine"], texts: Record<string, string>, lesson: number): string {
  const chosen = parts.filter((part) => part.lesson <= lesson && texts[part.name] !== undefined);
  return head + chosen.map(({name}) => `\n${indented(texts[name]!)}`).join("") + tail;
}

const indented = (text: string) =>
  `${text.replace(/^\n+|\n+$/g, "")}\n`.split("\n").map((line) => (line.trim() ? `    ${line}` : line)).join("\n");
