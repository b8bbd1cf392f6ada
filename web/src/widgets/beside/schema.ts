import type {RecordedComparisons as Recorded} from "../../python/schema.ts";
import type {Generated, Schema} from "../types.ts";

export type {ComparedRow as Row, RecordedComparisons as Recorded} from "../../python/schema.ts";
export type Note = {row: string; says: string};
export type Props = {id: string; lesson: string; of: string; notes: Note[]};

const known = (generated: Generated): Recorded["comparisons"] => (generated.recorded?.against_torch as Recorded | undefined)?.comparisons ?? {};

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
  frame: "wide",
  look: "beside",
};
