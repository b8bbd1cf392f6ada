/** Share by link, save as a picture. */
import type {RefObject} from "preact";
import {useRef, useState} from "preact/hooks";
import {stepper as words} from "../../strings/en/stepper.ts";
import {svgText} from "../../graph/export.ts";
import {save} from "../../ui/save.ts";
import {linkTo} from "./link.ts";
import type {Walked} from "./index.tsx";

export function Tools({walked, element}: {walked: Walked; element: RefObject<HTMLElement | null>}) {
  const [said, setSaid] = useState("");
  const [link, setLink] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const say = (text: string) => {
    setSaid(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(""), 4000);
  };
  const copy = async () => {
    const step = Number(element.current!.querySelector<HTMLElement>(".walk")!.dataset.k);
    const page = new URL(`${document.documentElement.dataset.root}playground/`, location.href).href;
    const changed = Object.fromEntries(Object.entries(walked.inputs).filter(([name, x]) => walked.original[name] !== x));
    const {preset, text} = walked;
    const url = linkTo(page, preset !== null ? {kind: "preset", name: preset, inputs: changed, step} : {kind: "program", text, inputs: changed, step: 0});
    try {
      await navigator.clipboard.writeText(url);
      setLink(null);
      say(words.copied);
    } catch {
      setLink(url); // the browser does not let us: the reader copies it
    }
  };
  const picture = () => {
    const svg = element.current!.querySelector<SVGSVGElement>("svg.graph:not([hidden] *)")!;
    save(svgText(svg, words.graph(walked.title)), "image/svg+xml", `${(walked.preset ?? walked.title).replace(/[^\w-]+/g, "-") || "graph"}.svg`);
    say(words.saved);
  };
  return (
    <span class="w-tools">
      <span class="said" role="status">{said}</span>
      {link !== null && <input class="link" readOnly aria-label={words.copyThis} value={link} ref={(field) => field?.select()} />}
      <button type="button" class="quiet" data-act="copy" onClick={() => void copy()}>{words.copyLink}</button>
      <button type="button" class="quiet" data-act="svg" onClick={picture}>{words.saveSvg}</button>
    </span>
  );
}
