/** What Python exports about the exercises, and the class that is put together from a learner's texts. */
import type {EngineText} from "../../python/schema.ts";

export type {CheckRow as Row, ExerciseEntry as Exercise, ExerciseMaterial as Material, LedgerShown as Ledger, Result, TabEntry as Tab} from "../../python/schema.ts";

/** The class as a file, as whole_class in the tests writes it. */
export function wholeClass({head, tail, parts}: EngineText, texts: Record<string, string>, lesson: number): string {
  const chosen = parts.filter((part) => part.lesson <= lesson && texts[part.name] !== undefined);
  return head + chosen.map(({name}) => `\n${indented(texts[name]!)}`).join("") + tail;
}

const indented = (text: string) =>
  `${text.replace(/^\n+|\n+$/g, "")}\n`.split("\n").map((line) => (line.trim() ? `    ${line}` : line)).join("\n");
