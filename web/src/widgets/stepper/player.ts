/** Where in a walk we are, and what moves us: buttons, keys, the clock. */
import {useEffect, useRef, useState} from "preact/hooks";

export type Player = {
  k: number;
  /** Counts moves; what moves on the page, moves once for each. */
  moment: number;
  /** The last move was back, or a leap: nothing should move. */
  still: boolean;
  playing: boolean;
  speed: number;
  go(k: number): void;
  step(): void;
  back(): void;
  toggle(): void;
  setSpeed(speed: number): void;
};

/** Somebody else who holds the step too, such as Python in a notebook: each tells the other, and hears no echo of itself. */
export type Follow = {tell(k: number): void; listen(go: (k: number) => void): () => void};

/** How long a step rests at speed 1: what it shows takes its time, and a short rest after it. */
const REST = {compute: 220 + 420, other: 260 + 620 + 220 + 180, calm: 900};

export function usePlayer(kinds: readonly string[], start: number, follow?: Follow): Player {
  const all = kinds.length;
  const [place, setPlace] = useState({k: Math.min(start, all), moment: 0, still: true});
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const k = Math.min(place.k, all);
  const latest = useRef({k, all});
  latest.current = {k, all};

  /** To a step, or so many steps from where we are by then: keys come faster than pictures. */
  const go = (to: number | ((now: number) => number)) =>
    setPlace(({k: was, moment}) => {
      const now = Math.min(was, latest.current.all);
      const next = Math.max(0, Math.min(latest.current.all, typeof to === "number" ? to : to(now)));
      return {k: next, moment: moment + 1, still: next !== now + 1};
    });
  const halt = (move: () => void) => () => (setPlaying(false), move());
  useEffect(() => follow?.listen((to) => halt(() => go(to))()), [follow]);
  useEffect(() => follow?.tell(k), [k, follow]);
  useEffect(() => {
    if (!playing) return;
    if (k >= all) return setPlaying(false);
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const rest = calm ? REST.calm : k > 0 ? (kinds[k - 1] === "compute" || kinds[k - 1] === "visit" ? REST.compute : REST.other) : 200;
    const timer = setTimeout(() => go(k + 1), rest / speed);
    return () => clearTimeout(timer);
  }, [playing, k, all, speed]);

  return {
    k,
    moment: place.moment,
    still: place.still,
    playing,
    speed,
    setSpeed,
    go: (to) => halt(() => go(to))(),
    step: halt(() => go((now) => now + 1)),
    back: halt(() => go((now) => now - 1)),
    toggle: () => {
      if (!playing && latest.current.k >= latest.current.all) go(0);
      setPlaying(!playing);
    },
  };
}
