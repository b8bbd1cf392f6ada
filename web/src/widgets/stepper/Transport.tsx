/** The buttons: reset, back, play, step, to the end. */
import {Act} from "../../ui/Act.tsx";
import {stepper as words} from "../../strings/en/stepper.ts";
import type {Player} from "./player.ts";

export function Transport({player, all}: {player: Player; all: number}) {
  const {k, playing} = player;
  const [before, now, after] = words.count(k, all);
  const [first, last] = [k === 0, k === all];
  return (
    <div class="controls">
      <div class="ctl-main">
        <Act act="reset" icon="reset" label={words.reset} off={first} onClick={() => player.go(0)}>{words.reset}</Act>
        <Act act="back" icon="back" label={words.stepBack} off={first} onClick={player.back}>{words.back}</Act>
        <Act act="play" icon={playing ? "pause" : "play"} onClick={player.toggle}>{playing ? words.pause : words.play}</Act>
        <Act act="step" icon="step" after primary off={last} onClick={player.step}>{words.step}</Act>
        <Act act="end" icon="end" after label={words.runToTheEnd} off={last} onClick={() => player.go(all)}>{words.toTheEnd}</Act>
      </div>
      <span class="count" data-count>{before}<b>{now}</b>{after}</span>
    </div>
  );
}
