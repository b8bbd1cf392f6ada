/** Which node reads which: a matrix of dots, in shades where a cell stands for many nodes. */
import {faster as words} from "../../strings/en/faster.ts";
import type {Picture} from "./schema.ts";

type Props = {picture: Picture; caption: string; nodes: string; cuts?: boolean; band?: [from: number, to: number]};

/** `band` is a range of rows to point at, as fractions. */
export function Spy({picture: {side, rows, cuts}, caption, nodes, cuts: showCuts = false, band}: Props) {
  const shades = ["1", "2", "3", "4"].map((shade) => ({shade, path: cells(rows, shade)})).filter(({path}) => path);
  const shaded = shades.length > 1;
  const tall = band && Math.max(side / 80, (band[1] - band[0]) * side);
  return (
    <figure class="f-spy">
      <div class="f-frame">
        <span class="f-axis across" aria-hidden="true">{words.axes.across} →</span>
        <span class="f-axis down" aria-hidden="true">{words.axes.down} →</span>
        <svg viewBox={`0 0 ${side} ${side}`} role="img" aria-label={words.pictureLabel(caption, nodes)} shape-rendering="crispEdges">
          {showCuts && <path class="cuts" d={cuts.map((at) => `M0 ${at}H${side}`).join("")} />}
          {band && <rect class="band" x={0} y={band[0] * side} width={side} height={tall} />}
          {band && <rect class="edge" x={side * 0.985} y={band[0] * side} width={side * 0.015} height={tall} />}
          {shades.map(({shade, path}) => <path key={shade} class={`s${shade}`} d={path} />)}
        </svg>
      </div>
      <figcaption>{caption}{shaded && <span>{words.shades}</span>}</figcaption>
    </figure>
  );
}

/** All cells of one shade as one path, runs of cells in one piece. */
function cells(rows: string[], shade: string): string {
  let path = "";
  rows.forEach((row, y) => {
    for (let x = row.indexOf(shade); x >= 0; ) {
      let end = x;
      while (row[end] === shade) end++;
      path += `M${x} ${y}h${end - x}v1h${x - end}z`;
      x = row.indexOf(shade, end);
    }
  });
  return path;
}
