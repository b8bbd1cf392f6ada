/** A graph with what stands in it at one moment. Everything is drawn by classes, so that colours follow the theme. */
import {chipText, chipWidth, opWidth, sizesFor, spotFor, type Box, type Picture, type PlacedEdge} from "./geometry.ts";
import type {DrawnGraph, DrawnNode} from "./model.ts";
import {clean, fitted} from "../text/names.ts";
import {readable} from "../text/numbers.ts";
import {isMap, type Cell, type Held} from "./heat.ts";
import {MapCard} from "./MapCard.tsx";
import {memo} from "./memo.ts";
import {lookOf, type EdgeLook, type GraphState} from "./state.ts";
import type {GraphWords} from "./words.ts";

export type GraphViewProps = {
  graph: DrawnGraph;
  picture: Picture;
  state: GraphState<Held>;
  /** Which step this is: what moves, moves once for each. */
  moment: number;
  label: string;
  words: GraphWords;
  /** The node that the Tab key comes to. */
  tabbed: number;
  /** The node that a tip tells more about, and the tip's name. */
  described?: {node: number; by: string} | null;
  onPoint?: (id: number | null, by: "pointer" | "focus") => void;
  /** Somebody wants to see the numbers of a tensor. */
  onOpen?: (id: number, cell?: Cell) => void;
};

export function GraphView({graph, picture, state, moment, label, words, tabbed, described, onPoint, onOpen}: GraphViewProps) {
  const looks = new Map([...picture.edges].map(([id, {edge}]) => [id, lookOf(state, id, edge.to)]));
  // the edge in play lies on top
  const stacked = [...picture.edges.values()].sort((a, b) => STACK.indexOf(looks.get(a.edge.id)!) - STACK.indexOf(looks.get(b.edge.id)!));
  const inPlay = stacked.filter(({edge}) => looks.get(edge.id) === "play");
  return (
    <svg class={picture.captions ? "graph" : "graph bare"} width={Math.floor(picture.width * picture.scale)} height={picture.height} viewBox={`0 0 ${picture.width} ${picture.height}`} role="group" aria-label={label}>
      <g class="edges" aria-hidden="true">
        {stacked.map((placed) => {
          const look = looks.get(placed.edge.id)!;
          return <Edge key={placed.edge.id} placed={placed} look={look} moment={look === "play" ? moment : 0} />;
        })}
        {graph.nodes.filter((node) => node.op).map(({id}) => (
          <Stub key={id} op={picture.ops.get(id)!} card={picture.cards.get(id)!} leftToRight={picture.leftToRight}
            look={state.data[id] === null ? "idle" : state.grads[id] === null ? "carried" : "stub"} />
        ))}
      </g>
      {graph.nodes.map((node) => {
        const hit = state.hit?.node === node.id ? state.hit : null;
        const badge = state.badges.get(node.id);
        if (node.map) {
          return (
            <MapCard key={node.id} words={words} node={node} map={node.map} card={picture.cards.get(node.id)!} op={picture.ops.get(node.id)} picture={picture}
              data={state.data[node.id]!} grad={state.grads[node.id]!} visiting={state.visiting === node.id} done={state.visited.has(node.id)}
              hit={hit?.slot ?? null} moment={hit ? moment : 0} tabbed={node.id === tabbed} describedBy={described?.node === node.id ? described.by : undefined} onPoint={onPoint} onOpen={onOpen} />
          );
        }
        return (
          <Card key={node.id} words={words} node={node} card={picture.cards.get(node.id)!} op={picture.ops.get(node.id)} captions={picture.captions}
            data={numberIn(state.data[node.id]!)} grad={numberIn(state.grads[node.id]!)} visiting={state.visiting === node.id} done={state.visited.has(node.id)} badged={badge !== undefined}
            hit={hit?.slot ?? null} before={numberIn(hit?.before ?? null)} moment={hit ? moment : 0} tabbed={node.id === tabbed} describedBy={described?.node === node.id ? described.by : undefined} onPoint={onPoint} />
        );
      })}
      <g class="labels" aria-hidden="true">
        {stacked.map((placed) => {
          const known = state.edges.get(placed.edge.id);
          const always = placed.edge.shape !== undefined;
          return (known || always) && <Chip key={placed.edge.id} placed={placed} look={known?.look ?? "idle"} note={known?.note} late={known?.late ?? false} picture={picture} />;
        })}
        {inPlay.map(({path}) => <circle key={moment} class="runner" r="5.5" style={{offsetPath: `path("${path}")`}} />)}
        {state.visiting !== null && picture.captions && <VisitTag words={words} picture={picture} state={state} id={state.visiting} />}
        {[...state.beside].map(([id, {text}]) => <Beside key={id} card={picture.cards.get(id)!} text={text} />)}
        {[...state.badges].map(([id, badge]) => {
          const card = picture.cards.get(id)!;
          return (
            <g key={id} class={badge.bad ? "badge bad" : "badge"} transform={`translate(${card.x + 3} ${card.y + 1})`}>
              <circle r="12" />
              <text y="4.8">{badge.text}</text>
            </g>
          );
        })}
      </g>
    </svg>
  );
}

/** What a card for one number shows. */
const numberIn = (held: Held | null): number | null => (isMap(held) ? null : held);

/** The right number, on the lower edge of a card that holds a wrong one. */
function Beside({card, text}: {card: Box; text: string}) {
  const width = Math.max(card.width, text.length * 7 + 16);
  return (
    <g class="beside" transform={`translate(${card.x + card.width / 2} ${card.y + card.height + 8})`}>
      <rect x={-width / 2} y={-9} width={width} height={22} rx={6} />
      <text y={6}>{text}</text>
    </g>
  );
}

// --- edges --------------------------------------------------------------------------------------------------------------

const STACK: EdgeLook[] = ["idle", "carried", "walked", "lost", "play"];

const Edge = memo(function Edge({placed, look, moment}: {placed: PlacedEdge; look: EdgeLook; moment: number}) {
  const {edge, path, head, dataHead, strands} = placed;
  return (
    <g data-edge={edge.id} data-look={look}>
      {look === "play" && <path class="edge carried" d={path} />}
      {look === "play" && <path key={moment} class="band" pathLength={1} d={path} />}
      <path key="edge" class={`edge ${look}`} d={path} />
      {strands && <path class={`edge strands ${look}`} data-spread={edge.spread} d={strands} />}
      {look !== "lost" && <path class={`head ${look}`} d={look === "play" || look === "walked" ? head : dataHead} />}
    </g>
  );
});

/** From the op's circle to its card. */
const Stub = memo(function Stub({op, card, leftToRight, look}: {op: Box; card: Box; leftToRight: boolean; look: string}) {
  const [x, y] = [op.x + op.width / 2, op.y + op.height / 2];
  return <path class={`edge ${look}`} d={leftToRight ? `M${op.x + op.width} ${y}H${card.x}` : `M${x} ${op.y + op.height}V${card.y}`} />;
});

type ChipProps = {placed: PlacedEdge; look: EdgeLook; note: string | undefined; late: boolean; picture: Picture};

const Chip = memo(function Chip({placed, look, note, late, picture}: ChipProps) {
  const {edge, beside} = placed;
  const text = note ?? chipText(edge);
  if (!text) return null;
  const width = chipWidth(text, picture.captions);
  const [x, y] = note ? spotFor(picture, placed, width) : placed.chip;
  const kind = look === "play" ? "on" : look === "lost" ? "lost" : late ? "late" : beside ? "was flat" : "was";
  return (
    <g class={`chip ${kind}`} data-chip={edge.id} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}>
      <rect x={-width / 2} y={-11} width={width} height={22} rx={5} />
      <text y={4.5}>{text}</text>
    </g>
  );
});

function VisitTag({words, picture, state, id}: {words: GraphWords; picture: Picture; state: GraphState<Held>; id: number}) {
  const card = picture.cards.get(id)!;
  const x = picture.leftToRight ? card.x + card.width / 2 : card.x + card.width / 2 + tagSide(picture, state, id) * 60;
  return (
    <g class="vtag" transform={`translate(${x} ${picture.leftToRight ? card.y - 15 : card.y - 13})`}>
      <rect x={-32} y={-10} width={64} height={20} rx={10} />
      <text y={4}>{words.visiting}</text>
    </g>
  );
}

/** From top to bottom the op stands above the card: the tag goes to the side where no edge is in play. */
function tagSide(picture: Picture, state: GraphState<Held>, id: number): 1 | -1 {
  for (const {edge, chip} of picture.edges.values()) {
    if (edge.to !== id || state.edges.get(edge.id)?.look !== "play") continue;
    const card = picture.cards.get(id)!;
    return chip[0] > card.x + card.width / 2 ? -1 : 1;
  }
  return 1;
}

// --- cards --------------------------------------------------------------------------------------------------------------

type CardProps = {
  words: GraphWords;
  node: DrawnNode;
  card: Box;
  op: Box | undefined;
  captions: boolean;
  data: number | null;
  grad: number | null;
  visiting: boolean;
  done: boolean;
  badged: boolean;
  /** The slot that this step fills, and what stood there before. */
  hit: "data" | "grad" | null;
  before: number | null;
  moment: number;
  tabbed: boolean;
  onPoint?: GraphViewProps["onPoint"];
  describedBy?: string;
};

const Card = memo(function Card({words, node, card, op, captions, data, grad, visiting, done, badged, hit, before, moment, tabbed, describedBy, onPoint}: CardProps) {
  const {head, row, round} = sizesFor({captions});
  const left = card.x + (captions ? 12 : 8) + (badged ? 8 : 0);
  const letters = Math.floor((card.width - (left - card.x) - (done ? 26 : 8)) / (captions ? 9 : 8.1));
  const more = visiting ? [words.visiting] : done ? [words.visited] : [];
  const spokenAs = words.card(clean(node.name), data === null ? null : readable(data), grad === null ? null : readable(grad), more);
  const slot = (kind: "data" | "grad", value: number | null, y: number) => (
    <Slot words={words} kind={kind} value={value} captions={captions} hit={hit === kind} before={hit === kind ? before : null} moment={hit === kind ? moment : 0}
      box={{x: card.x + (captions ? 5 : 4), y, width: card.width - (captions ? 10 : 8), height: row - 2}} />
  );
  return (
    <g class={["node", visiting && "vis", node.nameless && "nameless"].filter(Boolean).join(" ")} data-node={node.id} data-name={node.name}
      role="img" aria-label={spokenAs} aria-describedby={describedBy} tabindex={tabbed ? 0 : -1}
      onPointerEnter={(event) => event.pointerType === "mouse" && onPoint?.(node.id, "pointer")} onPointerLeave={() => onPoint?.(null, "pointer")}
      onFocus={() => onPoint?.(node.id, "focus")} onBlur={() => onPoint?.(null, "focus")} onClick={(event) => event.currentTarget.focus({preventScroll: true})}>
      {op && <Op node={node} box={op} round={round} visiting={visiting} />}
      <rect class="card" x={card.x} y={card.y} width={card.width} height={card.height} rx={9} />
      <text class="lab" x={left} y={card.y + (captions ? 20 : 16)}>{fitted(node.name, letters)}</text>
      {done && <path class="tick" d={`M${card.x + card.width - 20} ${card.y + (captions ? 15 : 12)}l3.5 3.5 6-7.5`} />}
      {slot("data", data, card.y + head)}
      {slot("grad", grad, card.y + head + row + 1)}
      <rect class="focus" x={card.x - 4} y={card.y - 4} width={card.width + 8} height={card.height + 8} rx={12} />
    </g>
  );
});

export function Op({node, box, round, visiting}: {node: DrawnNode; box: Box; round: number; visiting: boolean}) {
  return (
    <g class={visiting ? "op vis" : "op"}>
      <rect x={box.x} y={box.y} width={opWidth(node.op, round)} height={2 * round} rx={round} />
      <text class={node.op.length > 1 ? "w" : ""} x={box.x + box.width / 2} y={box.y + round + (node.op.length > 1 ? 4.5 : 6)}>{node.op}</text>
    </g>
  );
}

type SlotProps = {words: GraphWords; kind: "data" | "grad"; value: number | null; captions: boolean; hit: boolean; before: number | null; moment: number; box: Box};

function Slot({words, kind, value, captions, hit, before, moment, box}: SlotProps) {
  const number = {x: captions ? box.x + box.width - 7 : box.x + box.width / 2, y: box.y + box.height / 2 + 5, "text-anchor": captions ? "end" : "middle"} as const;
  return (
    <g class={["slot", kind, value === null && "none", hit && "ring", before !== null && "again"].filter(Boolean).join(" ")} key={moment}>
      <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={4} />
      {captions && <text class="cap" x={box.x + 7} y={box.y + box.height / 2 + 4.2}>{words[kind]}</text>}
      {before !== null && <text {...number} class="v old">{readable(before)}</text>}
      {value !== null && <text {...number} class="v" data-value={value}>{readable(value)}</text>}
    </g>
  );
}
