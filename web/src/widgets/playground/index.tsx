/** The visit-order playground: put the nodes in any order, run them, see what was lost. */
import {useMemo, useState} from "preact/hooks";
import {playground as words} from "../../strings/en/playground.ts";
import {presetOf, presets} from "../stepper/presets.ts";
import {numberScene} from "../../graph/scene.ts";
import type {Graph} from "../../python/schema.ts";
import {Board, forwards} from "./Board.tsx";
import type {Props} from "./schema.ts";

function named(graph: Graph, names: readonly string[] | undefined): number[] {
  const ids = names?.map((name) => graph.nodes.find((node) => node.name === name && !node.constant)?.id);
  return ids?.every((id) => id !== undefined) ? (ids as number[]) : forwards(graph);
}

export default function Playground({preset, order}: Props) {
  const [name, setName] = useState(preset);
  const entry = presetOf(name)!;
  const scene = useMemo(() => numberScene(entry), [entry]);
  return (
    <div>
      <div class="w-bar">
        <span class="w-name">{words.name}</span>
        <label class="select"><span class="vh">{words.preset}</span>
          <select value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {presets.map((each) => <option key={each.name} value={each.name}>{each.title}</option>)}
          </select>
        </label>
        <code class="program">{[...entry.text.split(/; |\n/), ...Object.entries(entry.inputs).map(([key, x]) => `${key} = ${x}`)].join("   ")}</code>
      </div>
      <Board key={name} scene={scene} title={entry.title} search={entry.search} first={named(scene.recording.graph, name === preset ? order : undefined)} />
    </div>
  );
}
