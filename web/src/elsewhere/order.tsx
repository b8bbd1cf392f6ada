/** `gradwalk.playground_widget(root)`: the visit-order playground in a notebook. The order and the visits done are traits. */
import {useMemo} from "preact/hooks";
import {elsewhere as words} from "../strings/en/elsewhere.ts";
import {Board} from "../widgets/playground/Board.tsx";
import {Bar} from "./Bar.tsx";
import {inShadow} from "./host.tsx";
import {shared, useTrait, type Model} from "./model.ts";
import {numberScene} from "../graph/scene.ts";
import {rootName} from "./naming.ts";
import type {PlaygroundTraits} from "./traits.ts";

function OrderWidget({model}: {model: Model<PlaygroundTraits>}) {
  const given = useTrait(model, "scene");
  const scene = useMemo(() => numberScene(given), [given]);
  const {names, byId} = useMemo(() => ({names: given.names, byId: new Map(Object.entries(given.names).map(([name, id]) => [id, name]))}), [given]);
  const order = () => model.get("order").map((name) => names[name]!);
  const follow = useMemo(() => {
    const both = shared(model, ["order", "visits"]);
    return {
      tell: (ids: readonly number[], visits: number) => both.tell({order: ids.map((id) => byId.get(id)!), visits}),
      listen: (take: (order: readonly number[], visits: number) => void) => both.listen(() => take(order(), model.get("visits"))),
    };
  }, [model, names]);
  const title = useTrait(model, "title") || `${words.order}: ${rootName(scene.recording.graph)}`;
  return (
    <>
      <Bar title={title} graph={scene.recording.graph} />
      <Board scene={scene} title={title} search={given.search} first={order()} visited={model.get("visits")} follow={follow} />
    </>
  );
}

export default {render: ({model, el}: {model: Model<PlaygroundTraits>; el: HTMLElement}) => inShadow(el, "order", <OrderWidget model={model} />)};
