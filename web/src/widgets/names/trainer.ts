/** Training as the page sees it: a state, its losses, the names at some of its steps, and a loop that asks for the next. */
import {useEffect, useRef, useState} from "preact/hooks";
import list from "#generated/names.json";
import {python, PythonStopped} from "../../python/index.ts";
import {names as words} from "../../strings/en/names.ts";
import type {Facts, Naming} from "../../python/schema.ts";

export type {Facts} from "../../python/schema.ts";
export type Sample = {step: number; names: string[]};
type Run = {state: Naming | null; losses: number[]; samples: Sample[]};

const NAMES = list as string;
const KNOWN = new Set(NAMES.split(" "));
export const isKnown = (name: string): boolean => KNOWN.has(name);

/** Names are kept at these steps, and at the last. */
const KEPT = [0, 10, 50, 100, 200, 300, 500, 700, 1000];
const CHUNK = 0.3; // seconds that one call should take: short enough to stop at once
const EMPTY: Run = {state: null, losses: [], samples: []};

export function useTrainer(facts: Facts | null, setFacts: (facts: Facts) => void) {
  const [run, setRun] = useState<Run>(EMPTY);
  const [playing, setPlaying] = useState(false);
  const [trouble, setTrouble] = useState("");
  const latest = useRef({run, seed: 0, epoch: 0, busy: false, steps: 2});
  latest.current.run = run;

  const fail = (error: unknown) => {
    setPlaying(false);
    setTrouble(error instanceof PythonStopped ? words.stopped : words.failed);
  };
  const begin = async (): Promise<Naming> => {
    if (!facts) setFacts(await python.call<Facts>("naming.facts", {names: NAMES}, {seconds: 30}));
    return python.call<Naming>("naming.start", {names: NAMES, seed: latest.current.seed}, {seconds: 30});
  };
  const more = async (): Promise<void> => {
    const now = latest.current;
    if (now.busy) return;
    now.busy = true;
    const epoch = now.epoch;
    try {
      const before = now.run.state;
      if (!before) {
        const state = await begin();
        if (epoch === now.epoch) setRun({state, losses: [], samples: [{step: 0, names: state.names}]});
      } else if (!facts || before.step < facts.steps) {
        const next = KEPT.find((step) => step > before.step) ?? Infinity;
        const steps = Math.max(1, Math.min(now.steps, next - before.step));
        const began = performance.now();
        const state = await python.call<Naming>("naming.advance", {state: before, names: NAMES, steps}, {seconds: 60});
        const took = (performance.now() - began) / 1000;
        now.steps = Math.max(1, Math.min(25, Math.round((steps * CHUNK) / Math.max(took, 0.01))));
        if (epoch === now.epoch) {
          const {losses, samples} = now.run;
          const kept = KEPT.includes(state.step) ? [...samples, {step: state.step, names: state.names}] : samples;
          setRun({state: {...state, losses: []}, losses: [...losses, ...state.losses], samples: kept});
          if (facts && state.step >= facts.steps) setPlaying(false);
        }
      }
    } catch (error) {
      fail(error);
    }
    now.busy = false;
  };
  useEffect(() => {
    if (!playing) return;
    let going = true;
    (async () => {
      while (going) {
        await more();
        await new Promise((then) => setTimeout(then, 0)); // the page paints, and hears its buttons
      }
    })();
    return () => void (going = false);
  }, [playing, facts]);

  const done = facts !== null && run.state !== null && run.state.step >= facts.steps;
  return {
    ...run,
    playing,
    trouble,
    done,
    play: () => {
      setTrouble("");
      if (!done) setPlaying(true);
    },
    pause: () => setPlaying(false),
    reset: () => {
      setPlaying(false);
      setTrouble("");
      latest.current.epoch++;
      latest.current.seed++;
      setRun(EMPTY);
    },
  };
}

/** The mean of the last fifty: one batch says little. */
export function smooth(losses: readonly number[], at = losses.length): number {
  const last = losses.slice(Math.max(0, at - 50), at);
  return last.reduce((sum, loss) => sum + loss, 0) / last.length;
}
