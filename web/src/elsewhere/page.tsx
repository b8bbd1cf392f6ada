/** The walk in a file of its own: the recording and the layout lie in the page, and nothing is fetched. */
import {render} from "preact";
import {useState} from "preact/hooks";
import {Walk} from "../widgets/stepper/Walk.tsx";
import {Bar} from "./Bar.tsx";
import {sceneOf, type Given} from "../graph/scene.ts";

type Data = Given & {title: string; step: number};

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

function Page({data}: {data: Data}) {
  const [scene] = useState(() => sceneOf(data));
  return (
    <>
      <Bar title={data.title} graph={scene.recording.graph} named={false} />
      <Walk scene={scene} title={data.title} inputs={{}} original={{}} start={asked() ?? data.step} follow={follow} onInputs={() => {}} />
    </>
  );
}

const place = document.getElementById("walk")!;
const data = JSON.parse(document.getElementById("recording")!.textContent!) as Data;
place.replaceChildren();
render(<Page data={data} />, place);
place.dataset.ready = "";
