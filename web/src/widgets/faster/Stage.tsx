/** One stage: what it is in words, and how the graph looks there. */
import {counted as count} from "../../text/numbers.ts";
import {faster as words} from "../../strings/en/faster.ts";
import type {Rolled} from "./schema.ts";
import {Spy} from "./Spy.tsx";
import {Steps} from "./Steps.tsx";

/** A round is thin if it holds less than a quarter of what it would hold if all were alike. */
const THIN = 0.25;

export function Stage({rolled, stage}: {rolled: Rolled; stage: number}) {
  const {nodes, leaves, levels, steps, pictures} = rolled;
  const [n, l] = [count(nodes), count(levels.length)];
  switch (stage) {
    case 0:
      return (
        <div class="f-two">
          <Spy picture={pictures.tape} caption={words.picture.nodes!} nodes={n} />
          <p class="f-said">{words.said[0](n, count(leaves))}</p>
        </div>
      );
    case 1:
      return (
        <div class="f-two">
          <div class="f-tape" tabIndex={0} role="region" aria-label={words.tape}>
            <ol>{rolled.tape.map((line) => <li key={line}><code>{line}</code></li>)}</ol>
            {nodes > rolled.tape.length && <p class="more">{words.tapeMore(count(nodes - rolled.tape.length))}</p>}
          </div>
          <p class="f-said">{words.said[1](n)}</p>
        </div>
      );
    case 2: {
      const thin = levels.filter((width) => width < THIN * (nodes / levels.length)).length;
      return (
        <div class="f-two">
          <Spy picture={pictures.levels} caption={words.picture.levels!} nodes={n} cuts={levels.length <= 60} />
          <div>
            <p class="f-said">{words.said[2](l, count(thin))}</p>
            <Widths levels={levels} />
          </div>
        </div>
      );
    }
    default: {
      const products = steps.filter(({what}) => what.startsWith("matrix product")).length;
      return <Steps rolled={rolled} said={words.said[3](count(steps.length), words.products(products))} />;
    }
  }
}

const [WIDE, HIGH] = [420, 120];

/** A bar for each round; where there are more rounds than room, neighbours share one. */
function Widths({levels}: {levels: number[]}) {
  const bars = Math.min(levels.length, 105);
  const most = Math.max(...levels);
  const widest = Array.from({length: bars}, (_, bar) => Math.max(...levels.slice(Math.floor((bar * levels.length) / bars), Math.max(Math.floor(((bar + 1) * levels.length) / bars), Math.floor((bar * levels.length) / bars) + 1))));
  const step = WIDE / bars;
  const path = widest.map((width, bar) => {
    const height = Math.max(1.5, HIGH * Math.sqrt(width / most)); // by the root, so that thin rounds are still there
    return `M${(bar * step).toFixed(2)} ${HIGH}v${(-height).toFixed(2)}h${(step * 0.82).toFixed(2)}v${height.toFixed(2)}z`;
  }).join("");
  return (
    <figure class="f-widths">
      <svg viewBox={`0 0 ${WIDE} ${HIGH + 2}`} role="img" aria-label={words.widthsLabel(count(levels.length), count(most))}>
        <path d={path} /><path class="base" d={`M0 ${HIGH + 0.5}H${WIDE}`} />
      </svg>
      <p class="f-ends"><span>{words.round(1)}</span><span>{words.round(levels.length)}</span></p>
      <figcaption>{words.widths}</figcaption>
    </figure>
  );
}
