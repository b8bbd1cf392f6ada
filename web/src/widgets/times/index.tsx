/** What took how long, as bars: the numbers of benchmarks/results. */
import material from "#generated/times.json";
import {Fragment} from "preact";
import {times as words} from "../../strings/en/times.ts";
import {coarse, groups, timeOf} from "./scale.ts";
import type {Props, Times} from "./schema.ts";

const TIMES = material as Times;

export default function Bars({of}: Props) {
  const bars = TIMES.bars[of]!;
  const caption = words.captions[of] ?? of;
  if (bars.length === 0) return <p class="times-note">{words.nothing}</p>;
  const first = bars[0]!;
  return (
    <figure class="times-figure">
      <figcaption>{caption}</figcaption>
      {groups(bars).map(({larger, bars: shown}) => (
        <Fragment key={larger}>
          {larger > 1 && <p class="larger">{words.larger(coarse(larger))}</p>}
          <ul>
            {shown.map(({bar: {who, how, seconds, ours}, width}) => {
              const ratio = first.seconds / seconds;
              return (
                <li key={`${who} ${how}`} class={ours ? "ours" : ""}>
                  <span class="who">{words.names[who] ?? who}{how && <i>, {words.how[how] ?? how}</i>}</span>
                  <span class="track" aria-hidden="true"><i class="fill" style={{width: `${100 * width}%`}} /></span>
                  <span class="time">{timeOf(seconds, words.units)}</span>
                  {ratio > 1.15 && <span class="ratio">{words.times(coarse(ratio))}</span>}
                </li>
              );
            })}
          </ul>
        </Fragment>
      ))}
      <p class="times-note">
        {TIMES.machine && words.machine([TIMES.machine.processor, `Python ${TIMES.machine.python}`].join(", "))}
        {of !== "collector" && !TIMES.measured.compiled && ` ${words.missing}`}
      </p>
    </figure>
  );
}
