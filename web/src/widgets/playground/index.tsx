/** The visit-order playground: put the nodes in any order, run them, see what was lost. */
import {useMemo, useRef, useState} from "preact/hooks";
import {playground as words} from "../../strings/en/playground.ts";
import {presetOf, presets} from "../stepper/presets.ts";
import {numberScene} from "../../graph/scene.ts";
import type {Graph} from "../../python/schema.ts";
import {guarded} from "../../ui/guarded.tsx";
import {Board, forwards} from "./Board.tsx";
import type {Props} from "./schema.ts";

export function mount(element: HTMLElement, props: Props): void {
  element.classList.add("order");
  guarded(<Playground {...props} />, element);
}

function named(graph: Graph, names: readonly string[] | undefined): number[] {
  const ids = names?.map((name) => graph.nodes.find((node) => node.name === name && !node.constant)?.id);
  return ids?.every((id) => id !== undefined) ? (ids as number[]) : forwards(graph);
}

function Playground({preset, order}: Props) {
  const [name, setName] = useState(preset);
  const entry = presetOf(name)!;
  const scene = useMemo(() => numberScene(entry), [entry]);
  const frame = useRef<HTMLDivElement>(null);
  const choose = (next: string) => {
    frame.current!.closest<HTMLElement>(".widget")!.style.minHeight = "0"; // room was kept for another graph
    setName(next);
  };
  return (
    <div ref={frame}>
      <div class="w-bar">
        <span class="w-name">{words.name}</span>
        <label class="select"><span class="vh">{words.preset}</span>
          <select value={name} onChange={(event) => choose(event.currentTarget.value)}>
            {presets.map((each) => <option key={each.name} value={each.name}>{each.title}</option>)}
          </select>
        </label>
        <code class="program">{[...entry.text.split(/; |\n/), ...Object.entries(entry.inputs).map(([key, x]) => `${key} = ${x}`)].join("   ")}</code>
      </div>
      <Board key={name} scene={scene} title={entry.title} search={entry.search} first={named(scene.recording.graph, name === preset ? order : undefined)} />
    </div>
  );
}
