/** How to read a graph. */
import {graph as words} from "../../strings/en/graph.ts";
import {readable} from "../../text/numbers.ts";

export function Legend() {
  return (
    <ul class="legend" aria-label={words.legend}>
      <li><span class="k k-data">2</span> {words.data}</li>
      <li><span class="k k-grad">{readable(0.5)}</span> {words.grad}</li>
      <li><span class="k k-none" /> {words.noGrad}</li>
      <li><span class="k k-play" /> {words.inPlay}</li>
    </ul>
  );
}
