/** What a gradient is made of: a bar with widths in proportion, or rows where it would say too little. */
import {addingUp} from "../text/numbers.ts";

export type Part = {amount: number; label: string; state: "got" | "lost" | "ahead"; now?: boolean};

/** Whether parts can be told side by side: all of one sign, and each wide enough for its words. */
export const inOneBar = (amounts: number[]): boolean => {
  const total = amounts.reduce((so, amount) => so + amount, 0);
  return amounts.every((amount) => amount / total >= LEAST_SHARE);
};

const LEAST_SHARE = 0.3; // on a phone, room for "6 through b"

export function Ledger({name, note, parts, sum}: {name: string; note: string; parts: Part[]; sum?: boolean}) {
  const total = parts.reduce((so, part) => so + part.amount, 0);
  const write = addingUp(parts.map((part) => part.amount), total);
  const texts = parts.map((part) => write(part.amount));
  return (
    <div class="ledger">
      <p class="ledger-h"><code class="grad">{name}</code> <span>{note}</span>{sum && <b class="ledger-sum">{written(texts, write(total))}</b>}</p>
      {inOneBar(parts.map((part) => part.amount)) ? <Bar parts={parts} texts={texts} total={total} /> : <Rows parts={parts} texts={texts} />}
    </div>
  );
}

const classOf = (part: Part): string => (part.now ? `${part.state} now` : part.state);

/** 6 − 2 + 1 = 5 */
function written(texts: string[], sum: string): string {
  const terms = texts.map((text, i) => (i === 0 ? text : text.startsWith("−") ? ` − ${text.slice(1)}` : ` + ${text}`));
  return `${terms.join("")} = ${sum}`;
}

function Bar({parts, texts, total}: {parts: Part[]; texts: string[]; total: number}) {
  return (
    <div class="bar">
      {parts.map((part, i) => (
        <span key={i} class={classOf(part)} style={{"--n": part.amount / total}}>
          {part.state !== "ahead" && <b>{texts[i]}</b>}
          <span class="bar-label">{part.label}</span>
        </span>
      ))}
    </div>
  );
}

/** Each part from a line in the middle, to the right if it is positive. */
function Rows({parts, texts}: {parts: Part[]; texts: string[]}) {
  const largest = Math.max(...parts.map((part) => Math.abs(part.amount))) || 1;
  return (
    <ul class="rows" style={{"--digits": Math.max(...texts.map((text) => text.length))}}>
      {parts.map((part, i) => (
        <li key={i} class={classOf(part)}>
          <b>{part.state === "ahead" ? "" : texts[i]}</b>
          <span class={part.amount < 0 ? "row-bar minus" : "row-bar"} style={{"--n": Math.abs(part.amount) / largest}}><i /></span>
          <span class="bar-label">{part.label}</span>
        </li>
      ))}
    </ul>
  );
}
