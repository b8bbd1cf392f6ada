/** A heat map as SVG: a colour for each cell, its number where there is room for it, and outlines around what is lit. */
import type {HeatMap} from "../python/schema.ts";
import {BLOCK_GAP, type Cell} from "./heat.ts";

type Props = {
  map: HeatMap;
  x: number;
  y: number;
  /** How large a cell is, and whether its number stands in it. */
  cell: readonly [width: number, height: number];
  numbers: boolean;
  lit?: {row?: number; column?: number; cell?: Cell};
};

const SIGNS = ["n", "", "p"];
/** The class of a step, from −5 to 5; 6 is what is not finite. */
export const shade = (step: number): string => (step > 5 ? "m-x" : `m-${SIGNS[Math.sign(step) + 1]}${Math.abs(step)}`);

export function HeatMapView({map, x, y, cell: [wide, high], numbers, lit}: Props) {
  const {steps, block, texts} = map;
  const [rows, columns] = [steps.length, steps[0]?.length ?? 0];
  const left = (j: number) => x + j * wide;
  const top = (i: number) => y + i * high + (block ? Math.floor(i / block) * BLOCK_GAP : 0);
  const blocks = Array.from({length: block ? rows / block : rows ? 1 : 0}, (_, b) => b * (block || rows));
  return (
    <g class="map">
      {blocks.map((first) => <rect key={first} class="ground" x={x} y={top(first)} width={columns * wide} height={(block || rows) * high} />)}
      {[...fields(steps, (i, j) => `M${round(left(j))} ${round(top(i))}h${round(wide)}v${round(high)}h${round(-wide)}z`)].map(([step, path]) => (
        <path key={step} class={shade(step)} d={path} />
      ))}
      {numbers && texts.map((row, i) => row.map((text, j) => (
        <g key={`${i},${j}`} class={`cell t-${shade(steps[i]![j]!)}`} data-cell={`${i},${j}`}>
          <rect x={left(j)} y={top(i)} width={wide} height={high} />
          <text x={left(j) + wide / 2} y={top(i) + high / 2 + 4.2}>{text}</text>
        </g>
      )))}
      {lit?.row !== undefined && <rect class="lit" x={x} y={top(lit.row)} width={columns * wide} height={high} />}
      {lit?.column !== undefined && <rect class="lit" x={left(lit.column)} y={y} width={wide} height={top(rows - 1) + high - y} />}
      {lit?.cell && <rect class="lit one" x={left(lit.cell[1])} y={top(lit.cell[0])} width={wide} height={high} />}
    </g>
  );
}

const round = (x: number): number => Math.round(x * 100) / 100;

/** One path for each step, of all the cells that have it: a large map is a dozen paths. */
function fields(steps: readonly number[][], cell: (i: number, j: number) => string): Map<number, string> {
  const found = new Map<number, string[]>();
  steps.forEach((row, i) => row.forEach((step, j) => {
    if (!step) return;
    const cells = found.get(step);
    if (cells) cells.push(cell(i, j));
    else found.set(step, [cell(i, j)]);
  }));
  return new Map([...found].map(([step, cells]) => [step, cells.join("")]));
}
