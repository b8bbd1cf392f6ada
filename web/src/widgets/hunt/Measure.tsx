/** The instrument: press it, and see for each leaf what the engine says and what nudging says. */
import {counted, exact, readable, rounded} from "../../text/numbers.ts";
import {Icon} from "../../ui/icons.tsx";
import {hunt as words} from "../../strings/en/hunt.ts";
import type {Check, Measured} from "./material.ts";

export function Measure({check, shown, drawn, onPress}: {check: Check; shown: boolean; drawn: boolean; onPress: () => void}) {
  return (
    <section class="hunt-part" data-stage="measure">
      <h3>{words.stages.measure}</h3>
      <div class="hunt-tool">
        <button class="btn" type="button" aria-pressed={shown} onClick={onPress}>{words.measure}</button>
        <p>{words.measureWhy}</p>
      </div>
      <div role="status">{shown && <Table check={check} drawn={drawn} />}</div>
    </section>
  );
}

function Table({check: {value, leaves, stopped}, drawn}: {check: Check; drawn: boolean}) {
  if (stopped) return <p class="reply miss hunt-stop"><Icon name="miss" />{stopped.kind === "raised" ? words.raised(stopped.error, stopped.line) : words.endless(counted(stopped.steps))}</p>;
  const rows = [...leaves, ...(value ? [{...value, name: words.value(value.name)}] : [])];
  const columns = drawn ? words.columns : words.checkColumns;
  const wrong = rows.filter(({ok}) => !ok).length;
  return (
    <table class="checks hunt-table">
      <caption>{wrong ? words.someDiffer(wrong) : words.allAgree} {value && <span>{words.valueNote}</span>}</caption>
      <thead><tr><th><span class="vh">✓</span></th><th>{columns.leaf}</th><th>{columns.says}</th><th>{columns.nudged}</th></tr></thead>
      <tbody>{rows.map((row) => <Row key={row.name} {...row} />)}</tbody>
    </table>
  );
}

const Row = ({name, said, measured, ok}: Measured) => (
  <tr class={ok ? "" : "f"}>
    <td><Icon name={ok ? "ok" : "miss"} /><span class="vh">{ok ? words.agrees : words.differs}</span></td>
    <td><code>{name}</code></td>
    <td title={exact(said)}>{readable(said)}</td>
    <td title={exact(measured)}>{readable(tidy(measured))}</td>
  </tr>
);

/** A nudge is right to some eight digits; the rest is noise. */
const tidy = (x: number): number => rounded(x, 8);
