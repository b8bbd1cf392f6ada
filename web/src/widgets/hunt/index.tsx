/** The hunt: engines that are wrong on purpose, one at a time. */
import {render} from "preact";
import {useRef, useState} from "preact/hooks";
import material from "#generated/hunt.json";
import {Icon} from "../../site/icons.tsx";
import {progress} from "../../store/progress.ts";
import {hunt as words} from "../../strings/en/hunt.ts";
import {recordOf} from "../exercise/work.ts";
import {Hunted} from "./Hunted.tsx";
import {isNamed} from "./kept.ts";
import {keyOf, type Case, type Material} from "./material.ts";
import {Practice} from "./Practice.tsx";
import type {Props} from "./schema.ts";

const {sets, cases} = material as unknown as Material;

export function mount(element: HTMLElement, props: Props): void {
  render(props.set === "practice" ? <Practice id={props.id} /> : <Hunt id={props.id} entries={sets[props.set]!.map((name) => cases[name]!)} />, element);
}

const isMended = (entry: Case): boolean => recordOf(keyOf(entry.name)).value.passed;

function Hunt({id, entries}: {id: string; entries: Case[]}) {
  const [at, setAt] = useState(() => Math.max(0, entries.findIndex((entry) => !isMended(entry))));
  const top = useRef<HTMLDivElement>(null);
  const entry = entries[at]!;
  const labels = entries.map(({where}, i) => (where === "engine" ? words.engine(i + 1) : words.program(i + 1)));
  const panel = `${id.replace(/[^\w-]/g, "-")}-panel`;
  const left = entries.findIndex((other) => !isMended(other));
  const onward = () => {
    setAt(left);
    top.current!.querySelectorAll("button")[left]!.focus();
    top.current!.scrollIntoView({block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
  };
  const mended = () => entries.every(isMended) && progress.mark(id);
  const keys = (event: KeyboardEvent) => {
    const last = entries.length - 1;
    const to = {ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
    top.current!.querySelectorAll("button")[to]!.focus();
  };
  return (
    <div class="hunt">
      <div class="w-bar">
        <div class="tabs" role="tablist" aria-label={words.cases} ref={top} onKeyDown={keys}>
          {entries.map((each, i) => (
            <button key={each.name} type="button" role="tab" aria-selected={i === at} aria-controls={panel} tabIndex={i === at ? 0 : -1} onClick={() => setAt(i)}>
              {isMended(each) && <Icon name="ok" />}{labels[i]}<span class="vh"> {isMended(each) ? words.mended : isNamed(each.name) ? words.named : words.untouched}</span>
            </button>
          ))}
        </div>
      </div>
      <div role="tabpanel" id={panel} aria-label={labels[at]}>
        <Hunted key={entry.name} id={id} entry={entry} label={labels[at]!} onMended={mended} next={left < 0 ? undefined : {label: words.next, go: onward}} />
        {left < 0 && <p class="hunt-all" role="status"><Icon name="ok" />{words.allDone}</p>}
      </div>
    </div>
  );
}
