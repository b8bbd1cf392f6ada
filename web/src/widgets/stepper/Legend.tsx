/** How to read a graph. */
import {graph as words} from "../../strings/en/graph.ts";
import {readable} from "../../text/numbers.ts";
import {tensors} from "../../strings/en/tensors.ts";
import {shade} from "../../graph/HeatMapView.tsx";

/** … of tensors: what the colours of its maps mean. */
export function MapLegend() {
  const steps = Array.from({length: 11}, (_, i) => i - 5);
  return (
    <ul class="legend" aria-label={words.legend}>
      <li>
        {tensors.below}
        <svg class="map" width={11 * 14 + 2} height={16} aria-hidden="true">
          <rect class="ground" x={1} y={1} width={11 * 14} height={14} />
          {steps.map((step, i) => (step ? <rect key={step} class={shade(step)} x={1 + i * 14} y={1} width={14} height={14} /> : null))}
        </svg>
        {tensors.above}
      </li>
      <li><svg class="map" width={16} height={16} aria-hidden="true"><rect class={shade(6)} x={1} y={1} width={14} height={14} /></svg> {tensors.odd}</li>
      <li>{tensors.scale}</li>
      <li><span class="k k-none" /> {words.noGrad}</li>
      <li><span class="k k-play" /> {words.inPlay}</li>
    </ul>
  );
}

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
