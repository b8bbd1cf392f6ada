/** A graph on its way from single nodes to products of matrices: the learner's own, or a large one that was recorded. */
import example from "#generated/rolling.json";
import file from "#recorded/rolled.graphs.json";
import {useEffect, useState} from "preact/hooks";
import {faster as words} from "../../strings/en/faster.ts";
import {panelId, Tabs} from "../../ui/Tabs.tsx";
import {Own} from "./Own.tsx";
import type {RollMaterial} from "../../python/schema.ts";
import type {Props, Rolled, Source} from "./schema.ts";
import {counted as count} from "../../text/numbers.ts";
import {Stage} from "./Stage.tsx";

const SOURCES: Source[] = ["own", "moons", "gpt"];

/** The recorded graphs are large: they are a file of their own, and come when they are looked at. The build has them at hand. */
let graphs: Record<string, Rolled> | undefined;
async function fetchGraphs(): Promise<void> {
  graphs ??= (typeof file === "string" ? await (await fetch(new URL(file as string, import.meta.url))).json() : file) as Record<string, Rolled>;
}

const EXAMPLE = example as RollMaterial;

export const prepare = async ({source}: Props): Promise<void> => (source === "own" ? undefined : fetchGraphs());

export default function Faster({id, source: first, stage: begin}: Props) {
  const [source, setSource] = useState<Source>(first);
  const [stage, setStage] = useState(begin - 1);
  const [own, setOwn] = useState<Rolled>(EXAMPLE.rolled);
  const [, setFetched] = useState(graphs !== undefined);
  const [trouble, setTrouble] = useState(false);
  useEffect(() => {
    if (source === "own" || graphs) return;
    setTrouble(false);
    fetchGraphs().then(() => setFetched(true), () => setTrouble(true)); // choosing a graph again tries again
  }, [source]);
  const rolled = source === "own" ? own : graphs?.[source];
  const panel = panelId(id);
  return (
    <>
      <div class="w-bar">
        <div class="chips" role="group" aria-label={words.sourcesLabel}>
          {SOURCES.map((name) => <button key={name} type="button" aria-pressed={name === source} onClick={() => setSource(name)}>{words.sources[name]}</button>)}
        </div>
      </div>
      {source === "own" && <Own text={EXAMPLE.text} onRolled={setOwn} />}
      <div class="w-bar f-stages">
        <Tabs label={words.stagesLabel} tabs={words.stages.map((name, index) => ({key: name, label: <><span class="f-n">{index + 1}</span>{name}</>}))} at={stage} panel={panel} onChoose={setStage} />
        {rolled && <p class="f-facts">{words.facts(count(rolled.nodes), count(rolled.leaves), count(rolled.levels.length), count(rolled.steps.length))}</p>}
      </div>
      <div id={panel} role="tabpanel" aria-label={words.stages[stage]!} class="f-panel" data-stage={stage + 1} data-nodes={rolled?.nodes} data-steps={rolled?.steps.length}>
        {!rolled && trouble && <p class="f-said" role="status">{words.notFetched}</p>}
        {rolled && <Stage key={`${source} ${stage}`} rolled={rolled} stage={stage} />}
      </div>
    </>
  );
}
