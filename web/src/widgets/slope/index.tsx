/** Slopes by nudging: the line through two points of a curve, and the error of its slope for every size of nudge. */
import {useMemo, useState} from "preact/hooks";
import {slope as words} from "../../strings/en/slope.ts";
import {AtWidths} from "../../graph/AtWidths.tsx";
import {ErrorPlot} from "./error.tsx";
import {powers as show} from "../../text/numbers.ts";
import {FUNCTIONS, errorOf, exact, measure, moved, power, type Inputs} from "./maths.ts";
import {useWidth} from "./measure.ts";
import type {Props} from "./schema.ts";
import {SecantPlot} from "./secant.tsx";

const COMMON = [300, 330, 460, 590, 640]; // widths of the plot on most screens
const EXACT = 10; // digits of the two numbers whose difference is taken: with fewer, the difference would not be the one shown

export default function Slope(props: Props) {
  const f = FUNCTIONS[props.function]!;
  const names = Object.keys(f.inputs);
  const errorView = props.view === "error";
  const start = errorView ? -3 : 0; // the exponent of h
  const [at, setAt] = useState<Inputs>(f.inputs);
  const [name, setName] = useState(names[0]!);
  const [exponent, setExponent] = useState(start);
  const [both, setBoth] = useState(false);
  const [frame, width] = useWidth<HTMLDivElement>();
  const h = power(exponent);
  const x = at[name]!;
  const measured = measure(f, at, name, h, both);
  const reach = useMemo(() => [f.inputs[name]! + f.reach[0], f.inputs[name]! + f.reach[1]] as const, [f, name]);
  const reset = () => (setAt(f.inputs), setExponent(start), setBoth(false));
  const common = {f, at, name, h, exponent, both};
  const plot = (width: number) => (errorView ? <ErrorPlot {...common} width={width} onPick={setExponent} /> : <SecantPlot {...common} width={width} id={props.id} reach={reach} />);
  return (
    <>
      <div class="w-bar">
        <span class="w-name">{words.names[props.view]}</span>
        <code class="program">{f.output} = {f.formula}</code>
        {names.length > 1 && (
          <div class="tabs slope-tabs" role="radiogroup" aria-label={words.input}>
            {names.map((each) => (
              <button key={each} type="button" role="radio" aria-checked={each === name}
                tabIndex={each === name ? 0 : -1} onKeyDown={(event) => arrow(event, names, each, setName)}
                onClick={() => setName(each)}>{words.input} {each}</button>
            ))}
          </div>
        )}
      </div>
      <div class="slope-grid">
        <div class="slope-plot drawing" ref={frame}>{width > 0 ? plot(width) : <AtWidths widths={() => COMMON}>{plot}</AtWidths>}</div>
        <div class="slope-side">
          <Quotient output={f.output} name={name} h={h} both={both}
            high={f.value(moved(at, name, x + h))} low={both ? f.value(moved(at, name, x - h)) : f.value(at)} measured={measured} />
          <dl class="slope-truth">
            <div><dt>{words.exact}</dt><dd class="grad" data-exact={exact(f, at, name)}>{show(exact(f, at, name))}</dd></div>
            <div><dt>{words.error}</dt><dd data-error={errorOf(f, at, name, h, both)}>{show(errorOf(f, at, name, h, both))}</dd></div>
          </dl>
          <label class="slider">
            <span>{words.h}</span><output>{show(h)}</output>
            <input type="range" min={errorView ? -17 : -4} max={0.25} step={0.25} value={exponent} data-h={h}
              aria-valuetext={words.hNow(show(h), show(measured))} onInput={(event) => setExponent(event.currentTarget.valueAsNumber)} />
          </label>
          {!errorView && (
            <label class="slider">
              <span>{words.at(name)}</span><output>{show(x)}</output>
              <input type="range" min={reach[0]} max={reach[1]} step={0.01} value={x} data-x={x}
                aria-valuetext={words.xNow(name, show(x), show(measured))}
                onInput={(event) => setAt(moved(at, name, Number(event.currentTarget.value)))} />
            </label>
          )}
          <div class="slope-foot">
            <label class="check"><input type="checkbox" checked={both} onChange={(event) => setBoth(event.currentTarget.checked)} />{words.both}</label>
            <button class="btn ghost" type="button" onClick={reset}>{words.reset}</button>
          </div>
        </div>
      </div>
    </>
  );
}

/** The quotient in symbols, and under each symbol its number. */
function Quotient({output, name, h, both, high, low, measured}: {output: string; name: string; h: number; both: boolean; high: number; low: number; measured: number}) {
  const of = (change: string) => `${output}(${name}${change})`;
  return (
    <div class="quotient" aria-hidden="true">
      <div class="q-left"><span>{words.slopeIs}</span><b class="grad" data-measured={measured}>{show(measured)}</b></div>
      <span class="o">=</span>
      <div class="q-right">
        <div class="q-over"><span>{of("+h")}</span><span class="o">−</span><span>{of(both ? "−h" : "")}</span>
          <b class="data">{show(high, EXACT)}</b><b class="o">−</b><b class="data">{show(low, EXACT)}</b></div>
        <div class="q-under"><span>{both ? "2h" : "h"}</span><b>{show(both ? 2 * h : h)}</b></div>
      </div>
    </div>
  );
}

function arrow(event: KeyboardEvent, names: string[], now: string, choose: (name: string) => void): void {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
  if (!step) return;
  event.preventDefault();
  const index = (names.indexOf(now) + step + names.length) % names.length;
  choose(names[index]!);
  (event.currentTarget as HTMLElement).parentElement!.querySelectorAll("button")[index]!.focus();
}
