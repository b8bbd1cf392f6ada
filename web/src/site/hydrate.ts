/** Brings the widgets of a page to life: each where it stands, each from a file of its own. */
import type {Widget} from "../widgets/types.ts";

export function hydrate(root: ParentNode): void {
  for (const element of root.querySelectorAll<HTMLElement>("[data-widget]")) void start(element);
}

async function start(element: HTMLElement): Promise<void> {
  const name = element.dataset.widget!;
  const props: unknown = JSON.parse(element.querySelector("script")!.textContent!);
  const widget = (await import(`../widgets/${name}/index.tsx`)) as Widget; // the bundler makes one part for each widget
  element.replaceChildren();
  widget.mount(element, props);
  element.dataset.ready = "";
}
