/** Names in a sentence. */
import {code, type Rich} from "../../text/rich.ts";

const MOST_NAMES = 4;

/** `b`; `b` and `c`; `b`, `c`, `d` and 7 others. */
export function listed(names: string[]): Rich {
  const shown = names.length > MOST_NAMES ? names.slice(0, MOST_NAMES - 1) : names;
  const parts: Rich[] = shown.map((name) => [code(name)]);
  if (shown.length < names.length) parts.push([`${names.length - shown.length} others`]);
  return parts.flatMap((part, i) => (i === 0 ? part : [i === parts.length - 1 ? " and " : ", ", ...part]));
}
