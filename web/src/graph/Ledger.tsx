/** What a gradient is made of: a bar with widths in proportion, or rows where the parts have both signs. */
import {readable} from "./numbers.ts";

export type Part = {amount: number; label: string; state: "got" | "lost" | "ahead"; now?: boolean};

export function Ledger({name, note, parts, sum}: {name: string; note: string; parts: Part[]; sum?: string}) {
  const positive = parts.every((part) => part.amount > 0) || parts.every((part) => part.amount < 0);
  return (
    <div class="ledger">
      <p class="ledger-h"><code class="grad">{name}</code> <span>{note}</span>{sum && <b class="ledger-sum">{sum}</b>}</p>
      {positive ? <Bar parts={parts} /> : <Rows parts={parts} />}
    </div>
  );
}

const classOf = (part: Part): string => (part.now ? `${part.state} now` : part.state);

function Bar({parts}: {parts: Part[]}) {
  return (
    <div class="bar">
      {parts.map((part, i) => (
        <span key={i} class={classOf(part)} style={{"--n": Math.abs(part.amount)}}>
          {part.state !== "ahead" && <b>{readable(part.amount)}</b>}
          <span class="bar-label">{part.label}</span>
        </span>
      ))}
    </div>
  );
}

/** Each part from a line in the middle, to the right if it is positive. */
function Rows({parts}: {parts: Part[]}) {
  const largest = Math.max(...parts.map((part) => Math.abs(part.amount))) || 1;
  return (
    <ul class="rows">
      {parts.map((part, i) => (
        <li key={i} class={classOf(part)}>
          <b>{part.state === "ahead" ? "" : readable(part.amount)}</b>
          <span class={part.amount < 0 ? "row-bar minus" : "row-bar"} style={{"--n": Math.abs(part.amount) / largest}}><i /></span>
          <span class="bar-label">{part.label}</span>
        </li>
      ))}
    </ul>
  );
}
