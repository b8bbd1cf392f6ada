/** What Python knows of a case, and what a learner has done about it. */
export type {CaseShown as Case, Choice, HuntEvent, HuntMaterial as Material, Instrument as Check, Measured, Seen, Stopped, Wrong} from "../../python/schema.ts";

/** Under this name the learner's text and tries are kept, beside those of the exercises. */
export const keyOf = (name: string): string => `hunt:${name}`;
