import {Fragment} from "preact";

/** Words from Python: `code` and *stress*, nothing else; never HTML. */
export function Text({of}: {of: string}) {
  const parts = of.split(/(`[^`]+`|\*[^*\s][^*]*\*)/);
  return <>{parts.map((part, index) => <Fragment key={index}>{marked(part)}</Fragment>)}</>;
}

function marked(part: string) {
  if (part.startsWith("`")) {
    const code = part.slice(1, -1);
    return <code class={/\.grad$/.test(code) ? "grad" : /\.data$/.test(code) ? "data" : ""}>{code}</code>;
  }
  return part.startsWith("*") && part.length > 2 ? <em>{part.slice(1, -1)}</em> : part;
}
