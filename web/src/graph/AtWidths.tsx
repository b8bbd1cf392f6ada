/** A picture for a frame whose width nobody knows yet: drawn for several widths, of which the stylesheet shows the one that fits. */
import type {ComponentChild} from "preact";

type Props = {
  /** From small to large. Each is shown in frames of its width and wider, up to the next; the first in narrower ones too. */
  widths(): number[];
  children(width: number): ComponentChild;
};

/** The frame around it has the class `drawing`; the build writes the rules for the names of the widths (builder/first.mjs). */
export function AtWidths({widths, children: draw}: Props) {
  if (typeof document !== "undefined") return <div class="at-widths" dangerouslySetInnerHTML={{__html: ""}} />; // what stands there stays
  const all = widths();
  return <div class="at-widths">{all.map((at, i) => <div key={at} class={`at-${i ? at : 0}-${all[i + 1] ?? "up"}`}>{draw(at)}</div>)}</div>;
}
