/** The bar above a graph: its name, its program, and the picture as a file. */
import {useRef, useState} from "preact/hooks";
import {svgText} from "../graph/export.ts";
import {save} from "../ui/save.ts";
import type {Filled} from "../graph/heat.ts";
import type {Graph} from "../python/schema.ts";
import {elsewhere as words} from "../strings/en/elsewhere.ts";
import {programOf} from "./naming.ts";

/** `named`: whether the title stands in it; a page has it in a heading above. */
export function Bar({title, graph, named = true}: {title: string; graph: Graph<Filled>; named?: boolean}) {
  const bar = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState("");
  const picture = () => {
    const svg = bar.current!.closest(".widget")!.querySelector<SVGSVGElement>("svg.graph:not([hidden] *)")!;
    save(svgText(svg, title), "image/svg+xml", `${title.replace(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "graph"}.svg`);
    setSaid(words.saved);
    setTimeout(() => setSaid(""), 4000);
  };
  return (
    <div class="w-bar" ref={bar}>
      {named && <span class="w-name">{title}</span>}
      <code class="program">{programOf(graph)}</code>
      <span class="w-tools">
        <span class="said" role="status">{said}</span>
        <button type="button" class="quiet" data-act="svg" onClick={picture}>{words.saveSvg}</button>
      </span>
    </div>
  );
}
