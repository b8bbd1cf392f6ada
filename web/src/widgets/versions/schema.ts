import type {Generated, Schema} from "../types.ts";
import type {Version} from "./folds.ts";

/** What the lesson says of a version: its file, a name, and the reason. */
export type Told = {file: string; name: string; why: string};
export type Props = {id: string; lesson: string; show: Told[]};

const known = (generated: Generated): Version[] => (generated.versions as Version[] | undefined) ?? [];

export const schema: Schema = {
  fields: {
    show: {
      type: "records",
      required: true,
      fields: {
        file: {type: "text", required: true, choices: (generated) => known(generated).map(({name}) => name)},
        name: {type: "text", required: true},
        why: {type: "markdown", required: true},
      },
    },
  },
  frame: "wide",
  look: "versions",
  task: true,
};
