/** What the three kinds of edge do to a gradient, with the numbers of the neuron. */
import type {ComponentChildren} from "preact";
import {exact as show} from "../../text/numbers.ts";
import {habits as words} from "../../strings/en/habits.ts";

/** The neuron's numbers (the tests compare them with the engine's). */
const NEURON = {x1: 2, w1: -3, product: 0.5, seed: 1, tanh: 0.5};

export default function Habits() {
  const {x1, w1, product, seed, tanh} = NEURON;
  const [toX, toW] = [product * w1, product * x1];
  return (
    <div class="rules">
      <Habit caption={<><b><Op>+</Op> {words.plus.name}</b> {words.plus.says}</>} label={words.picture.plus(show(product))}>
        <path class="e" d="M158 52C118 52 122 24 82 24M158 52C118 52 122 80 82 80M89 19l-7 5 7 5M89 75l-7 5 7 5" />
        <circle class="op" cx="168" cy="52" r="14" /><text class="opt" x="168" y="57.5">+</text>
        <Grad x={194} y={57} of={product} /><Grad x={72} y={29} end of={product} /><Grad x={72} y={85} end of={product} />
      </Habit>
      <Habit caption={<><b><Op>×</Op> {words.times.name}</b> {words.times.says}</>} label={words.picture.times(show(x1), show(w1), show(product), show(toX), show(toW))}>
        <path class="e" d="M158 52C118 52 122 20 82 20M158 52C118 52 122 84 82 84M89 15l-7 5 7 5M89 79l-7 5 7 5" />
        <Local x={119} y={35} of={w1} /><Local x={119} y={69} of={x1} />
        <circle class="op" cx="168" cy="52" r="14" /><text class="opt" x="168" y="57.5">×</text>
        <Grad x={194} y={57} of={product} /><text class="dv" x="2" y="25">{show(x1)}</text><Grad x={72} y={25} end of={toX} />
        <text class="dv" x="2" y="89">{show(w1)}</text><Grad x={72} y={89} end of={toW} />
      </Habit>
      <Habit caption={<><b>{words.other.name}</b> {words.other.says}</>} label={words.picture.other(show(seed), show(tanh), show(seed * tanh))}>
        <path class="e" d="M146 52H80M87 47l-7 5 7 5" /><Local x={117} y={52} of={tanh} />
        <rect class="op" x="146" y="38" width="46" height="28" rx="14" /><text class="opt sm" x="169" y="56.5">tanh</text>
        <Grad x={202} y={57} of={seed} /><Grad x={72} y={57} end of={seed * tanh} />
      </Habit>
    </div>
  );
}

function Habit({caption, label, children}: {caption: ComponentChildren; label: string; children: ComponentChildren}) {
  return (
    <figure>
      <svg class="mini" width="240" height="104" viewBox="0 0 240 104" role="img" aria-label={label}>{children}</svg>
      <figcaption>{caption}</figcaption>
    </figure>
  );
}

const Op = ({children}: {children: string}) => <span class="opdot">{children}</span>;
const Grad = ({x, y, of, end}: {x: number; y: number; of: number; end?: boolean}) => <text class={end ? "gv end" : "gv"} x={x} y={y}>{show(of)}</text>;

function Local({x, y, of}: {x: number; y: number; of: number}) {
  const text = `× ${show(of)}`;
  const width = 12 + text.length * 8;
  return <g class="loc"><rect x={x - width / 2} y={y - 10} width={width} height="20" rx="5" /><text x={x} y={y + 4.5}>{text}</text></g>;
}
