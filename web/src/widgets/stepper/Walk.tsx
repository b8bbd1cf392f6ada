/** A walk through one graph: the picture, what each step says, the line of steps, the buttons, the leaves.

It knows nothing of where its recording comes from: a page of the course, a notebook or a file hands it in.
*/
import {useMemo, useRef} from "preact/hooks";
import {graph as graphWords} from "../../strings/en/graph.ts";
import {stepper as words} from "../../strings/en/stepper.ts";
import {Canvas} from "../../graph/Canvas.tsx";
import {leastWidth} from "../../graph/geometry.ts";
import type {Scene} from "../../graph/scene.ts";
import {stateAfter} from "../../graph/state.ts";
import {sharedNodes} from "./contributions.ts";
import {Leaves} from "./Leaves.tsx";
import {Legend} from "./Legend.tsx";
import {usePlayer, type Follow, type Player} from "./player.ts";
import {SLIM} from "./slim.ts";
import {Contributions, StepBlock} from "./StepBlock.tsx";
import {tell} from "./tell.ts";
import {Transport} from "./Transport.tsx";
import {tellsItself, WalkLine} from "./WalkLine.tsx";

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
};

export function Walk({scene, title, inputs, original, forwardOnly, start, follow, note = "", onInputs, onWake}: WalkProps) {
  const recording = useMemo(
    () => (forwardOnly ? {...scene.recording, events: scene.recording.events.filter((event) => event.kind === "compute")} : scene.recording),
    [scene, forwardOnly],
  );
  const all = recording.events.length;
  const player = usePlayer(recording.events.map((event) => event.kind), start, follow);
  const shared = useMemo(() => sharedNodes(recording), [recording]);
  const state = useMemo(() => stateAfter(recording, player.k), [recording, player.k]);
  const told = useMemo(() => tell(recording, scene.graph, player.k, all), [recording, scene, player.k]);
  const slim = useMemo(() => leastWidth(scene.graph, scene.layout) <= SLIM, [scene]);
  const walk = useRef<HTMLDivElement>(null);
  const backward = recording.events.findIndex((event) => event.kind === "seed") + 1;
  return (
    <div class={slim ? "walk slim" : "walk"} ref={walk} data-speed={player.speed} data-k={player.k} tabIndex={-1} role="group" aria-label={words.name}
      onKeyDown={(event) => walkKeys(event, player, all, backward)} onFocusIn={onWake} onPointerDown={onWake}>
      <Canvas info={recording.graph} graph={scene.graph} layout={scene.layout} state={state} moment={player.moment} still={player.still}
        words={graphWords} label={words.graph(title)} common={[slim ? 712 : 1040]} over={walk} />
      <div class="dock" data-over>
        <p class="vh" aria-live="polite" data-spoken>{player.moment > 0 && !tellsItself(walk.current) ? told.spoken : ""}</p>
        <StepBlock told={told} />
        {shared.size > 0 && <Contributions recording={recording} shared={shared} k={player.k} />}
        <div class="transport" data-over>
          <WalkLine recording={recording} k={player.k} spoken={told.spoken} onGo={player.go} />
          <Transport player={player} all={all} />
        </div>
      </div>
      <Legend />
      <div class="more">
        <Leaves inputs={inputs} original={original} note={note} onChange={onInputs} />
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
