/** Nombres dentro de una frase. */
import {code, type Rich} from "../../text/rich.ts";
import type {listed as en} from "../en/lists.ts";
import type {Words} from "../words.ts";

const MOST_NAMES = 4;

/** `b`; `b` y `c`; `b`, `c`, `d` y otros 7. */
export const listed: Words<typeof en> = (names): Rich => {
  const shown = names.length > MOST_NAMES ? names.slice(0, MOST_NAMES - 1) : names;
  const parts: Rich[] = shown.map((name) => [code(name)]);
  if (shown.length < names.length) parts.push([`otros ${names.length - shown.length}`]);
  return parts.flatMap((part, i) => (i === 0 ? part : [i === parts.length - 1 ? " y " : ", ", ...part]));
};
