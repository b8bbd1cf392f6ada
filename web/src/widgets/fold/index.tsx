/** A graph of single numbers that folds into blocks, and back: the same numbers, in the same picture. */
import material from "#generated/folding.json";
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {useWidth} from "../../graph/Canvas.tsx";
import {AtWidths} from "../../graph/AtWidths.tsx";
import {readable} from "../../text/numbers.ts";
import {fold as words} from "../../strings/en/fold.ts";
import {line, mixed, placed, thick, type Picture} from "./geometry.ts";
import type {Cell, Folding} from "./material.ts";

const {cells, blocks} = material as Folding;
const FOLDING = {cells, blocks};
const OUTER = cells.flatMap((cell, n) => (cell.inside ? [] : [n]));
const FIRST = cells.findIndex(({name}) => name === "W[0, 0]");
const COMMON = [300, 330, 640, 1060]; // widths on most screens; from 640 on it lies across
const MILLISECONDS = 900;

type Kind = "data" | "grad";

export default function Fold() {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [t, setT] = useState(0);
  const [goal, setGoal] = useState<number | null>(null);
  const [kind, setKind] = useState<Kind>("data");
  const [chosen, setChosen] = useState(FIRST);
  const picture = useMemo(() => (width ? placed(FOLDING, width) : null), [width]);
  const graph = (picture: Picture) => <Graph {...{picture, t, kind, chosen}} onChoose={setChosen} />;
  useEffect(() => (goal === null ? undefined : travel(t, goal, setT, () => setGoal(null))), [goal]);
  const folded = goal === null ? t === 1 : goal === 1;
  const percent = Math.round(t * 100);
  return (
    <div data-folded={percent}>
      <div class="w-bar">
        <span class="w-name">{words.title}</span>
        <span class="fold-count" role="status">{t === 0 ? words.nodes(cells.length) : t === 1 ? words.blocks(blocks.length) : words.between}</span>
        <fieldset class="fold-kind">
          <legend class="vh">{words.show}</legend>
          {(["data", "grad"] as const).map((each) => (
            <label key={each}><input type="radio" name="fold-kind" checked={kind === each} onChange={() => setKind(each)} /><span class={each}>{words[each]}</span></label>
          ))}
        </fieldset>
      </div>
      <div class="fold-frame drawing" ref={frame}>
        {picture ? graph(picture) : <AtWidths widths={() => COMMON}>{(at) => graph(placed(FOLDING, at))}</AtWidths>}
      </div>
      <div class="fold-ctl">
        <button type="button" class="btn primary" data-act="fold" onClick={() => setGoal(folded ? 0 : 1)}>{folded ? words.unfold : words.fold}</button>
        <label class="fold-slider"><span class="vh">{words.slider}</span>
          <input type="range" min={0} max={100} value={percent} aria-valuetext={words.sliderText(percent, cells.length, blocks.length)}
            onInput={(event) => { setGoal(null); setT(Number(event.currentTarget.value) / 100); }} /></label>
      </div>
      <div class="fold-words" role="status">
        <p class={kind === "data" ? "now" : ""}><code class="data">{made(cells[chosen]!)}</code></p>
        <p class={kind === "grad" ? "now" : ""}><code class="grad">{slope(cells[chosen]!)}</code></p>
      </div>
      <p class="fold-hint">{words.hint}</p>
    </div>
  );
}

/** Moves t to its goal, frame by frame; at once for whoever wants no motion. */
function travel(from: number, goal: number, set: (t: number) => void, done: () => void): () => void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    set(goal);
    done();
    return () => {};
  }
  const began = performance.now();
  let frame = requestAnimationFrame(function move(now) {
    const part = Math.min(1, Math.max(0, (now - began) / MILLISECONDS));
    set(from + (goal - from) * (part * part * (3 - 2 * part)));
    if (part < 1) frame = requestAnimationFrame(move);
    else {
      set(goal);
      done();
    }
  });
  return () => cancelAnimationFrame(frame);
}

function made({name, made, data}: Cell): string {
  return made ? words.made(name, made, readable(data)) : words.given(name, readable(data));
}

function slope({name, slopes, grad, to}: Cell): string {
  return to.length ? words.slope(name, slopes, readable(grad)) : words.seed(name);
}

type GraphProps = {picture: Picture; t: number; kind: Kind; chosen: number; onChoose(n: number): void};

function Graph({picture, t, kind, chosen, onChoose}: GraphProps) {
  const svg = useRef<SVGSVGElement>(null);
  const {apart, together, frames, cell, down} = picture;
  const spots = cells.map((_, n) => mixed(apart[n]!, together[n]!, t));
  const near = new Set(kind === "data" ? cells[chosen]!.from_ : cells[chosen]!.to);
  const through = new Set(cells.flatMap(({inside, into}, n) => (inside && (kind === "data" ? into === chosen : near.has(into) && touches(n, chosen)) ? [n] : [])));
  const lit = (a: number, b: number) => [a, b].every((n) => n === chosen || near.has(n) || through.has(n));
  const keys = (event: KeyboardEvent) => {
    const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!by) return;
    event.preventDefault();
    const next = OUTER[(OUTER.indexOf(chosen) + by + OUTER.length) % OUTER.length]!;
    onChoose(next);
    svg.current!.querySelector<SVGElement>(`[data-cell="${next}"]`)!.focus();
  };
  const frameOf = (name: string) => frames.find(({block}) => block.name === name)!;
  return (
    <svg ref={svg} width={picture.width} height={picture.height} viewBox={`0 0 ${picture.width} ${picture.height}`} role="group" aria-label={words.picture(cells.length, blocks.length, t === 1)} onKeyDown={keys}>
      <g style={{opacity: 1 - t}} class={`fold-lines ${kind}`}>
        {t < 1 && cells.flatMap(({operands}, n) => operands.map((m) => <path key={`${m}-${n}`} class={lit(m, n) ? "lit" : ""} d={line(spots[m]!, spots[n]!, picture)} />))}
      </g>
      <g style={{opacity: Math.max(0, 2 * t - 1)}} class={`fold-blocks ${kind}`} aria-hidden="true">
        {t > 0.5 && frames.flatMap((to) => to.block.operands.map((name) => {
          const {d, label} = thick(frameOf(name), to, down);
          return <g key={`${name}-${to.block.name}`}><path d={d} /><Shape {...label} of={frameOf(name).block.shape} /></g>;
        }))}
        {t > 0.5 && frames.map(({x, y, width, height, block}) => (
          <g key={block.name}>
            <rect class="frame" x={x - 3} y={y - 3} width={width + 6} height={height + 6} rx={5} />
            <text class="name" x={down ? x - 8 : x + width / 2} y={down ? y + height / 2 + 4 : y - 10} text-anchor={down ? "end" : "middle"}>{block.op ? `${block.name}  ${block.op}` : block.name}</text>
          </g>
        ))}
      </g>
      {cells.map((each, n) => (
        <OneNumber key={n} {...{n, each, cell, kind}} spot={spots[n]!} fade={each.inside ? 1 - t : 1} chosen={n === chosen} near={near.has(n) || through.has(n)} onChoose={onChoose} />
      ))}
    </svg>
  );
}

/** Whether a number that has no place of its own was made from another, directly or not. */
function touches(n: number, from: number): boolean {
  return cells[n]!.operands.some((m) => m === from || (cells[m]!.inside && touches(m, from)));
}

type NumberProps = {n: number; each: Cell; cell: Picture["cell"]; kind: Kind; spot: {x: number; y: number}; fade: number; chosen: boolean; near: boolean; onChoose(n: number): void};

function OneNumber({n, each, cell, kind, spot, fade, chosen, near, onChoose}: NumberProps) {
  if (fade === 0) return null;
  const {width, height} = cell;
  const own = each.inside ? {"aria-hidden": true} : {
    role: "button", tabIndex: chosen ? 0 : -1, "aria-pressed": chosen, "data-cell": n,
    "aria-label": words.cell(each.name, readable(each.data), readable(each.grad)),
    onClick: () => onChoose(n), onFocus: () => onChoose(n),
  };
  return (
    <g class={["num", kind, each.inside ? "inside" : "", chosen ? "chosen" : near ? "near" : ""].join(" ")} style={{opacity: fade}} transform={`translate(${spot.x.toFixed(1)} ${spot.y.toFixed(1)})`} {...(own as object)}>
      <rect x={-width / 2 + 1} y={-height / 2 + 1} width={width - 2} height={height - 2} rx={4} />
      <text y={4.5}>{readable(each[kind])}</text>
    </g>
  );
}

function Shape({x, y, of}: {x: number; y: number; of: number[]}) {
  const text = `(${of.join(", ")}${of.length === 1 ? "," : ""})`;
  const width = text.length * 7.3 + 8;
  return <g class="shape"><rect x={x - width / 2} y={y - 10} width={width} height={20} rx={5} /><text x={x} y={y + 4.5}>{text}</text></g>;
}
