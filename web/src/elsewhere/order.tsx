/** `gradwalk.playground_widget(root)`: the visit-order playground in a notebook. The order and the visits done are traits. */
import {useMemo} from "preact/hooks";
import type {SearchEvent} from "../graph/schema.ts";
import {elsewhere as words} from "../strings/en/elsewhere.ts";
import {Board} from "../widgets/playground/Board.tsx";
import {Bar} from "./Bar.tsx";
import {inShadow} from "./host.tsx";
import {tell, useTrait, type Model} from "./model.ts";
import {rootName, sceneFrom, type Given} from "./scene.ts";

type Traits = {scene: Given & {search: SearchEvent[]; names: Record<string, number>}; title: string; order: string[]; visits: number};

function OrderWidget({model}: {model: Model<Traits>}) {
  const given = useTrait(model, "scene");
  const scene = useMemo(() => sceneFrom(given), [given]);
  const {names, byId} = useMemo(() => ({names: given.names, byId: new Map(Object.entries(given.names).map(([name, id]) => [id, name]))}), [given]);
  const order = useTrait(model, "order").map((name) => names[name]!);
  const visits = useTrait(model, "visits");
  const title = useTrait(model, "title") || `${words.order}: ${rootName(scene.recording.graph)}`;
  return (
    <>
      <Bar title={title} graph={scene.recording.graph} />
      <Board scene={scene} title={title} search={given.search} first={order}
        follow={{order, visits, tell: (ids, done) => tell(model, {order: ids.map((id) => byId.get(id)!), visits: done})}} />
    </>
  );
}

export default {render: ({model, el}: {model: Model<Traits>; el: HTMLElement}) => inShadow(el, "order", <OrderWidget model={model} />)};
