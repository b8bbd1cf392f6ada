/** The frame of a graph: measures its width, scrolls what does not fit, follows what moves, tells every digit. */
import {useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import type {RefObject} from "preact";
import {AtWidths} from "./AtWidths.tsx";
import {widthsFor, place, type Box, type Options, type Picture} from "./geometry.ts";
import {GraphView} from "./GraphView.tsx";
import type {DrawnGraph} from "./model.ts";
import {clean, written} from "../text/names.ts";
import {exact} from "../text/numbers.ts";
import {isMap, shapeText, type Cell, type Filled, type Held} from "./heat.ts";
import type {Graph, Layout} from "../python/schema.ts";
import type {GraphState} from "./state.ts";
import type {GraphWords} from "./words.ts";

export type CanvasProps = {
  /** The graph as it was recorded, and as it is drawn. */
  info: Graph<Filled>;
  graph: DrawnGraph;
  layout: Layout;
  state: GraphState<Held>;
  /** Counts steps: what moves, moves once for each. */
  moment: number;
  /** Nothing moves: a step back, or a leap. */
  still?: boolean;
  label: string;
  words: GraphWords;
  options?: Options;
  /** How wide the frame is on the screens that are most common, beside a phone and a tablet: what the build draws fits them exactly. */
  common?: number[];
  /** Where to look for what stays at the lower end of the screen (`data-over`): the page scrolls so that the edge in play is above it. */
  over?: RefObject<HTMLElement | null>;
  /** Somebody wants to see the numbers of a tensor. */
  onOpen?(id: number, cell?: Cell): void;
};

export function Canvas({info, graph, layout, state, moment, still, label, words, options, common, over, onOpen}: CanvasProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const picture = useMemo(() => (width ? place(graph, layout, width, options) : null), [graph, layout, width]);
  const [tabbed, setTabbed] = useState(graph.root);
  const [tip, setTip] = useState<{id: number; by: "pointer" | "focus"} | null>(null);
  const [left, setLeft] = useState(0);
  const tipId = useId();
  useEffect(() => setTabbed(graph.root), [graph]);
  useFollow(frame, picture, state, moment, over);

  const point = useCallback((id: number | null, by: "pointer" | "focus") => {
    setTip((now) => (id !== null ? {id, by} : now?.by === by ? null : now));
    if (id !== null && by === "focus") setTabbed(id);
  }, []);
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") setTip(null);
    if ((event.key === "Enter" || event.key === " ") && onOpen && graph.byId.get(tabbed)?.map && (event.target as Element).closest("[data-node]")) {
      event.preventDefault();
      event.stopPropagation();
      return onOpen(tabbed);
    }
    const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!by || !(event.target as Element).closest("[data-node]")) return;
    event.preventDefault();
    const ids = graph.nodes.map(({id}) => id);
    const next = ids[(ids.indexOf(tabbed) + by + ids.length) % ids.length]!;
    frame.current!.querySelector<SVGElement>(`[data-node="${next}"]`)!.focus();
  };
  const drawn = (picture: Picture) => <GraphView graph={graph} picture={picture} state={state} moment={moment} label={label} words={words} tabbed={tabbed} described={tip && {node: tip.id, by: tipId}} onPoint={point} onOpen={onOpen} />;
  return (
    <div class={still ? "canvas still" : "canvas"}>
      <div class="canvas-scroll drawing" ref={frame} onKeyDown={keys} onScroll={(event) => setLeft(event.currentTarget.scrollLeft)}>
        {picture ? drawn(picture) : <AtWidths widths={() => widthsFor(graph, layout, common, options)}>{(at) => drawn(place(graph, layout, at, options))}</AtWidths>}
      </div>
      {picture && tip && graph.byId.has(tip.id) && <Tip id={tip.id} name={tipId} words={words} info={info} state={state} card={shownAt(picture, picture.cards.get(tip.id)!)} left={left} width={width} />}
    </div>
  );
}

/** How wide an element is inside, now and after every change. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const target = element.current!;
    const measure = () => {
      if (target.clientWidth) setWidth(Math.floor(target.clientWidth - 20)); // less its padding, which is there for focus rings; 0: out of sight
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return width;
}

// --- following ----------------------------------------------------------------------------------------------------------

/** Keep what this step is about in sight: inside the frame, and between what stays at the ends of the screen. */
function useFollow(frame: RefObject<HTMLElement | null>, picture: Picture | null, state: GraphState<Held>, moment: number, over?: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (moment === 0 || !picture || !frame.current) return;
    const found = inPlay(picture, state);
    if (!found) return;
    const box = shownAt(picture, found);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const behavior = calm ? "auto" : "smooth";
    const {scrollLeft, clientWidth} = frame.current;
    if (picture.width * picture.scale > clientWidth && (box.x < scrollLeft + 16 || box.x + box.width > scrollLeft + clientWidth - 16)) {
      frame.current.scrollTo({left: box.x + box.width / 2 - clientWidth / 2, behavior});
    }
    const sticky = (element: Element) => getComputedStyle(element).position === "sticky";
    const dock = [...(over?.current?.querySelectorAll("[data-over]") ?? [])].find(sticky);
    if (!dock) return;
    const header = document.querySelector("header.top");
    const ceiling = header && sticky(header) ? header.getBoundingClientRect().bottom : 0;
    const top = frame.current.getBoundingClientRect().top + box.y;
    const floor = dock.getBoundingClientRect().top;
    if (top < ceiling + 8 || top + box.height > floor - 8) window.scrollBy({top: top + box.height / 2 - (ceiling + floor) / 2, behavior});
  }, [moment, picture]);
}

/** Where a box of a picture is in its frame: a picture that shrank stands in the middle of its height. */
const shownAt = ({height, scale}: Picture, box: Box): Box => ({x: box.x * scale, y: box.y * scale + (height * (1 - scale)) / 2, width: box.width * scale, height: box.height * scale});

/** The box around the nodes that this step is about. */
function inPlay(picture: Picture, state: GraphState<Held>): Box | null {
  const boxes: Box[] = [];
  const add = (id: number) => boxes.push(...[picture.cards.get(id), picture.ops.get(id)].filter((box) => box !== undefined));
  if (state.hit) add(state.hit.node);
  for (const {edge} of picture.edges.values()) if (state.edges.get(edge.id)?.look === "play") boxes.push(picture.ops.get(edge.to)!);
  if (!boxes.length && state.visiting !== null) add(state.visiting);
  if (!boxes.length) return null;
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  return {x, y, width: Math.max(...boxes.map((box) => box.x + box.width)) - x, height: Math.max(...boxes.map((box) => box.y + box.height)) - y};
}

// --- every digit --------------------------------------------------------------------------------------------------------

function Tip({id, name, words, info, state, card, left, width}: {id: number; name: string; words: GraphWords; info: Graph<Filled>; state: GraphState<Held>; card: Box; left: number; width: number}) {
  const node = info.nodes[id]!;
  const parts = node.operands.map((operand) => clean(info.nodes[operand]!.name));
  const x = Math.max(0, Math.min(card.x - left + 4, width - 250));
  const number = (value: Held | null) => (value === null ? words.notYet : isMap(value) ? `${shapeText(value.shape)} ${words.map(value)}` : exact(value));
  return (
    <div class="tip" role="tooltip" id={name} style={{left: `${x}px`, top: `${card.y + card.height + 10}px`}}>
      <div class="made">{node.operands.length ? words.made(clean(node.name), written(node.op, parts)) : `${clean(node.name)}: ${words.leaf}`}</div>
      <dl>
        <dt>{words.data}</dt>
        <dd>{number(state.data[id]!)}</dd>
        <dt>{words.grad}</dt>
        <dd>{number(state.grads[id]!)}</dd>
      </dl>
    </div>
  );
}
