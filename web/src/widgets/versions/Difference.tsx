/** Code, with what is new and what is gone. Signs and words tell it, not colour: blue and vermilion have their meaning. */
import {useState} from "preact/hooks";
import {Coloured} from "../../ui/Python.tsx";
import {versions as words} from "../../strings/en/versions.ts";
import {folded, type Line, type Version} from "./folds.ts";

export function Difference({version: {lines, number}}: {version: Version}) {
  const [open, setOpen] = useState<readonly number[]>([]);
  const count = (sign: string) => lines.filter((line) => line.sign === sign && line.text.trim()).length;
  return (
    <div class="v-code">
      <p class="v-count">{number === 1 ? words.first(count("+")) : <><b>{words.changes(count("+"), count("-"))}</b> {words.since(number - 1)}</>}</p>
      <div class="v-lines" role="region" aria-label={words.code(number)}>
        {folded(lines).map((stretch, index) =>
          stretch.kind === "fold" && !open.includes(index)
            ? <button key={index} class="v-fold" type="button" aria-expanded="false" onClick={() => setOpen([...open, index])}><i aria-hidden="true">⋯</i> {words.folded(stretch.lines.length)}</button>
            : stretch.lines.map((line, n) => <CodeLine key={`${index}-${n}`} line={line} first={number === 1} />),
        )}
      </div>
    </div>
  );
}

function CodeLine({line: {sign, text, marks, colours}, first}: {line: Line; first: boolean}) {
  const indent = /^ */.exec(text)![0].length;
  const body = (from: number, to: number) => <Coloured text={text} colours={colours} from={from} to={to} />;
  const kind = first || sign === " " ? "" : sign === "+" ? "new" : "gone";
  const spoken = kind === "new" ? words.added : words.removed;
  return (
    <code class={`v-line ${kind}`} data-blank={text.trim() === "" || undefined} style={{"--in": `${indent}ch`}}>
      {kind && text.trim() && <span class="vh">{spoken} </span>}
      <i aria-hidden="true">{kind === "new" ? "+" : kind === "gone" ? "−" : ""}</i>
      <span>{marks ? <>{body(indent, marks[0])}<mark>{body(...marks)}</mark>{body(marks[1], text.length)}</> : body(indent, text.length)}</span>
    </code>
  );
}
