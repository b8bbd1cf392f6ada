import {beside as words} from "../../strings/en/beside.ts";
import type {ComparedRow as Row, RecordedComparisons as Recorded} from "../../python/schema.ts";
import type {Generated, Schema} from "../types.ts";

export type {ComparedRow as Row, RecordedComparisons as Recorded} from "../../python/schema.ts";
export type Note = {row: string; says: string};
export type Props = {id: string; lesson: string; of: string; notes: Note[]};

const known = (generated: Generated): Recorded["comparisons"] => (generated.recorded?.against_torch as Recorded | undefined)?.comparisons ?? {};
const LINE = 21.5;

export const schema: Schema = {
  fields: {
    of: {type: "text", required: true, choices: (generated) => Object.keys(known(generated))},
    notes: {type: "records", default: [], fields: {row: {type: "text", required: true}, says: {type: "markdown", required: true}}},
  },
  check: ({of, notes}: Props, generated) => {
    const names = known(generated)[of]?.map(({name}) => name) ?? [];
    const wrong = notes.find(({row}) => !names.includes(row));
    return wrong && `there is no row "${wrong.row}" in "${of}"; there are: ${names.join(", ")}`;
  },
  height: ({of, notes}: Props, generated) => {
    const rows = known(generated)[of] ?? [];
    const count = (text: string) => (text ? text.trimEnd().split("\n").length : 0);
    const printed = ({oursPrinted, theirsPrinted}: Row) => (oursPrinted || theirsPrinted ? Math.max(count(oursPrinted), count(theirsPrinted), 1) * LINE + 30 : 0);
    const note = (row: Row, across: number) => Math.ceil((notes.find((each) => each.row === row.name)?.says.length ?? 0) / across) * 24;
    const wide = rows.reduce((sum, row) => sum + Math.max(count(row.ours), count(row.theirs)) * LINE + printed(row) + note(row, 110) + 33, 118);
    const narrow = rows.reduce((sum, row) => sum + (count(row.ours) + count(row.theirs)) * LINE * 1.05 + 2 * printed(row) + note(row, 46) + 100, 190);
    return [narrow, wide * 1.05, wide];
  },
  fallback: ({of}: Props) => words.fallback(of),
  frame: "wide",
};
