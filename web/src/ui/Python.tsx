/** Python in the page, coloured as in the lessons: never HTML from somebody else, only text in spans. */
import {useLayoutEffect, useRef} from "preact/hooks";

/** From, to, and how it is coloured: Lezer knew, when the site was built (builder/tokens.mjs). */
export type Colour = [from: number, to: number, kind: string];

/** A part of a text whose colours are known. */
export function Coloured({text, colours, from, to}: {text: string; colours: Colour[]; from: number; to: number}) {
  const parts = [];
  let at = from;
  for (const [start, end, kind] of [...colours, [to, to, ""] as Colour]) {
    const [first, last] = [Math.min(Math.max(start, at), to), Math.min(end, to)];
    if (first > at) parts.push(text.slice(at, first));
    if (last > first) parts.push(<Piece key={first} kind={kind}>{text.slice(first, last)}</Piece>);
    at = Math.max(at, last);
  }
  return <>{parts}</>;
}

const Piece = ({kind, children}: {kind: string; children: string}) =>
  kind === "keyword" ? <b>{children}</b> : <span class={kind === "note" || kind === "text" ? `c-${kind}` : kind}>{children}</span>;

let painted: ((code: string) => string) | undefined;

/** Who draws pages before they are read knows the colours; a page has no script for that. */
export const paintWith = (html: (code: string) => string): void => void (painted = html);

/** Code with the colours that the build gave it: those stay when the page comes to life. Other code is plain. */
export function Python({of}: {of: string}) {
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (place.current!.textContent !== of) place.current!.textContent = of;
  }, [of]);
  return <span ref={place} dangerouslySetInnerHTML={{__html: painted?.(of) ?? ""}} />;
}

/** How far a line is set in: where it is too long, it goes on two letters further in (.hang). */
export const setIn = (line: string): {"--in": string} => ({"--in": `${/^ */.exec(line)![0].length}ch`});

/** Line by line, so that each can go on below where it is too long. */
export function PythonLines({of}: {of: string}) {
  const lines = of.split("\n");
  return <>{lines.map((line, i) => <code key={i}><span class="hang" style={setIn(line)}><Python of={line} />{i < lines.length - 1 && "\n"}</span></code>)}</>;
}
