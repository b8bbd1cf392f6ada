/** What this step does: where, a sentence, a formula over its numbers, before → after. */
import {stepper as words} from "../../strings/en/stepper.ts";
import {Ledger} from "../../ui/Ledger.tsx";
import {clean} from "../../text/names.ts";
import {boxOf, cellSize, mapSize} from "../../graph/heat.ts";
import {HeatMapView} from "../../graph/HeatMapView.tsx";
import type {HeatMap, Recording} from "../../python/schema.ts";
import {Words} from "../../ui/Words.tsx";
import {inFocus, ledgerHeight, type sharedNodes} from "./contributions.ts";
import type {Change, Formula, Told} from "./tell.ts";

export function StepBlock({told}: {told: Told}) {
  return (
    <div class="step-block">
      <div class="say">
        <p class="where">{told.phase}{told.where && <i>{told.where}</i>}</p>
        <p class="sentence"><Words of={told.sentence} /></p>
      </div>
      <div class="formula" aria-hidden="true">{told.formula && <FormulaView formula={told.formula} />}</div>
      <div class="ba" aria-hidden="true">{told.pushed ? <Pushed map={told.pushed} /> : told.change && <BeforeAfter change={told.change} />}</div>
    </div>
  );
}

function FormulaView({formula}: {formula: Formula}) {
  if (formula.kind === "line") {
    return (
      <div class="fx one">
        <span><Words of={formula.parts} /></span>
        {formula.result && <b class={formula.result.of === "data" ? "data" : "grad"}>{formula.result.text}</b>}
      </div>
    );
  }
  const {to, from, share, upstream, local, source} = formula;
  return (
    <div class="fx">
      <span class="grad">{to}.grad</span><span class="o">+=</span><span class="grad">{from}.grad</span><span class="o">×</span>
      <span class="play">∂{from}/∂{to}</span>
      <b class="grad">{share}</b><span class="o">=</span><b class="grad">{upstream}</b><span class="o">×</span><b class="play">{local}</b>
      <i class="src"><Words of={source} /></i>
    </div>
  );
}

/** The numbers that a tensor pushes. */
function Pushed({map}: {map: HeatMap}) {
  const box = boxOf([map], false);
  const [wide, high] = mapSize(box, true);
  return (
    <svg class="pushed" width={wide + 2} height={high + 2}>
      <HeatMapView map={map} x={1} y={1} cell={cellSize(box, true)} numbers={box.letters > 0} />
    </svg>
  );
}

function BeforeAfter({change: {name, of, before, after}}: {change: Change}) {
  return (
    <>
      <p class="ba-h"><code class={of === "data" ? "data" : "grad"}>{name}</code></p>
      <div class="ba-row">
        <span class={before === null ? "bslot none" : `bslot ${of}`} title={before?.exact}>
          {before === null ? <span class="vh">{words.empty}</span> : before.text}
        </span>
        <svg viewBox="0 0 28 12" aria-hidden="true"><path d="M1 6h24M20 1.5 25.5 6 20 10.5" /></svg>
        <span class={`bslot now ${of}`} title={after.exact}>{after.text}</span>
      </div>
      <p class="ba-f"><span>{words.before}</span><span>{words.after}</span></p>
    </>
  );
}

/** For a node that several others push to: what has come, and what is to come. */
export function Contributions({recording, shared, k}: {recording: Recording; shared: ReturnType<typeof sharedNodes>; k: number}) {
  const {node, parts} = inFocus(shared, k)!;
  const name = (id: number) => clean(recording.graph.nodes[id]!.name);
  const complete = parts.every((part) => part.arrived);
  return (
    <div class="contributions" style={{"--ledger": `${ledgerHeight(shared)}px`}}>
      <Ledger name={`${name(node)}.grad`} note={words.contributions(parts.length)} sum={complete}
        parts={parts.map(({amount, arrived, from, now}) => ({amount, label: arrived ? words.through(name(from)) : words.toCome, state: arrived ? "got" : "ahead", now}))} />
    </div>
  );
}
