/** The numbers of one tensor: its maps with one cell lit, a matrix product as its faces, and a way into the graph of that one number. */
import {useEffect, useRef} from "preact/hooks";
import {useWidth} from "../../graph/Canvas.tsx";
import {facesOf, products, type Faces} from "../../graph/faces.ts";
import {cellOf, cellSize, isMap, mapSize, numberAt, placeOf, shapeText, type Cell, type Filled, type Held, type Place} from "../../graph/heat.ts";
import {HeatMapView} from "../../graph/HeatMapView.tsx";
import type {GraphState} from "../../graph/state.ts";
import type {Graph, HeatMap} from "../../python/schema.ts";
import {graph as graphWords} from "../../strings/en/graph.ts";
import {tensors as words} from "../../strings/en/tensors.ts";
import {clean, placeText} from "../../text/names.ts";
import {exact, readable} from "../../text/numbers.ts";
import {Icon} from "../../ui/icons.tsx";

type Props = {
  graph: Graph<Filled>;
  state: GraphState<Held>;
  node: number;
  place: Place;
  busy: boolean;
  error: string;
  onPlace(place: Place): void;
  /** Step through the graph of the chosen number; nothing where nobody can compute it. */
  onInto?(): void;
  onClose(): void;
};

export function Cells({graph, state, node, place, busy, error, onPlace, onInto, onClose}: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  useEffect(() => {
    frame.current!.focus({preventScroll: true});
    frame.current!.closest("section")!.scrollIntoView({block: "nearest"});
  }, []);
  const info = graph.nodes[node]!;
  const name = clean(info.name);
  const data = info.data as HeatMap;
  const known = state.data[node] !== null;
  const grad = state.grads[node];
  const at = `${name}${placeText(place)}`;
  const [a, b] = info.operands.map((id) => graph.nodes[id]!);
  const faces = known && info.op === "@" && isMap(a?.data) && isMap(b?.data) ? facesOf(a.data, b.data, data, place) : null;
  const number = numberAt(data, place);
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") return onClose();
    const by = ({ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]} as Record<string, Cell>)[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const cell = cellOf(data, place);
    const [rows, columns] = [data.steps.length, data.steps[0]!.length];
    const next = [clamp(cell[0] + by[0], rows - 1), clamp(cell[1] + by[1], columns - 1)] as const;
    onPlace(data.shape.length === 1 ? [placeOf(data, next)[0]!] : placeOf(data, next));
  };
  return (
    <section class="cells" aria-label={words.cells(name)} data-cells={node}>
      <div class="cells-h">
        <p><code>{name}</code> <span class="ink3">{shapeText(data.shape)}</span></p>
        <button type="button" class="quiet" data-act="close" onClick={onClose}>{words.close}</button>
      </div>
      <div class="cells-maps" ref={frame} tabIndex={0} role="group" aria-label={`${faces ? words.faces(name, clean(a!.name), clean(b!.name)) : words.cells(name)}. ${words.moves}`}
        onKeyDown={keys} onPointerDown={(event) => event.currentTarget.focus({preventScroll: true})}>
        {width > 0 && faces ? (
          <FacesView faces={faces} names={[clean(a!.name), clean(b!.name), name]} width={width} onCell={(cell) => onPlace(placeIn(data, a!.data as HeatMap, b!.data as HeatMap, place, cell))} />
        ) : width > 0 && known && <Figure caption="data" map={data} place={place} width={width} onPlace={onPlace} />}
        {width > 0 && isMap(grad) && <Figure caption="grad" map={grad} place={place} width={width} onPlace={onPlace} />}
      </div>
      <div class="cells-at">
        <span class="cells-index"><code>{name}[</code>
          {place.map((i, axis) => (
            <span key={axis}>
              {axis > 0 && <code>, </code>}
              <input type="number" aria-label={words.axis(axis, data.shape[axis]! - 1)} min={0} max={data.shape[axis]! - 1} value={i} data-axis={axis}
                onInput={(event) => {
                  const typed = Math.trunc(Number(event.currentTarget.value));
                  if (event.currentTarget.value !== "" && Number.isFinite(typed)) onPlace(place.map((old, each) => (each === axis ? clamp(typed, data.shape[axis]! - 1) : old)));
                }} />
            </span>
          ))}
          <code>]</code>
        </span>
        <p class="cells-says" role="status">
          <span class="data">{!known ? graphWords.notYet : number === null ? words.unknown : <>{at} = <b title={exact(number)}>{faces ? products(faces, data, place, words.more) : readable(number)}</b></>}</span>
          <span class="grad">{info.constant ? words.constant : isMap(grad) ? words.gradOf(at, readableAt(grad, place)) : words.noGrad}</span>
        </p>
      </div>
      {data.every.some((step) => step > 1) && <p class="cells-note">{words.sampled}</p>}
      {onInto && !info.constant && (
        <div class="cells-into">
          <button type="button" class="btn" data-act="into" aria-busy={busy} aria-disabled={busy} onClick={() => !busy && onInto()}>{words.stepInto(at)} <Icon name="right" /></button>
          {busy && <span class="ink3" role="status">{words.opening}</span>}
        </div>
      )}
      {error && <div class="reply miss" role="alert"><p class="reply-h"><Icon name="miss" /><span>{error}</span></p></div>}
    </section>
  );
}

const clamp = (x: number, most: number): number => Math.max(0, Math.min(most, x));

const readableAt = (map: HeatMap, place: Place): string => {
  const number = numberAt(map, place);
  return number === null ? words.unknown : readable(number);
};

/** The place in a product of a cell of its corner. */
function placeIn({shape}: HeatMap, a: HeatMap, b: HeatMap, place: Place, [row, column]: Cell): Place {
  const own = [...(a.shape.length > 1 ? [row] : []), ...(b.shape.length > 1 ? [column] : [])];
  return [...place.slice(0, shape.length - own.length), ...own];
}

const PAD = 3; // around a map, for its outlines

type Sized = {rows: number; columns: number; letters: number; block: number};

const sized = ({steps, texts, block}: HeatMap): Sized => ({
  rows: steps.length, columns: steps[0]?.length ?? 0, block, letters: Math.max(0, ...texts.flat().map((text) => text.length)),
});

/** One map, large enough to be pointed at. */
function Figure({caption, map, place, width, onPlace}: {caption: "data" | "grad"; map: HeatMap; place: Place; width: number; onPlace(place: Place): void}) {
  const box = sized(map);
  const written = mapSize(box, true)[0] + 2 * PAD <= width;
  const [wide, high] = mapSize(box, written);
  const [across, down] = cellSize(box, written);
  const point = (event: PointerEvent & {currentTarget: SVGSVGElement}) => {
    const {left, top} = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - left - PAD, event.clientY - top - PAD];
    const blocks = map.block ? Math.floor(y / (map.block * down + 4)) : 0;
    onPlace(placeOf(map, [clamp(Math.floor((y - blocks * 4) / down), box.rows - 1), clamp(Math.floor(x / across), box.columns - 1)]));
  };
  return (
    <figure class="cells-figure">
      <figcaption class={caption}>{graphWords[caption]}</figcaption>
      <svg width={wide + 2 * PAD} height={high + 2 * PAD} role="img" aria-label={`${graphWords[caption]}: ${graphWords.map(map)}`} onPointerDown={point}>
        <HeatMapView map={map} x={PAD} y={PAD} cell={[across, down]} numbers={written && box.letters > 0} lit={{cell: cellOf(map, place)}} />
      </svg>
      {graphWords.notes(map).map((note) => <small key={note}>{note}</small>)}
    </figure>
  );
}

const BETWEEN = 14; // pixels between the faces
const NAME = 18; // … and for a name over one

function FacesView({faces: {left, above, corner, row, column}, names, width, onCell}: {faces: Faces; names: [string, string, string]; width: number; onCell(cell: Cell): void}) {
  const [a, b, c] = [left, above, corner].map(sized) as [Sized, Sized, Sized];
  const columns = (first: number, second: number) => 2 * PAD + BETWEEN + first * a.columns + second * c.columns;
  const letters = Math.max(b.letters, c.letters); // of those that stand below each other
  const [ofLeft, ofOthers] = [cellSize(a, true), cellSize({...c, letters}, true)];
  const numbers = [a, b, c].every((map) => map.letters > 0) && columns(ofLeft[0], ofOthers[0]) <= width;
  const side = Math.min(16, (width - columns(0, 0)) / (a.columns + c.columns), 240 / (b.rows + c.rows));
  const [first, others] = numbers ? [ofLeft, ofOthers] : [[side, side] as const, [side, side] as const];
  const [x, y] = [PAD + a.columns * first[0] + BETWEEN, PAD + NAME + b.rows * others[1] + NAME + 6];
  const point = (event: PointerEvent & {currentTarget: SVGSVGElement}) => {
    const from = event.currentTarget.getBoundingClientRect();
    const cell = [Math.floor((event.clientY - from.top - y) / others[1]), Math.floor((event.clientX - from.left - x) / others[0])] as const;
    if (cell[0] >= 0 && cell[0] < c.rows && cell[1] >= 0 && cell[1] < c.columns) onCell(cell);
  };
  return (
    <svg class="faces" width={columns(first[0], others[0])} height={y + c.rows * others[1] + PAD} aria-hidden="true" onPointerDown={point}>
      <text class="face-name" x={x} y={PAD + 11}>{names[1]}</text>
      <HeatMapView map={above} x={x} y={PAD + NAME} cell={others} numbers={numbers} lit={{column}} />
      <text class="face-name" x={PAD} y={y - 6}>{names[0]}</text>
      <HeatMapView map={left} x={PAD} y={y} cell={first} numbers={numbers} lit={{row}} />
      <text class="face-name" x={x} y={y - 6}>{names[2]}</text>
      <HeatMapView map={corner} x={x} y={y} cell={others} numbers={numbers} lit={{cell: [row, column]}} />
    </svg>
  );
}
