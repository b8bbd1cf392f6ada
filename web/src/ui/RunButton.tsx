/** The button that runs something in Python, and stops it: one button in one place, so that nothing beside it moves. */
import {useEffect, useState} from "preact/hooks";
import {python} from "../python/index.ts";
import {ui as words} from "../strings/en/ui.ts";
import {asleep} from "../waking/index.ts";
import {Icon} from "./icons.tsx";
import {pythonState} from "./pythonState.ts";

const MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);
const STOPS_AFTER = 500; // milliseconds: who clicks twice does not stop at once what they began

export function RunButton({running, label, doing = words.running, act, onRun}: {running: boolean; label: string; doing?: string; act?: string; onRun(): void}) {
  const {phase, percent} = pythonState();
  const [stops, setStops] = useState(false);
  useEffect(() => {
    setStops(false);
    if (!running) return;
    const timer = setTimeout(() => setStops(true), STOPS_AFTER);
    return () => clearTimeout(timer);
  }, [running, phase === "loading"]);
  const kind = !running ? "rest" : phase === "loading" ? "loading" : stops ? "stop" : "busy";
  const faces = {
    rest: <>{label} <kbd aria-hidden="true">{words.keys(MAC && !asleep.value)}</kbd></>,
    busy: <><Icon name="again" />{doing}</>,
    stop: <><Icon name="stop" />{words.stop}</>,
    loading: <><Icon name="stop" />{words.stopLoading(percent)}</>,
  };
  return (
    <button class={`btn primary run ${kind}`} type="button" data-act={act} aria-busy={running || undefined} aria-disabled={running && !stops ? true : undefined}
      onClick={() => (!running ? onRun() : stops && python.stop())}>
      {Object.entries(faces).map(([name, face]) => <span key={name} class={name === kind ? "face" : "face away"}>{face}</span>)}
    </button>
  );
}
