import {useMemo} from "preact/hooks";
import {slope as words} from "../../strings/en/slope.ts";
import {powers as show} from "../../text/numbers.ts";
import {errorOf, errors, scale, type Inputs, type Measured} from "./maths.ts";

const HEIGHT = 320;
const EDGE = {left: 50, right: 16, top: 14, bottom: 34};
const LOWEST = -13; // errors below 10⁻¹³, and none at all, are drawn on the floor
const HIGHEST = 1.4;

type Drawn = {f: Measured; at: Inputs; name: string; h: number; exponent: number; both: boolean; width: number; onPick: (exponent: number) => void};

/** Error against nudge, both on logarithmic scales: a V. */
export function ErrorPlot({f, at, name, h, exponent, both, width, onPick}: Drawn) {
  const points = useMemo(() => errors(f, at, name, both), [f, at, name, both]);
  const X = scale(-17.3, 0.4, EDGE.left, width - EDGE.right);
  const Y = scale(LOWEST, HIGHEST, HEIGHT - EDGE.bottom, EDGE.top);
  const place = (error: number) => Y(error === 0 ? LOWEST : Math.max(LOWEST, Math.log10(error)));
  const best = points.filter(({error}) => error > 0).reduce((one, other) => (other.error < one.error ? other : one));
  const now = errorOf(f, at, name, h, both);
  const pick = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const t = ((event.clientX - box.left - EDGE.left) / (width - EDGE.left - EDGE.right)) * 17.7 - 17.3;
    onPick(Math.min(0.25, Math.max(-17, Math.round(t * 4) / 4)));
  };
  const narrow = width < 460;
  return (
    <svg class="plot error" width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={words.errorPicture(show(h), show(now), show(best.h))} onClick={pick}>
      {[-12, -9, -6, -3, 0].map((power) => (
        <g key={power}><line class="gl" x1={EDGE.left} x2={width - EDGE.right} y1={Y(power)} y2={Y(power)} /><text class="ax end" x={EDGE.left - 8} y={Y(power) + 4}>{show(10 ** power)}</text></g>
      ))}
      {(narrow ? [-16, -12, -8, -4, 0] : [-16, -14, -12, -10, -8, -6, -4, -2, 0]).map((power) => (
        <text key={power} class="ax mid" x={X(power)} y={HEIGHT - 12}>{show(Number(`1e${power}`))}</text>
      ))}
      <text class="ax" x={width - EDGE.right} y={HEIGHT - EDGE.bottom - 6} text-anchor="end">{words.hAxis}</text>
      <text class="ax" x={EDGE.left + 6} y={EDGE.top + 8}>{words.errorAxis}</text>
      <line class="now" x1={X(exponent)} x2={X(exponent)} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} />
      {points.map((point) => <circle key={point.exponent} class={point.error === 0 ? "dot none" : "dot"} cx={X(point.exponent)} cy={place(point.error)} r={3.2} />)}
      <circle class="point" cx={X(exponent)} cy={place(now)} r={6.5} />
      <text class="said" x={X(-14)} y={Y(-7.2)} text-anchor="middle">{words.rounding}</text>
      {!both && <text class="said" x={X(-2.6)} y={Y(-7.2)} text-anchor="middle">{words.bend}</text>}
    </svg>
  );
}
