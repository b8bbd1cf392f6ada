/** The order as a row of nodes that can be moved: by buttons, by dragging, by the arrow keys. Focus travels along. */
import {useEffect, useRef, useState} from "preact/hooks";
import {Icon} from "../../ui/icons.tsx";
import {playground as words} from "../../strings/en/playground.ts";
import {clean} from "../../text/names.ts";
import type {Graph} from "../../python/schema.ts";

type Props = {graph: Graph; order: readonly number[]; bad: Set<number>; now: number | null; onMove(from: number, to: number): void; onRun(): void};

type Focus = {id: number; part: "handle" | "earlier" | "later"};

export function Strip({graph, order, bad, now, onMove, onRun}: Props) {
  const list = useRef<HTMLOListElement>(null);
  const [focus, setFocus] = useState<Focus | null>(null);
  const [said, setSaid] = useState("");
  const [dragged, setDragged] = useState<number | null>(null);
  const name = (id: number) => clean(graph.nodes[id]!.name);

  const move = (id: number, to: number, part: Focus["part"]) => {
    const from = order.indexOf(id);
    const place = Math.max(0, Math.min(order.length - 1, to));
    if (place === from) return;
    onMove(from, place);
    setFocus({id, part});
    setSaid(words.placed(name(id), place + 1, order.length));
  };
  useEffect(() => {
    if (!focus) return;
    const item = list.current!.querySelector(`[data-id="${focus.id}"]`)!;
    const wanted = item.querySelector<HTMLButtonElement>(`[data-part=${focus.part}]`)!;
    (wanted.disabled ? item.querySelector<HTMLButtonElement>("[data-part=handle]")! : wanted).focus({preventScroll: true});
  }, [focus]); // a new object for each move: forgetting it here would undo one that came meanwhile

  const keys = (event: KeyboardEvent, id: number) => {
    if (event.key === "Enter") {
      event.preventDefault();
      return onRun();
    }
    const at = order.indexOf(id);
    const to = {ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: order.length - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(id, to, "handle");
  };
  /** To the place whose middle is nearest to the finger. */
  const drag = (event: PointerEvent) => {
    if (dragged === null) return;
    const middles = [...list.current!.children].map((item) => item.getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.y + box.height / 2] as const);
    const far = middles.map(([x, y]) => Math.hypot(x - event.clientX, y - event.clientY));
    const to = far.indexOf(Math.min(...far));
    const from = order.indexOf(dragged);
    if (to !== from) onMove(from, to);
  };
  const drop = () => {
    if (dragged !== null) setSaid(words.placed(name(dragged), order.indexOf(dragged) + 1, order.length));
    setDragged(null);
  };
  return (
    <>
      <ol class="strip" ref={list} aria-label={words.orderLabel} onPointerMove={drag} onPointerUp={drop} onPointerCancel={drop}>
        {order.map((id, i) => (
          <li key={id} data-id={id} class={[bad.has(id) && "bad", now === id && "turn", dragged === id && "dragged"].filter(Boolean).join(" ")}>
            <button type="button" class="handle" data-part="handle" aria-label={words.handle(name(id), i + 1, order.length)} onKeyDown={(event) => keys(event, id)}
              onPointerDown={(event) => (list.current!.setPointerCapture(event.pointerId), setDragged(id))}>
              <span class="pos">{i + 1}</span> <code>{name(id)}</code>
            </button>
            <span class="mv">
              {([["earlier", i - 1, "left"], ["later", i + 1, "right"]] as const).map(([part, to, icon]) => (
                <button key={part} type="button" data-part={part} aria-label={words[part](name(id))} disabled={to < 0 || to >= order.length}
                  onClick={() => move(id, to, part)}><Icon name={icon} /></button>
              ))}
            </span>
          </li>
        ))}
      </ol>
      <p class="vh" aria-live="polite">{said}</p>
    </>
  );
}
