import type {Piece} from "../text/rich.ts";

/** What a translation must look like: every word of the English file, and no other. `es/quiz.ts` says
 *
 *     import type {quiz as en} from "../en/quiz.ts";
 *     export const quiz: Words<typeof en> = {…};
 *
 * Where English has a text, any text will do; where it has a function, one that takes the same.
 */
export type Words<T> = T extends Piece
  ? T
  : T extends string
    ? string
    : T extends (...given: infer Given) => infer Result
      ? (...given: Given) => Words<Result>
      : T extends object
        ? {[Key in keyof T]: Words<T[Key]>}
        : T;
