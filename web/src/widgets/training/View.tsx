/** What the training view shows, and the knobs it has. Who trains, the page's Python or a notebook's kernel, is not its affair. */
import {training as words} from "../../strings/en/training.ts";
import {Act} from "../../ui/Act.tsx";
import {readable} from "../../text/numbers.ts";
import type {Points, Training} from "../../python/schema.ts";
import {LossCurve, type Other} from "./LossCurve.tsx";
import {ScoreMap} from "./Map.tsx";

export const SIZES = [[4], [8], [4, 4], [8, 8], [16, 16]];
export const LIMIT = 300; // steps of one run

export type Trainer = {
  points: Points;
  state: Training;
  losses: number[];
  other: Other | null;
  playing: boolean;
  rate: number;
  forget: boolean;
  trouble: string;
  play(): void;
  pause(): void;
  step(): void;
  reset(): void;
  setRate(rate: number): void;
  setForget(forget: boolean): void;
  setHidden(hidden: number[]): void;
};

/** `waiting` stands in place of the note where there is something to wait for; `onWake`: somebody began to use it. */
export function TrainingView({id, trainer, waiting = "", onWake}: {id: string; trainer: Trainer; waiting?: string; onWake?(): void}) {
  const {points, state, losses, other, playing, rate, forget} = trainer;
  const all = points.y.length;
  const right = all - state.wrong.length;
  // every tenth step while it plays: a reader cannot keep up with more
  const spoken = state.step > 0 && (state.step % 10 === 0 || !playing) ? words.spoken(state.step, readable(state.loss), right, all) : "";
  return (
    <div data-step={state.step} data-right={right} onFocusIn={onWake} onPointerEnter={onWake}>
      <div class="w-bar">
        <span class="w-name">{words.network(state.hidden)}</span>
        <code class="program">{words.about(state.parameters.length, all)}</code>
        <label class="switch">
          <input type="checkbox" role="switch" checked={forget} onChange={(event) => trainer.setForget(event.currentTarget.checked)} /><i />
          <span>{words.forget[0]}<code>{words.forget[1]}</code></span>
        </label>
      </div>
      <div class="train-grid">
        <ScoreMap points={points} state={state} />
        <div class="train-side">
          <Stats trainer={trainer} right={right} all={all} />
          <LossCurve losses={losses} other={other} />
          <p class="train-note">{waiting || trainer.trouble || noteOn(trainer)}</p>
          <div class="train-ctl">
            <div class="ctl-main">
              <Act act="reset" icon="reset" off={state.step === 0 && !playing} onClick={trainer.reset}>{words.reset}</Act>
              <Act act="play" icon={playing ? "pause" : "play"} primary onClick={playing ? trainer.pause : trainer.play}>{playing ? words.pause : words.play}</Act>
              <Act act="step" icon="step" after off={state.broken || state.step >= LIMIT} onClick={trainer.step}>{words.stepOn}</Act>
            </div>
            <label class="slider"><span>{words.rate}</span> <span class="value">{rate.toFixed(3)}</span>
              <input type="range" min={0.001} max={0.03} step={0.001} value={rate} onInput={(event) => trainer.setRate(Number(event.currentTarget.value))} /></label>
            <label class="slider sizes"><span>{words.sizes}</span>
              <select value={state.hidden.join(", ")} onChange={(event) => trainer.setHidden(event.currentTarget.value.split(", ").map(Number))}>
                {SIZES.map((sizes) => <option key={sizes.join()} value={sizes.join(", ")}>{sizes.join(", ")}</option>)}
              </select></label>
          </div>
        </div>
      </div>
      <p class="vh" role="status" id={`${id}-status`}>{spoken}</p>
    </div>
  );
}

function Stats({trainer: {state, forget}, right, all}: {trainer: Trainer; right: number; all: number}) {
  const times = state.fresh > 0 ? state.length / state.fresh : 1;
  const tooLong = forget && state.step > 0 && times > 1.05;
  return (
    <dl class="stats">
      <div><dt>{words.step}</dt><dd>{state.step}</dd></div>
      <div><dt>{words.loss}</dt><dd class="data" data-loss={state.loss}>{state.loss.toFixed(4)}</dd></div>
      <div><dt>{words.right}</dt><dd>{words.rightOf(right, all)}</dd></div>
      <div>
        <dt>{words.gradient}{tooLong && <b class="times">{words.tooLong(times.toFixed(1))}</b>}</dt>
        <dd class="grad" data-length={state.length} data-fresh={state.fresh}>{state.length.toFixed(3)}</dd>
      </div>
    </dl>
  );
}

function noteOn({state, forget, losses}: Trainer): string {
  if (state.broken) return words.notes.broken;
  if (state.step >= LIMIT) return words.notes.limit;
  if (state.step === 0) return words.notes.start;
  if (forget) return state.step > 25 && state.loss > Math.min(...losses) * 3 ? words.notes.drifting : words.notes.forgot;
  return state.wrong.length === 0 ? words.notes.learned : words.notes.zeroed;
}
