/** The output at every point as a height map, told by lightness; the classes by shape, for colours have a meaning already. */
import {useMemo, useRef} from "preact/hooks";
import {minus} from "../../text/numbers.ts";
import {training as words} from "../../strings/en/training.ts";
import type {Points, Training} from "../../python/schema.ts";
import {rings, sampled, type Ring} from "./contour.ts";
import {scorer} from "./network.ts";

const WIDTH = 460;
const HEIGHT = 360;
const LEFT = -1.75;
const TOP = 2.01;
const UNIT = WIDTH / 4.5; // pixels for 1
const STEP = 10; // pixels between two samples
const LEVELS = [-0.9, -0.5, 0, 0.5, 0.9];

const toX = (x1: number): number => (x1 - LEFT) * UNIT;
const toY = (x2: number): number => (TOP - x2) * UNIT;

type Label = {level: number; x: number; y: number};

export function ScoreMap({points, state}: {points: Points; state: Training}) {
  const before = useRef(new Map<number, Label>());
  const {areas, labels} = useMemo(() => {
    const score = scorer(state.hidden, state.parameters);
    const field = sampled(WIDTH / STEP + 1, HEIGHT / STEP + 1, (column, row) => score(LEFT + (column * STEP) / UNIT, TOP - (row * STEP) / UNIT));
    const areas = LEVELS.map((level) => ({level, rings: rings(field, level)}));
    const labels = labelled(areas, points, before.current, (x, y) => score(LEFT + x / UNIT, TOP - y / UNIT));
    before.current = new Map(labels.map((label) => [label.level, label]));
    return {areas, labels};
  }, [state, points]);
  return (
    <figure class="map">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words.map(state.step, state.wrong.length, points.y.length)}>
        <rect class="b1" width={WIDTH} height={HEIGHT} />
        {areas.map(({level, rings: found}, i) => <path key={level} class={`b${i + 2}`} d={pathOf(found)} fill-rule="evenodd" />)}
        {areas.map(({level, rings: found}) => <path key={level} class={level === 0 ? "zero" : "iso"} d={pathOf(found)} />)}
        {points.X.map(([x1, x2], i) =>
          points.y[i]! < 0
            ? <circle key={i} class="pa" cx={toX(x1!)} cy={toY(x2!)} r={4.6} />
            : <rect key={i} class="pb" x={toX(x1!) - 4.4} y={toY(x2!) - 4.4} width={8.8} height={8.8} />,
        )}
        {state.wrong.map((i) => <circle key={i} class="wrong" cx={toX(points.X[i]![0]!)} cy={toY(points.X[i]![1]!)} r={8.5} />)}
        {labels.map(({level, x, y}) => (
          <g key={level} class={level === 0 ? "lvl lz" : level > 0 ? "lvl lp" : "lvl"} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}>
            <rect x={level === 0 ? -12 : -18} y={-9} width={level === 0 ? 24 : 36} height={18} rx={9} />
            <text y={4}>{level > 0 ? `+${level}` : minus(String(level))}</text>
          </g>
        ))}
      </svg>
      <figcaption>
        <span><svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true"><circle class="pa" r="4.6" /></svg>{words.upper}</span>
        <span>
          <svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true"><rect class="pb" x="-4.4" y="-4.4" width="8.8" height="8.8" /></svg>
          {words.lower}
        </span>
        <span><svg width="20" height="20" viewBox="-10 -10 20 20" aria-hidden="true"><circle class="wrong" r="8" /></svg>{words.wrong(state.wrong.length)}</span>
      </figcaption>
    </figure>
  );
}

const STEEPEST = 1 / 8; // where two levels are nearer to each other than this many pixels, a number would cover both

const steepness = (score: (x: number, y: number) => number, x: number, y: number): number =>
  Math.hypot(score(x + 2, y) - score(x - 2, y), score(x, y + 2) - score(x, y - 2)) / 4;

const placed = ([column, row]: Ring[number]): string => `${(column * STEP).toFixed(1)} ${(row * STEP).toFixed(1)}`;

const pathOf = (found: Ring[]): string => found.map((ring) => `M${ring.map(placed).join("L")}Z`).join("");

/** A place for the number of each level on its line: clear of points and other labels, and near where it stood before. */
function labelled(areas: {level: number; rings: Ring[]}[], points: Points, before: Map<number, Label>, score: (x: number, y: number) => number): Label[] {
  const dots = points.X.map(([x1, x2]) => [toX(x1!), toY(x2!)] as const);
  const found: Label[] = [];
  for (const {level, rings: lines} of [...areas].sort((a, b) => Math.abs(a.level) - Math.abs(b.level))) {
    const was = before.get(level);
    let best: (Label & {worth: number}) | null = null;
    for (const ring of lines) {
      for (let i = 0; i < ring.length; i += 2) {
        const [x, y] = [ring[i]![0] * STEP, ring[i]![1] * STEP];
        if (x < 22 || x > WIDTH - 22 || y < 18 || y > HEIGHT - 18) continue;
        const toDots = Math.min(...dots.map(([dx, dy]) => Math.hypot(dx - x, dy - y)));
        const toLabels = Math.min(80, ...found.map((other) => Math.hypot(other.x - x, other.y - y)));
        if (toLabels < 34 || (level !== 0 && steepness(score, x, y) > STEEPEST)) continue;
        const worth = Math.min(toDots, 34) + toLabels / 4 - (was ? Math.min(Math.hypot(was.x - x, was.y - y), 120) / 3 : 0);
        if (!best || worth > best.worth) best = {level, x, y, worth};
      }
    }
    if (best) found.push({level, x: best.x, y: best.y});
  }
  return found;
}
