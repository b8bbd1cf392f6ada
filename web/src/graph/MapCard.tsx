/** The card of a tensor: its numbers and, once they have come, its gradients, each as a heat map. It opens at a click, or at Enter. */
import {MAP, mapRow, sizesFor, type Box, type Picture} from "./geometry.ts";
import {Op, type GraphViewProps} from "./GraphView.tsx";
import {cellSize, isMap, mapSize, type Cell, type Held, type MapBox} from "./heat.ts";
import {HeatMapView} from "./HeatMapView.tsx";
import {memo} from "./memo.ts";
import type {DrawnNode} from "./model.ts";
import type {GraphWords} from "./words.ts";
import {clean, fitted} from "../text/names.ts";

type Props = {
  words: GraphWords;
  node: DrawnNode;
  map: MapBox;
  card: Box;
  op: Box | undefined;
  picture: Picture;
  data: Held | null;
  grad: Held | null;
  visiting: boolean;
  done: boolean;
  hit: "data" | "grad" | null;
  moment: number;
  tabbed: boolean;
  describedBy?: string;
  onPoint?: GraphViewProps["onPoint"];
  onOpen?: GraphViewProps["onOpen"];
};

export const MapCard = memo(function MapCard({words, node, map, card, op, picture, data, grad, visiting, done, hit, moment, tabbed, describedBy, onPoint, onOpen}: Props) {
  const {captions, written} = picture;
  const {round} = sizesFor({captions});
  const more = visiting ? [words.visiting] : done ? [words.visited] : [];
  const spokenAs = words.tensor(clean(node.name), map.shape, isMap(data) ? words.map(data) : null, map.constant ? words.constant : isMap(grad) ? words.map(grad) : null, more);
  const letters = Math.floor((card.width - 27 - map.shape.length * 7.3 - (done ? 15 : 0)) / (captions ? 9 : 8.1));
  const row = mapRow(map, written);
  const slot = (kind: "data" | "grad", value: Held | null, y: number) => (
    <MapSlot words={words} kind={kind} value={value} map={map} card={card} y={y} written={written} hit={hit === kind} moment={hit === kind ? moment : 0} />
  );
  const open = (event: MouseEvent & {currentTarget: SVGGElement}) => {
    event.currentTarget.focus({preventScroll: true});
    const cell = (event.target as Element).closest<SVGElement>("[data-cell]")?.dataset.cell;
    onOpen?.(node.id, cell ? (cell.split(",").map(Number) as unknown as Cell) : undefined);
  };
  return (
    <g class={["node", "tensor", visiting && "vis", node.nameless && "nameless"].filter(Boolean).join(" ")} data-node={node.id} data-name={node.name}
      role="img" aria-label={spokenAs} aria-describedby={describedBy} tabindex={tabbed ? 0 : -1}
      onPointerEnter={(event) => event.pointerType === "mouse" && onPoint?.(node.id, "pointer")} onPointerLeave={() => onPoint?.(null, "pointer")}
      onFocus={() => onPoint?.(node.id, "focus")} onBlur={() => onPoint?.(null, "focus")} onClick={open}>
      {op && <Op node={node} box={op} round={round} visiting={visiting} />}
      <rect class="card" x={card.x} y={card.y} width={card.width} height={card.height} rx={9} />
      <text class="lab" x={card.x + 10} y={card.y + 18}>{fitted(node.name, letters)}</text>
      {done && <path class="tick" d={`M${card.x + card.width - 18} ${card.y + 14}l3.5 3.5 6-7.5`} />}
      <text class="shape" x={card.x + card.width - (done ? 24 : 9)} y={card.y + 17.5}>{map.shape}</text>
      {slot("data", data, card.y + MAP.head)}
      {!map.constant && slot("grad", grad, card.y + MAP.head + row)}
      <rect class="focus" x={card.x - 4} y={card.y - 4} width={card.width + 8} height={card.height + 8} rx={12} />
    </g>
  );
});

type SlotProps = {words: GraphWords; kind: "data" | "grad"; value: Held | null; map: MapBox; card: Box; y: number; written: boolean; hit: boolean; moment: number};

function MapSlot({words, kind, value, map, card, y, written, hit, moment}: SlotProps) {
  const [wide, high] = mapSize(map, written);
  const [x, top] = [card.x + (card.width - wide) / 2, y + MAP.caption];
  const notes = isMap(value) ? words.notes(value) : [];
  return (
    <g class={["mapslot", kind, value === null && "none", hit && "ring"].filter(Boolean).join(" ")} key={moment}>
      <text class="cap" x={card.x + 10} y={y + 9}>{words[kind]}</text>
      <rect class="place" x={x} y={top} width={wide} height={high} rx={2} />
      {isMap(value) && <g class="v"><HeatMapView map={value} x={x} y={top} cell={cellSize(map, written)} numbers={written && map.letters > 0} /></g>}
      {notes.map((note, i) => <text key={note} class="note" x={card.x + card.width / 2} y={top + high + 12 + i * MAP.note}>{note}</text>)}
    </g>
  );
}
