import {slope as words} from "../../strings/en/slope.ts";
import {powers as show} from "../../text/numbers.ts";
import {exact, measure, moved, scale, ticks, type Inputs, type Measured} from "./maths.ts";

const HEIGHT = 320;
const EDGE = {left: 38, right: 14, top: 12, bottom: 30};

type Drawn = {id: string; f: Measured; at: Inputs; name: string; h: number; both: boolean; width: number; reach: readonly [number, number]};

/** The curve, two points on it, and the line through them. */
export function SecantPlot({id, f, at, name, h, both, width, reach}: Drawn) {
  const area = `${id.replace(/[^\w-]/g, "-")}-area-${width}`;
  const [from, to] = [reach[0], reach[1] + 0.5];
  const value = (x: number) => f.value(moved(at, name, x));
  const samples = Array.from({length: 121}, (_, index) => from + ((to - from) * index) / 120);
  const heights = samples.map(value);
  const [low, high] = [Math.min(...heights, 0), Math.max(...heights)];
  const X = scale(from, to, EDGE.left, width - EDGE.right);
  const Y = scale(low - (high - low) * 0.08, high + (high - low) * 0.05, HEIGHT - EDGE.bottom, EDGE.top);
  const x = at[name]!;
  const [left, right] = both ? [x - h, x + h] : [x, x + h];
  const measured = measure(f, at, name, h, both);
  const anchor = value(left);
  const line = (t: number) => anchor + measured * (t - left);
  const label = words.picture(`${f.output} = ${f.formula}`, name, show(x), show(h), show(measured), show(exact(f, at, name)));
  return (
    <svg class="plot" width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
      <clipPath id={area}><rect x={EDGE.left} y={EDGE.top} width={width - EDGE.left - EDGE.right} height={HEIGHT - EDGE.top - EDGE.bottom} /></clipPath>
      {ticks(low, high, 5).map((y) => (
        <g key={y}><line class={y === 0 ? "axis" : "gl"} x1={EDGE.left} x2={width - EDGE.right} y1={Y(y)} y2={Y(y)} /><text class="ax end" x={EDGE.left - 8} y={Y(y) + 4}>{show(y)}</text></g>
      ))}
      {ticks(from, to, width > 420 ? 7 : 5).map((t) => <text key={t} class="ax mid" x={X(t)} y={HEIGHT - 10}>{show(t)}</text>)}
      <g clip-path={`url(#${area})`}>
        <path class="curve" d={samples.map((t, index) => `${index ? "L" : "M"}${X(t).toFixed(1)} ${Y(heights[index]!).toFixed(1)}`).join("")} />
        <line class="secant" x1={X(from)} y1={Y(line(from))} x2={X(to)} y2={Y(line(to))} />
        <path class="rise" d={`M${X(left)} ${Y(anchor)}H${X(right)}V${Y(value(right))}`} />
      </g>
      <circle class="point" cx={X(left)} cy={Y(anchor)} r={6} />
      <circle class="point far" cx={X(right)} cy={Y(value(right))} r={6} />
      {X(right) - X(left) > 26 && <text class="lab mid" x={(X(left) + X(right)) / 2} y={Y(anchor) + (value(right) < anchor ? -8 : 16)}>{both ? "2h" : "h"}</text>}
    </svg>
  );
}
