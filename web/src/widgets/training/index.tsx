/** The training view: a network learns two moons, step by step, in the page. */
import {useComputed} from "@preact/signals";
import {python} from "../../python/index.ts";
import {pythonState} from "../../ui/pythonState.ts";
import {training as words} from "../../strings/en/training.ts";
import type {Props} from "./schema.ts";
import {useTrainer} from "./trainer.ts";
import {TrainingView} from "./View.tsx";

export default function InThePage({id}: Props) {
  const trainer = useTrainer();
  const {phase, percent} = useComputed(() => pythonState()).value;
  return <TrainingView id={id} trainer={trainer} waiting={trainer.playing && phase === "loading" ? words.waiting(percent) : ""} onWake={() => python.load()} />;
}
