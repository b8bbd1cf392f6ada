/** For the build: a widget as HTML, as it is at first. What comes to life in the browser is the same (hydrate.ts). */
import {h} from "preact";
import {renderToString} from "preact-render-to-string";
import {python} from "../../builder/highlight.mjs";
import {Guard} from "../ui/guarded.tsx";
import {paintWith} from "../ui/Python.tsx";
import type {Widget} from "../widgets/types.ts";

paintWith(python);

export async function draw(name: string, props: object): Promise<string> {
  const widget = (await import(`../widgets/${name}/index.tsx`)) as Widget;
  await widget.prepare?.(props);
  return renderToString(h(Guard, null, h(widget.default, props)));
}
