/** The stepper on a wrong engine: its own walk, its own numbers, and the line of its source that wrote each. */
import {useEffect, useMemo, useRef} from "preact/hooks";
import {Canvas} from "../../graph/Canvas.tsx";
import {drawn} from "../../graph/model.ts";
import type {Graph, Layout, Recording} from "../../python/schema.ts";
import {graph as graphWords} from "../../strings/en/graph.ts";
import {hunt as words} from "../../strings/en/hunt.ts";
import {usePlayer, type Player} from "../stepper/player.ts";
import {StepBlock} from "../stepper/StepBlock.tsx";
import {setIn} from "../../ui/Python.tsx";
import {Transport} from "../stepper/Transport.tsx";
import {tellsItself, WalkLine} from "../stepper/WalkLine.tsx";
import type {Seen} from "./material.ts";
import {stateAfter, tell} from "./tell.ts";

type Drawn = Seen & {graph: Graph; layout: Layout};

export function Watch({seen, source, about}: {seen: Seen; source: string; about: string}) {
  if (!seen.graph || !seen.events.length) {
    return (
      <div class="hunt-watch alone">
        <p class="hunt-nothing">{words.noGraph}</p>
        <Source text={source} line={seen.check.stopped?.line ?? null} about={about} />
      </div>
    );
  }
  return <Walk seen={seen as Drawn} source={source} about={about} />;
}

function Walk({seen, source, about}: {seen: Drawn; source: string; about: string}) {
  const lines = useMemo(() => source.split("\n"), [source]);
  const player = usePlayer(seen.events.map(({kind}) => kind), 0);
  const all = seen.events.length;
  const graph = useMemo(() => drawn(seen.graph), [seen]);
  const state = useMemo(() => stateAfter(seen, player.k), [seen, player.k]);
  const told = useMemo(() => tell(seen, player.k, lines), [seen, player.k, lines]);
  const walk = useRef<HTMLDivElement>(null);
  const recording = seen as unknown as Recording; // the same graph and kinds of events, which is all that these parts read
  return (
    <div class="hunt-watch">
      <div class="stepper walk" ref={walk} data-k={player.k} tabIndex={-1} role="group" aria-label={words.stages.watch} onKeyDown={(event) => keys(event, player, all)}>
        <Canvas info={seen.graph} graph={graph} layout={seen.layout} state={state} moment={player.moment} still={player.still} words={graphWords} label={words.graph} common={[600]} over={walk} />
        <div class="dock" data-over>
          <p class="vh" aria-live="polite" data-spoken>{player.moment > 0 && !tellsItself(walk.current) ? told.spoken : ""}</p>
          <StepBlock told={told} />
          <div class="transport">
            <WalkLine recording={recording} k={player.k} spoken={told.spoken} onGo={player.go} />
            <Transport player={player} all={all} />
          </div>
        </div>
      </div>
      <Source text={source} line={seen.events[player.k - 1]?.line ?? null} about={about} />
    </div>
  );
}

function keys(event: KeyboardEvent, player: Player, all: number): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || (event.key === " " && target.tagName === "BUTTON")) return;
  const move = {ArrowRight: player.step, ArrowLeft: player.back, " ": player.toggle, End: () => player.go(all), Home: () => player.go(0)}[event.key];
  if (!move) return;
  event.preventDefault();
  move();
}

/** The source with the line in play; it scrolls inside its own frame, and never the page. */
function Source({text, line, about}: {text: string; line: number | null; about: string}) {
  const frame = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const row = line === null ? null : frame.current!.children[line - 1] as HTMLElement | undefined;
    if (row) frame.current!.scrollTop = row.offsetTop - frame.current!.clientHeight / 2;
  }, [line, text]);
  return (
    <div class="hunt-source">
      <p>{about}</p>
      <pre ref={frame} tabIndex={0} role="region" aria-label={about}>
        {text.replace(/\n$/, "").split("\n").map((row, i) => (
          <code key={i} class={i + 1 === line ? "now" : ""} data-line={i + 1}><i aria-hidden="true">{i + 1}</i><span class="hang" style={setIn(row)}>{coloured(row)}{"\n"}</span></code>
        ))}
      </pre>
    </div>
  );
}

/** .data and .grad in the colours of their meaning. */
function coloured(row: string) {
  return row.split(/(\b[A-Za-z_]\w*\.(?:data|grad)\b)/).map((part, i) => (i % 2 ? <span key={i} class={part.endsWith("data") ? "data" : "grad"}>{part}</span> : part));
}
