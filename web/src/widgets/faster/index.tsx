/** A graph on its way from single nodes to products of matrices: the learner's own, or a large one that was recorded. */
import example from "#generated/rolling.json";
import file from "#recorded/rolled.graphs.json";
import {useEffect, useState} from "preact/hooks";
import {faster as words} from "../../strings/en/faster.ts";
import {panelId, Tabs} from "../../ui/Tabs.tsx";
import {guarded} from "../../ui/guarded.tsx";
import {Own} from "./Own.tsx";
import type {RollMaterial} from "../../python/schema.ts";
import type {Props, Rolled, Source} from "./schema.ts";
import {count, Stage} from "./Stage.tsx";

const SOURCES: Source[] = ["own", "moons", "gpt"];

export function mount(element: HTMLElement, props: Props): void {
  element.classList.add("faster");
  guarded(<Faster {...props} />, element);
}

const EXAMPLE = example as RollMaterial;

/** The recorded graphs are large: they are a file of their own, and come when they are looked at. */
const recorded = async (): Promise<Record<string, Rolled>> => (await fetch(new URL(file as unknown as string, import.meta.url))).json();

function Faster({id, source: first, stage: begin}: Props) {
  const [source, setSource] = useState<Source>(first);
  const [stage, setStage] = useState(begin - 1);
  const [own, setOwn] = useState<Rolled>(EXAMPLE.rolled);
  const [graphs, setGraphs] = useState<Record<string, Rolled>>();
  const [trouble, setTrouble] = useState(false);
  useEffect(() => {
    if (source === "own" || graphs) return;
    setTrouble(false);
    recorded().then(setGraphs, () => setTrouble(true)); // choosing a graph again tries again
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
