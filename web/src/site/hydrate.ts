/** Brings the widgets of a page to life: each where it stands, each from a file of its own. */
import {h, render} from "preact";
import {ui as words} from "../strings/en/ui.ts";
import {Broken} from "../ui/guarded.tsx";
import type {Widget} from "../widgets/types.ts";

export function hydrate(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>("[data-widget]")) void start(element);
}

async function start(element: HTMLElement): Promise<void> {
  const name = element.dataset.widget!;
  const say = (why: string) => render(h(Broken, {why, onAgain: () => location.reload()}), element);
  const props: unknown = JSON.parse(element.querySelector("script")!.textContent!);
  let widget: Widget | undefined;
  try {
    widget = (await import(`../widgets/${name}/index.tsx`)) as Widget; // the bundler makes one part for each widget
  } catch {
    // it did not come: a browser asks for a module once and no more, so only the page as a whole can try again
  }
  if (!element.isConnected) return; // the reader has gone on meanwhile
  element.replaceChildren();
  try {
    if (widget) widget.mount(element, props);
    else say(words.broken.notFetched);
  } catch (error) {
    console.error(error);
    say(words.broken.failed);
  }
  element.dataset.ready = "";
}
