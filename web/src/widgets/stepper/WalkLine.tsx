/** The walk as a line: one tick a step, grouped into the forward pass, the seed, and each visited node. */
import {useMemo, useRef} from "preact/hooks";
import {stepper as words} from "../../strings/en/stepper.ts";
import type {Filled} from "../../graph/heat.ts";
import {clean} from "../../text/names.ts";
import type {TensorRecording} from "../../python/schema.ts";

type Group = {kind: "fw" | "sd" | "bw"; name: string; first: number; last: number};

type Walked = TensorRecording<Filled>;

export function groupsOf(recording: Walked): Group[] {
  const groups: Group[] = [];
  recording.events.forEach((event, i) => {
    const k = i + 1;
    const last = groups.at(-1);
    const kind = event.kind === "compute" ? "fw" : event.kind === "seed" ? "sd" : "bw";
    if (last?.kind === kind && event.kind !== "visit") last.last = k;
    else groups.push({kind, name: kind === "fw" ? words.forward : kind === "sd" ? words.seed : clean(recording.graph.nodes[event.node]!.name), first: k, last: k});
  });
  return groups;
}

/** A slider that has the focus tells its own value, and a screen reader reads it: nobody else need say it then. */
export const tellsItself = (walk: HTMLElement | null): boolean =>
  (walk?.getRootNode() as Document | ShadowRoot | undefined)?.activeElement?.matches(".walkline") ?? false;

type Props = {recording: Walked; k: number; spoken: string; onGo(k: number): void};

export function WalkLine({recording, k, spoken, onGo}: Props) {
  const groups = useMemo(() => groupsOf(recording), [recording]);
  const line = useRef<HTMLDivElement>(null);
  const all = recording.events.length;

  const toPointer = (event: PointerEvent) => {
    const ticks = [...line.current!.querySelectorAll<HTMLElement>("[data-k]")];
    const distance = (tick: HTMLElement) => {
      const {left, right} = tick.getBoundingClientRect();
      return event.clientX < left ? left - event.clientX : Math.max(0, event.clientX - right);
    };
    const nearest = ticks.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    const first = ticks[0]!.getBoundingClientRect().left;
    onGo(event.clientX < first ? 0 : Number(nearest.dataset.k));
  };
  const keys = (event: KeyboardEvent) => {
    const here = groups.findIndex((group) => k >= group.first && k <= group.last);
    const to = {PageUp: groups[Math.max(0, here - 1)]?.first, PageDown: groups[here + 1]?.first, ArrowUp: k + 1, ArrowDown: k - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onGo(to);
  };
  return (
    <div class="walkline" ref={line} role="slider" tabIndex={0} aria-label={words.walk} aria-valuemin={0} aria-valuemax={all} aria-valuenow={k}
      aria-valuetext={spoken} onKeyDown={keys}
      onPointerDown={(event) => (event.currentTarget.setPointerCapture(event.pointerId), toPointer(event))}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && toPointer(event)}>
      {groups.map((group) => (
        <span key={group.first} class={`wg ${group.kind}${k >= group.first && k <= group.last ? " cur" : ""}`} style={{flexGrow: group.last - group.first + 1}}>
          <span class="ticks">
            {Array.from({length: group.last - group.first + 1}, (_, i) => group.first + i).map((tick) => (
              <i key={tick} class={tick < k ? "past" : tick === k ? "now" : ""} data-k={tick} />
            ))}
          </span>
          <small>{group.name}</small>
        </span>
      ))}
    </div>
  );
}
