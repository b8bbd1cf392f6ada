/** `gradwalk.training_widget()`: the training view in a notebook. The kernel makes one step each time it is asked. */
import {useEffect, useRef} from "preact/hooks";
import {training as view} from "../strings/en/training.ts";
import {TrainingView, type Trainer} from "../widgets/training/View.tsx";
import {inShadow} from "./host.tsx";
import {tell, useTrait, type Model} from "./model.ts";
import type {TrainingTraits} from "./traits.ts";

function useKernel(model: Model<TrainingTraits>): Trainer {
  const state = useTrait(model, "state");
  const playing = useTrait(model, "playing");
  const other = useTrait(model, "other");
  const count = useRef(0);
  const ask = (what: TrainingTraits["_ask"]["do"]) => tell(model, {_ask: {do: what, at: model.get("state").step, n: ++count.current}});
  useEffect(() => {
    if (!playing) return;
    // a frame between two steps, so that each is painted, and the kernel gets to do other things
    const frame = requestAnimationFrame(() => ask("step"));
    return () => cancelAnimationFrame(frame);
  }, [playing, state]);
  return {
    points: useTrait(model, "points"),
    state,
    losses: useTrait(model, "losses"),
    other: other.losses ? {losses: other.losses, label: other.forgot ? view.withoutZero : view.withZero} : null,
    playing,
    rate: useTrait(model, "rate"),
    forget: useTrait(model, "forget"),
    trouble: "",
    play: () => tell(model, {playing: true}),
    // a step that was asked for may still wait for its turn to be sent: nobody wants it any more
    pause: () => tell(model, {playing: false, _ask: {do: "", at: model.get("state").step, n: ++count.current}}),
    step: () => {
      tell(model, {playing: false});
      ask("step");
    },
    reset: () => ask("reset"),
    setRate: (rate) => tell(model, {rate}),
    setForget: (forget) => tell(model, {forget}),
    setHidden: (hidden) => tell(model, {hidden}),
  };
}

function TrainWidget({model}: {model: Model<TrainingTraits>}) {
  return <TrainingView id="training" trainer={useKernel(model)} />;
}

export default {render: ({model, el}: {model: Model<TrainingTraits>; el: HTMLElement}) => inShadow(el, "train", <TrainWidget model={model} />)};
