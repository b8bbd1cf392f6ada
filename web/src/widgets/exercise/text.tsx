import {Fragment} from "preact";

/** `code`, or *stress* that stands like a word: the asterisks of a formula, a*b + c*d, are none. */
const MARKED = /(`[^`]+`|(?<=^|[\s(])\*[^*\s](?:[^*]*[^*\s])?\*(?=$|[\s.,;:!?)]))/;

/** Words from Python: `code` and *stress*, nothing else; never HTML. */
export function Text({of}: {of: string}) {
  const parts = of.split(MARKED);
  return <>{parts.map((part, index) => <Fragment key={index}>{marked(part)}</Fragment>)}</>;
}

function marked(part: string) {
  if (part.startsWith("`")) {
    const code = part.slice(1, -1);
    return <code class={/\.grad$/.test(code) ? "grad" : /\.data$/.test(code) ? "data" : ""}>{code}</code>;
  }
  return MARKED.test(part) ? <em>{part.slice(1, -1)}</em> : part;
}
