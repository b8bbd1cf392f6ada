/** Training as the page sees it: a state, its history, and a loop that asks Python for one step after the other. */
import {useEffect, useRef, useState} from "preact/hooks";
import recordings from "#generated/recordings.json";
import {python, PythonStopped} from "../../python/index.ts";
import {training as words} from "../../strings/en/training.ts";
import type {Material, Training} from "../../python/schema.ts";
import type {Other} from "./LossCurve.tsx";
import {LIMIT, type Trainer} from "./View.tsx";

const material = (recordings as unknown as Material).training;

type Run = {state: Training; losses: number[]};

const begun = (state: Training): Run => ({state, losses: [state.loss]});
const isDefault = (hidden: number[], rate: number): boolean => hidden.join() === material.start.hidden.join() && rate === material.rate;

export function useTrainer(): Trainer {
  const [run, setRun] = useState<Run>(() => begun(material.start));
  const [first, setFirst] = useState<Training>(material.start);
  const [other, setOther] = useState<Other | null>(null);
  const [playing, setPlaying] = useState(false);
  const [rate, setRate] = useState(material.rate);
  const [forget, setForget] = useState(false);
  const [trouble, setTrouble] = useState("");
  const busy = useRef(false);
  const latest = useRef({run, rate, forget, playing, epoch: 0});
  Object.assign(latest.current, {run, rate, forget, playing});
  const epoch = useRef(0); // counts runs: an answer for an earlier run is not for this one

  const advance = async (): Promise<void> => {
    if (busy.current) return;
    busy.current = true;
    const mine = epoch.current;
    const {run: now, rate, forget} = latest.current;
    try {
      const state = await python.call<Training>("training.advance", {state: now.state, rate, forget}, {seconds: 30});
      if (mine === epoch.current) {
        setRun({state, losses: state.step > now.state.step ? [...now.losses, state.loss] : now.losses});
        if (state.broken || state.step >= LIMIT || (state.length === 0 && !forget)) setPlaying(false);
      }
    } catch (error) {
      setPlaying(false);
      setTrouble(error instanceof PythonStopped ? words.stopped : words.failed);
    }
    busy.current = false;
  };
  useEffect(() => {
    if (!playing) return;
    // a frame between two steps, so that each is painted
    let frame = requestAnimationFrame(function next() {
      if (!busy.current) void advance();
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing]);

  const restart = (state: Training) => {
    epoch.current++;
    setTrouble("");
    setFirst(state);
    setRun(begun(state));
  };
  return {
    points: material.points,
    ...run,
    other,
    playing,
    rate,
    forget,
    trouble,
    play: () => {
      if (run.state.broken || run.state.step >= LIMIT) restart(first);
      setPlaying(true);
    },
    pause: () => setPlaying(false),
    step: () => {
      setPlaying(false);
      void advance();
    },
    reset: () => {
      setPlaying(false);
      restart(first);
    },
    setRate,
    setForget: (next) => {
      // from the same weights, with the run so far to hold it against
      const kept = run.losses.length > 10 ? run.losses : next && isDefault(run.state.hidden, rate) ? material.losses : null;
      setOther(kept && {losses: kept, label: next ? words.withZero : words.withoutZero});
      setForget(next);
      restart(first);
    },
    setHidden: (hidden) => {
      setPlaying(false);
      setOther(null);
      if (isDefault(hidden, material.rate)) return restart(material.start);
      const mine = ++epoch.current;
      python.call<Training>("training.start", {hidden}, {seconds: 30}).then(
        (state) => mine === epoch.current && restart(state),
        () => setTrouble(words.failed),
      );
    },
  };
}
