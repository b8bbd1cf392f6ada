/** `gradwalk.walk_widget(root)`: the stepper in a notebook. The step and the leaves are traits; the kernel computes. */
import {useMemo} from "preact/hooks";
import {elsewhere as words} from "../strings/en/elsewhere.ts";
import {Walk} from "../widgets/stepper/Walk.tsx";
import {Bar} from "./Bar.tsx";
import {inShadow} from "./host.tsx";
import {shared, tell, useTrait, type Model} from "./model.ts";
import {sceneOf, type Given} from "../graph/scene.ts";
import {rootName} from "./naming.ts";

type Numbers = Record<string, number | string>;
type Traits = {scene: Given; title: string; step: number; leaves: Numbers; first_leaves: Numbers; note: string};

/** nan and inf come as texts; a slider cannot hold them. */
const finite = (numbers: Numbers): Record<string, number> => Object.fromEntries(Object.entries(numbers).filter((entry): entry is [string, number] => typeof entry[1] === "number"));

function WalkWidget({model}: {model: Model<Traits>}) {
  const given = useTrait(model, "scene");
  const scene = useMemo(() => sceneOf(given), [given]);
  const leaves = useTrait(model, "leaves");
  const original = useTrait(model, "first_leaves");
  const follow = useMemo(() => {
    const step = shared(model, ["step"]);
    return {tell: (k: number) => step.tell({step: k}), listen: (go: (k: number) => void) => step.listen(() => go(model.get("step")))};
  }, [model]);
  const note = useTrait(model, "note");
  const title = useTrait(model, "title") || words.walk(rootName(scene.recording.graph));
  return (
    <>
      <Bar title={title} graph={scene.recording.graph} />
      <Walk scene={scene} title={title} inputs={finite(leaves)} original={finite(original)} start={model.get("step")} note={note}
        follow={follow} onInputs={(changed) => tell(model, {leaves: {...leaves, ...changed}})} />
    </>
  );
}

export default {render: ({model, el}: {model: Model<Traits>; el: HTMLElement}) => inShadow(el, "stepper", <WalkWidget model={model} />)};
