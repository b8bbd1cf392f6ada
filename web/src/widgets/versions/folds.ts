/** Lines of a difference, with long stretches that did not change folded away. No browser in here. */
import type {Colour} from "../../ui/Python.tsx";

export type Line = {sign: " " | "+" | "-"; text: string; marks?: [number, number]; colours: Colour[]};
export type Version = {name: string; number: number; lines: Line[]; demo: string};
export type Stretch = {kind: "lines"; lines: Line[]} | {kind: "fold"; lines: Line[]};

/** So many unchanged lines stay on each side of a change, and a fold is worth it from so many on. */
const AROUND = 2;
const WORTH = 4;

export function folded(lines: readonly Line[]): Stretch[] {
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({sign}) => sign !== " "));
  lines.forEach((line, at) => { // the name of the method in which something changes
    if (line.sign !== " ") for (let up = at; up >= 0; up--) {
      if (/^ {0,4}(def|class) /.test(lines[up]!.text)) {
        near[up] = true;
        break;
      }
    }
  });
  const stretches: Stretch[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (end < lines.length && near[end] === near[at]) end++;
    const part = lines.slice(at, end);
    const last = stretches.at(-1);
    if (!near[at] && part.length >= WORTH) stretches.push({kind: "fold", lines: part});
    else if (last?.kind === "lines") last.lines.push(...part);
    else stretches.push({kind: "lines", lines: [...part]});
    at = end;
  }
  return stretches;
}

/** The engine as the file has it. */
export const engineOf = ({lines}: Version): string => lines.filter(({sign}) => sign !== "-").map(({text}) => text).join("\n");
