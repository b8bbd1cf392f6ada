/** The loss by step, and beside it another run to hold it against. */
import {useRef} from "preact/hooks";
import {useWidth} from "../../graph/Canvas.tsx";
import {AtWidths} from "../../graph/AtWidths.tsx";
import {readable} from "../../text/numbers.ts";
import {training as words} from "../../strings/en/training.ts";

const HEIGHT = 176;
const COMMON = [300, 330, 420, 460, 640]; // widths on most screens
const PAD = {left: 34, right: 10, top: 8, bottom: 24};

export type Other = {losses: readonly number[]; label: string};

type Drawn = {losses: readonly number[]; other: Other | null};

export function LossCurve(drawn: Drawn) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  return (
    <div class="losswrap drawing" ref={frame}>
      {width > 0 ? <Plot {...drawn} width={width} /> : <AtWidths widths={() => COMMON}>{(at) => <Plot {...drawn} width={at} />}</AtWidths>}
    </div>
  );
}

function Plot({losses, other, width}: Drawn & {width: number}) {
  const step = losses.length - 1;
  const last = Math.max(100, Math.ceil(step / 100) * 100);
  const top = niceTop(Math.max(...losses, ...(other?.losses.slice(0, last + 1) ?? []), 0.1));
  const x = (i: number) => PAD.left + ((width - PAD.left - PAD.right) * i) / last;
  const y = (loss: number) => PAD.top + (HEIGHT - PAD.bottom - PAD.top) * (1 - Math.min(loss, top) / top);
  const path = (values: readonly number[]) => `M${values.slice(0, last + 1).map((loss, i) => `${x(i).toFixed(1)} ${y(loss).toFixed(1)}`).join("L")}`;
  const ticks = [0, 1, 2, 3].map((i) => (top * i) / 3);
  return (
    <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={words.curve(step, readable(losses[step]!))}>
      {ticks.map((tick) => (
        <g key={tick}>
          <path class="gl" d={`M${PAD.left} ${y(tick)}H${width - PAD.right}`} />
          <text class="ax" x={PAD.left - 8} y={y(tick) + 4} text-anchor="end">{tick.toFixed(Number.isInteger(top / 3) ? 0 : 1)}</text>
        </g>
      ))}
      {[0, last / 2, last].map((i) => (
        <text key={i} class="ax" x={x(i)} y={HEIGHT - 5} text-anchor={i === last ? "end" : i ? "middle" : "start"}>{i || words.firstStep}</text>
      ))}
      {other && <path class="other" d={path(other.losses)} />}
      {other && <text class="ax" x={x(last)} y={Math.min(HEIGHT - PAD.bottom - 8, y(endOf(other, last)) - 7)} text-anchor="end">{other.label}</text>}
      <path class="loss" d={path(losses)} />
      <circle class="lossdot" cx={x(step)} cy={y(losses[step]!)} r={5} />
    </svg>
  );
}

const endOf = ({losses}: Other, last: number): number => losses[Math.min(last, losses.length - 1)]!;

/** The least round number above, of which a third is round too. */
function niceTop(most: number): number {
  return [0.3, 0.6, 0.9, 1.2, 1.5, 3, 6, 9, 12, 15, 30, 60, 90, 150, 300].find((top) => top >= most) ?? 300;
}
