/** The training view: a network learns two moons, step by step, in the page. */
import {useComputed} from "@preact/signals";
import {python} from "../../python/index.ts";
import {training as words} from "../../strings/en/training.ts";
import {guarded} from "../../ui/guarded.tsx";
import type {Props} from "./schema.ts";
import {useTrainer} from "./trainer.ts";
import {TrainingView} from "./View.tsx";

export function mount(element: HTMLElement, props: Props): void {
  element.classList.add("train");
  guarded(<InThePage {...props} />, element);
}

function InThePage({id}: Props) {
  const trainer = useTrainer();
  const {phase, percent} = useComputed(() => python.state.value).value;
  return <TrainingView id={id} trainer={trainer} waiting={trainer.playing && phase === "loading" ? words.waiting(percent) : ""} onWake={() => python.load()} />;
}
