/** The loss by step: each batch in grey, their running mean in blue, and what blind guessing would cost. */
import {useRef} from "preact/hooks";
import {useWidth} from "../../graph/Canvas.tsx";
import {AtWidths} from "../../graph/AtWidths.tsx";
import {names as words} from "../../strings/en/names.ts";
import {smooth, type Facts} from "./trainer.ts";

const HEIGHT = 190;
const COMMON = [300, 330, 460, 500, 640]; // widths on most screens
const PAD = {left: 30, right: 8, top: 8, bottom: 24};
const [LOW, HIGH] = [1.5, 3.5];

type Drawn = {losses: readonly number[]; facts: Facts | null};

export function Curve(drawn: Drawn) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  return (
    <div class="names-curve drawing" ref={frame}>
      {width > 0 ? <Plot {...drawn} width={width} /> : <AtWidths widths={() => COMMON}>{(at) => <Plot {...drawn} width={at} />}</AtWidths>}
    </div>
  );
}

function Plot({losses, facts, width}: Drawn & {width: number}) {
  const last = facts?.steps ?? 1000;
  const x = (step: number) => PAD.left + ((width - PAD.left - PAD.right) * step) / last;
  const y = (loss: number) => PAD.top + ((HEIGHT - PAD.top - PAD.bottom) * (HIGH - Math.min(HIGH, Math.max(LOW, loss)))) / (HIGH - LOW);
  const path = (of: (step: number) => number) => (losses.length ? `M${losses.map((_, i) => `${x(i + 1).toFixed(1)} ${y(of(i + 1)).toFixed(1)}`).join("L")}` : "");
  const told = losses.length ? smooth(losses).toFixed(2) : "";
  return (
    <svg width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={words.curve(String(losses.length), told)}>
      {[1.5, 2, 2.5, 3, 3.5].map((tick) => (
        <g key={tick}>
          <path class="gl" d={`M${PAD.left} ${y(tick)}H${width - PAD.right}`} />
          <text class="ax" x={PAD.left - 6} y={y(tick) + 4} text-anchor="end">{tick}</text>
        </g>
      ))}
      {[0, last / 2, last].map((step) => <text key={step} class="ax" x={x(step)} y={HEIGHT - 6} text-anchor={step === last ? "end" : step ? "middle" : "start"}>{step}</text>)}
      {facts && <path class="guess" d={`M${PAD.left} ${y(facts.guessing)}H${width - PAD.right}`} />}
      {facts && <text class="ax" x={width - PAD.right} y={y(facts.guessing) - 6} text-anchor="end">{words.guessing}</text>}
      <path class="single" d={path((step) => losses[step - 1]!)} />
      <path class="mean" d={path((step) => smooth(losses, step))} />
    </svg>
  );
}
