/** The walk in a file of its own: the recording and the layout lie in the page, and nothing is fetched. */
import {render} from "preact";
import {useState} from "preact/hooks";
import type {Place} from "../graph/heat.ts";
import {tensors as words} from "../strings/en/tensors.ts";
import {Walk, type CellGraph} from "../widgets/stepper/Walk.tsx";
import {Bar} from "./Bar.tsx";
import {sceneOf, type Given} from "../graph/scene.ts";

/** `cells` holds the graphs of single numbers of tensors, by "node:i,j", as far as there was room for them. */
type Data = Given & {title: string; step: number; cells?: Record<string, Given>};

/** `walk.html#step=7` opens at the seventh step: for a slide, or a link in a text. */
const asked = (): number | null => {
  const found = /^#step=(\d+)$/.exec(location.hash);
  return found && Number(found[1]);
};

const follow = {
  tell: () => {},
  listen: (go: (k: number) => void) => {
    const hear = () => asked() !== null && go(asked()!);
    addEventListener("hashchange", hear);
    return () => removeEventListener("hashchange", hear);
  },
};

async function cellIn(cells: Record<string, Given>, node: number, place: Place): Promise<CellGraph> {
  const given = cells[`${node}:${place.join(",")}`];
  return given ? {given} : {error: words.notInFile};
}

function Page({data}: {data: Data}) {
  const [scene] = useState(() => sceneOf(data));
  return (
    <>
      <Bar title={data.title} graph={scene.recording.graph} named={false} />
      <Walk scene={scene} title={data.title} inputs={{}} original={{}} start={asked() ?? data.step} follow={follow} onInputs={() => {}}
        onCell={data.cells && ((node, place) => cellIn(data.cells!, node, place))} />
    </>
  );
}

const place = document.getElementById("walk")!;
const data = JSON.parse(document.getElementById("recording")!.textContent!) as Data;
place.replaceChildren();
render(<Page data={data} />, place);
place.dataset.ready = "";
