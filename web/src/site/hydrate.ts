/** Brings the widgets of a page to life: each where it stands, each from a file of its own. The build has drawn them already. */
import {h, hydrate, render} from "preact";
import {ui as words} from "../strings/en/ui.ts";
import {Broken, Guard} from "../ui/guarded.tsx";
import {whileAsleep} from "../waking/index.ts";
import type {Widget} from "../widgets/types.ts";

export function wake(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>("[data-widget]")) void start(element);
}

async function start(element: HTMLElement): Promise<void> {
  const name = element.dataset.widget!;
  const told = element.querySelector("script")!;
  const props = JSON.parse(told.textContent!) as object;
  told.remove();
  let widget: Widget | undefined;
  try {
    widget = (await import(`../widgets/${name}/index.tsx`)) as Widget; // the bundler makes one part for each widget
    await widget.prepare?.(props);
  } catch {
    // it did not come: a browser asks for a module once and no more, so only the page as a whole can try again
    element.replaceChildren();
    render(h(Broken, {why: words.broken.notFetched, onAgain: () => location.reload()}), element);
  }
  if (widget) whileAsleep(() => hydrate(h(Guard, null, h(widget.default, props)), element));
  await null; // it is drawn again first, with what only a browser knows
  element.dataset.ready = "";
}
