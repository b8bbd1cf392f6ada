/** `gradwalk.walk_widget(root)`: the stepper in a notebook. The step and the leaves are traits; the kernel computes. */
import {useMemo} from "preact/hooks";
import {elsewhere as words} from "../strings/en/elsewhere.ts";
import type {Place} from "../graph/heat.ts";
import {Walk, type CellGraph} from "../widgets/stepper/Walk.tsx";
import {Bar} from "./Bar.tsx";
import {inShadow} from "./host.tsx";
import {shared, tell, useTrait, type Model} from "./model.ts";
import {sceneOf} from "../graph/scene.ts";
import {rootName} from "./naming.ts";
import type {WalkTraits} from "./traits.ts";

/** Ask the kernel for the graph of one number; two views of one widget each wait for their own answer. */
function cellFrom(model: Model<WalkTraits>, node: number, place: Place): Promise<CellGraph> {
  const n = crypto.randomUUID();
  return new Promise((done) => {
    const hear = () => {
      const cell = model.get("_cell");
      if (cell.n !== n) return;
      model.off("change:_cell", hear);
      done(cell.scene ? {given: cell.scene} : {error: cell.error ?? ""});
    };
    model.on("change:_cell", hear);
    tell(model, {_wanted_cell: {n, node, place}});
  });
}

/** nan and inf come as texts; a slider cannot hold them. */
const finite = (numbers: WalkTraits["leaves"]): Record<string, number> => Object.fromEntries(Object.entries(numbers).filter((entry): entry is [string, number] => typeof entry[1] === "number"));

function WalkWidget({model}: {model: Model<WalkTraits>}) {
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
        follow={follow} onInputs={(changed) => tell(model, {leaves: {...leaves, ...changed}})} onCell={(node, place) => cellFrom(model, node, place)} />
    </>
  );
}

export default {render: ({model, el}: {model: Model<WalkTraits>; el: HTMLElement}) => inShadow(el, "stepper", <WalkWidget model={model} />)};
