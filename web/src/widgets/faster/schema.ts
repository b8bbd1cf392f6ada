import type {Schema} from "../types.ts";

export type {MatrixPicture as Picture, Rolled, RolledStep as Step} from "../../python/schema.ts";
export type Source = "own" | "moons" | "gpt";
export type Props = {id: string; lesson: string; source: Source; stage: number};

export const schema: Schema = {
  fields: {source: {type: "text", default: "own", choices: ["own", "moons", "gpt"]}, stage: {type: "number", default: 1}},
  check: ({stage}: Props) => (Number.isInteger(stage) && stage >= 1 && stage <= 4 ? undefined : `"stage" is 1, 2, 3 or 4`),
  frame: "wide",
  look: "faster",
};
