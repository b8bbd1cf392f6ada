/** A walk through one graph: the picture, what each step says, the line of steps, the buttons, the leaves.

It knows nothing of where its recording comes from: a page of the course, a notebook or a file hands it in.
*/
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {graph as graphWords} from "../../strings/en/graph.ts";
import {stepper as words} from "../../strings/en/stepper.ts";
import {tensors as tensorWords} from "../../strings/en/tensors.ts";
import {Canvas} from "../../graph/Canvas.tsx";
import {leastWidth} from "../../graph/geometry.ts";
import {isMap, placeOf, type Cell, type Held, type Place} from "../../graph/heat.ts";
import {sceneOf, type Given, type Scene} from "../../graph/scene.ts";
import {stateAfter, type GraphState} from "../../graph/state.ts";
import {clean, placeText} from "../../text/names.ts";
import {Act} from "../../ui/Act.tsx";
import {Cells} from "./Cells.tsx";
import {sharedNodes} from "./contributions.ts";
import {Leaves} from "./Leaves.tsx";
import {Legend, MapLegend} from "./Legend.tsx";
import {usePlayer, type Follow, type Player} from "./player.ts";
import {SLIM} from "./slim.ts";
import {Contributions, StepBlock} from "./StepBlock.tsx";
import {tell} from "./tell.ts";
import {tellTensors} from "./tellTensors.ts";
import {Transport} from "./Transport.tsx";
import {tellsItself, WalkLine} from "./WalkLine.tsx";

/** The graph of one number of a tensor, or why there is none. */
export type CellGraph = {given: Given} | {error: string};

type WalkProps = {
  scene: Scene;
  title: string;
  /** The numbers it starts from, and what they were at first; empty where they cannot be changed. */
  inputs: Record<string, number>;
  original: Record<string, number>;
  forwardOnly?: boolean;
  start: number;
  /** Somebody else who moves along with the step. */
  follow?: Follow;
  /** A word on the leaves. */
  note?: string;
  onInputs(inputs: Record<string, number>): void;
  /** Somebody began to use it. */
  onWake?(): void;
  /** Computes the graph of one number of a tensor; nothing where nobody can. */
  onCell?(node: number, place: Place): Promise<CellGraph>;
};

/** A walk, and in its place the walk through one number's own graph, while somebody looks at that. */
export function Walk(props: WalkProps) {
  const [opened, setOpened] = useState<{scene: Scene; title: string} | null>(null);
  const outer = useRef<HTMLDivElement>(null);
  const leave = () => {
    setOpened(null);
    requestAnimationFrame(() => outer.current?.querySelector<HTMLElement>("[data-act=into]")?.focus());
  };
  return (
    <>
      <div ref={outer} hidden={opened !== null}>
        <Stepping {...props} onOpened={(scene, title) => setOpened({scene, title})} />
      </div>
      {opened && <Opened {...opened} onLeave={leave} />}
    </>
  );
}

/** The walk through the graph of one number. */
function Opened({scene, title, onLeave}: {scene: Scene; title: string; onLeave(): void}) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => bar.current!.querySelector("button")!.focus(), []); // what had the focus has gone
  return (
    <div class="opened">
      <div class="opened-bar" ref={bar}>
        <Act act="leave" icon="left" onClick={onLeave}>{tensorWords.leave}</Act>
        <p><b>{title}.</b> {tensorWords.openedNote}</p>
      </div>
      <Stepping scene={scene} title={title} inputs={{}} original={{}} start={0} onInputs={() => {}} />
    </div>
  );
}

const forwards = (scene: Scene): Scene => ({...scene, recording: {...scene.recording, events: scene.recording.events.filter((event) => event.kind === "compute")}}) as Scene;
const NONE_SHARED: ReturnType<typeof sharedNodes> = new Map();

/** The number of a tensor that somebody looks at. */
type Looked = {node: number; place: Place; busy?: boolean; error?: string};

function Stepping({scene: whole, title, inputs, original, forwardOnly, start, follow, note = "", onInputs, onWake, onCell, onOpened}: WalkProps & {onOpened?(scene: Scene, title: string): void}) {
  const scene = useMemo(() => (forwardOnly ? forwards(whole) : whole), [whole, forwardOnly]);
  const {recording} = scene;
  const all = recording.events.length;
  const player = usePlayer(recording.events.map((event) => event.kind), start, follow);
  const shared = useMemo(() => (scene.kind === "numbers" ? sharedNodes(scene.recording) : NONE_SHARED), [scene]);
  const state = useMemo((): GraphState<Held> => (scene.kind === "numbers" ? stateAfter(scene.recording, player.k) : stateAfter(scene.recording, player.k)), [scene, player.k]);
  const told = useMemo(() => (scene.kind === "numbers" ? tell(scene.recording, scene.graph, player.k, all) : tellTensors(scene.recording, scene.graph, player.k, all)), [scene, player.k]);
  const slim = useMemo(() => scene.kind === "numbers" && leastWidth(scene.graph, scene.layout) <= SLIM, [scene]);
  const [looked, setLooked] = useState<Looked | null>(null);
  const look = (node: number, cell: Cell = [0, 0]) => {
    const {data} = recording.graph.nodes[node]!;
    if (isMap(data) && data.steps.length) setLooked({node, place: placeOf(data, cell)});
  };
  const event = recording.events[player.k - 1];
  const about = event ? [event.kind === "push" ? event.operand : event.node] : [];
  const near = scene.kind === "numbers" ? null : [...about, ...recording.graph.nodes.map(({id}) => id)].find((id) => isMap(scene.recording.graph.nodes[id]!.data)) ?? null;
  const latest = useRef(looked);
  latest.current = looked;
  const into = async ({node, place}: Looked) => {
    const asked = {node, place, busy: true};
    setLooked(asked);
    const found = await onCell!(node, place);
    if (latest.current !== asked) return; // somebody looks at another number by now
    setLooked({node, place, error: "error" in found ? found.error : undefined});
    const {nodes, root} = recording.graph;
    if ("given" in found) onOpened!(sceneOf(found.given), tensorWords.opened(clean(nodes[root]!.name), `${clean(nodes[node]!.name)}${placeText(place)}`));
  };
  const walk = useRef<HTMLDivElement>(null);
  const backward = recording.events.findIndex((event) => event.kind === "seed") + 1;
  return (
    <div class={scene.kind === "tensors" ? "walk tensors" : slim ? "walk slim" : "walk"} ref={walk} data-speed={player.speed} data-k={player.k} tabIndex={-1} role="group" aria-label={words.name}
      onKeyDown={(event) => walkKeys(event, player, all, backward)} onFocusIn={onWake} onPointerDown={onWake}>
      <Canvas info={recording.graph} graph={scene.graph} layout={scene.layout} state={state} moment={player.moment} still={player.still}
        words={graphWords} label={words.graph(title)} common={[slim ? 712 : 1040]} over={walk} onOpen={scene.kind === "tensors" ? look : undefined} />
      <div class="dock" data-over>
        <p class="vh" aria-live="polite" data-spoken>{player.moment > 0 && !tellsItself(walk.current) ? told.spoken : ""}</p>
        <StepBlock told={told} />
        {shared.size > 0 && scene.kind === "numbers" && <Contributions recording={scene.recording} shared={shared} k={player.k} />}
        <div class="transport" data-over>
          <WalkLine recording={recording} k={player.k} spoken={told.spoken} onGo={player.go} />
          <Transport player={player} all={all} />
        </div>
      </div>
      {looked && scene.kind === "tensors" && (
        <Cells key={looked.node} graph={scene.recording.graph} state={state} node={looked.node} place={looked.place} busy={looked.busy ?? false} error={looked.error ?? ""}
          onPlace={(place) => setLooked({node: looked.node, place})} onInto={onCell && onOpened && (() => void into(looked))} onClose={() => {
            setLooked(null);
            walk.current?.querySelector<SVGElement>(`[data-node="${looked.node}"]`)?.focus();
          }} />
      )}
      {scene.kind === "tensors" ? <MapLegend /> : <Legend />}
      <div class="more">
        <Leaves inputs={inputs} original={original} note={note} onChange={onInputs} />
        {near !== null && <button type="button" class="btn ghost" data-act="open" onClick={() => look(near)}>{tensorWords.cells(clean(recording.graph.nodes[near]!.name))}</button>}
        <p class="keys" aria-hidden="true"><kbd>←</kbd><kbd>→</kbd> {words.keys.step} <kbd>{words.keys.space}</kbd> {words.keys.play}</p>
        <div class="ctl-side">
          {backward > 0 && <button type="button" class="btn ghost" data-act="backward" onClick={() => player.go(backward)}>{words.startBackward} <kbd>B</kbd></button>}
          <label class="speed">{words.speed}
            <select value={String(player.speed)} onChange={(event) => player.setSpeed(Number(event.currentTarget.value))}>
              {Object.keys(words.speeds).map(Number).sort((a, b) => a - b).map((speed) => <option key={speed} value={String(speed)}>{words.speeds[speed]}</option>)}
            </select>
          </label>
        </div>
      </div>
    </div>
  );
}

function walkKeys(event: KeyboardEvent, player: Player, all: number, backward: number): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
  if (event.key === " " && /^(BUTTON|SUMMARY)$/.test(target.tagName)) return;
  const moves: Record<string, () => void> = {
    ArrowRight: player.step,
    ArrowLeft: player.back,
    " ": player.toggle,
    End: () => player.go(all),
    Home: () => player.go(0),
    ...(backward > 0 ? {b: () => player.go(backward), B: () => player.go(backward)} : {}),
  };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  move();
}
