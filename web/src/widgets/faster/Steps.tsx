/** The steps in their order, with arcs for what flows between them; choosing one shows what it reads. */
import {useLayoutEffect, useRef, useState} from "preact/hooks";
import {faster as words} from "../../strings/en/faster.ts";
import type {Rolled, Step} from "./schema.ts";
import {Spy} from "./Spy.tsx";
import {counted as count} from "../../text/numbers.ts";

const ROW = 44; // pixels
const ARCS = 64;

export function Steps({rolled, said}: {rolled: Rolled; said: string}) {
  const {steps, flows, pictures, nodes, leaves} = rolled;
  const [at, setAt] = useState(() => steps.findIndex(({nodes: n}) => n === Math.max(...steps.map((step) => step.nodes))));
  const list = useRef<HTMLOListElement>(null);
  const scroll = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => { // the chosen step is in sight; only this list moves, never the page
    const {scrollTop, clientHeight} = scroll.current!;
    if ((at + 1) * ROW > scrollTop + clientHeight || at * ROW < scrollTop) scroll.current!.scrollTop = (at + 0.5) * ROW - clientHeight / 2;
  }, [at]);
  const chosen = steps[at]!;
  const all = nodes + leaves;
  const before = leaves + steps.slice(0, at).reduce((sum, step) => sum + step.nodes, 0);
  const move = (event: KeyboardEvent) => {
    const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: steps.length - 1}[event.key];
    if (to === undefined || to < 0 || to >= steps.length) return;
    event.preventDefault();
    setAt(to);
    list.current!.querySelectorAll<HTMLElement>("button")[to]!.focus();
  };
  const parts = [
    ...flows.filter(([, target]) => target === at).map(([source, , numbers]) => words.readsFrom(count(numbers!), source! + 1)),
    ...(chosen.parameters ? [words.readsLeaves(count(chosen.parameters))] : []),
  ];
  return (
    <div class="f-two f-steps-grid">
      <div>
        <p class="f-said">{said}</p>
        <Spy picture={pictures.steps} caption={words.picture.steps!} nodes={count(nodes)} band={[before / all, (before + chosen.nodes) / all]} />
      </div>
      <div class="f-steps">
        <p class="f-reads" role="status">{words.reads(at + 1, name(chosen), parts)}</p>
        <div class="f-scroll" ref={scroll}>
          <Arcs {...{flows, at}} steps={steps.length} />
          <ol ref={list} onKeyDown={move} aria-label={words.stepsLabel}>
            {steps.map((step, index) => (
              <li key={index}>
                <button type="button" aria-pressed={index === at} tabIndex={index === at ? 0 : -1} onClick={() => setAt(index)}>
                  <span class="f-n">{index + 1}</span>
                  <span class="f-what"><b>{name(step)}</b><i>{step.shape.map(count).join(" × ")}</i></span>
                  <Shape step={step} />
                  <span class="f-count">{words.nodes(count(step.nodes))}</span>
                </button>
              </li>
            ))}
          </ol>
        </div>
      </div>
    </div>
  );
}

const name = ({what}: Step): string => words.whats[what] ?? what;

function Arcs({flows, steps, at}: {flows: Rolled["flows"]; steps: number; at: number}) {
  const y = (step: number) => (step + 0.5) * ROW;
  const arc = (source: number, target: number) => {
    const out = Math.min(ARCS - 6, 14 + 7 * Math.sqrt(target - source));
    return `M${ARCS} ${y(source) + 5}C${ARCS - out} ${y(source) + 5} ${ARCS - out} ${y(target) - 5} ${ARCS} ${y(target) - 5}`;
  };
  const paths = (some: number[][]) => some.map(([source, target]) => arc(source!, target!)).join("");
  const [here, others] = [flows.filter(([, target]) => target === at), flows.filter(([, target]) => target !== at)];
  return (
    <svg class="f-arcs" width={ARCS} height={steps * ROW} aria-hidden="true">
      <path d={paths(others)} />
      <path class="here" d={paths(here)} />
      <path class="line" d={paths(here)} />
    </svg>
  );
}

/** A product as its two matrices, anything else as one; each side grows with the logarithm, so that all can be seen. */
function Shape({step: {what, shape}}: {step: Step}) {
  const size = (n: number) => Math.min(28, 3 + 4 * Math.log2(n));
  if (what.startsWith("matrix product") && shape.length === 3) {
    const [m, k, n] = shape.map((x) => size(x)) as [number, number, number];
    return (
      <svg class="f-shape" width="68" height="32" aria-hidden="true">
        <rect x={30 - k} y={16 - m / 2} width={k} height={m} /><rect x={36} y={16 - k / 2} width={n} height={k} />
      </svg>
    );
  }
  const [rows, columns] = [shape[0] ?? 1, shape[1] ?? 1];
  return <svg class="f-shape" width="68" height="32" aria-hidden="true"><rect x={4} y={16 - size(rows) / 2} width={size(columns) * 1.8} height={size(rows)} /></svg>;
}
