/** Brings the widgets of a page to life: each where it stands, each from a file of its own. The build has drawn them already. */
import {h, hydrate, render, type ComponentChild} from "preact";
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
  const fetched = import(`../widgets/${name}/index.tsx`) as Promise<Widget>; // the bundler makes one part for each widget
  const widget = await fetched.catch(() => undefined);
  if (!element.isConnected) return; // the reader has gone on meanwhile
  const content = widget && h(Guard, null, h(widget.default, props));
  if (content && (await isPrepared(widget, props))) whileAsleep(() => hydrate(content, element));
  // it did not come: a browser asks for a module once and no more, so only the page as a whole can try again
  else anew(content ?? h(Broken, {why: words.broken.notFetched, onAgain: () => location.reload()}), element);
  await null; // it is drawn again first, with what only a browser knows
  element.dataset.ready = "";
}

/** Whether what the build drew can be drawn here too. Where not, the widget itself says what it lacks. */
const isPrepared = (widget: Widget, props: object): Promise<boolean> => (widget.prepare?.(props) ?? Promise.resolve()).then(() => true, () => false);

function anew(content: ComponentChild, element: HTMLElement): void {
  element.replaceChildren();
  render(content, element);
}
