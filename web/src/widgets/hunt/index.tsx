/** The hunt: engines that are wrong on purpose, one at a time. */
import {useEffect, useRef, useState} from "preact/hooks";
import material from "#generated/hunt.json";
import {python} from "../../python/index.ts";
import {Icon} from "../../ui/icons.tsx";
import {progress} from "../../store/progress.ts";
import {useOnceAwake} from "../../waking/index.ts";
import {hunt as words} from "../../strings/en/hunt.ts";
import {panelId, Tabs} from "../../ui/Tabs.tsx";
import {recordOf} from "../exercise/work.ts";
import {Hunted} from "./Hunted.tsx";
import {isNamed} from "./kept.ts";
import {keyOf, type Case, type Material} from "./material.ts";
import {Practice} from "./Practice.tsx";
import {useReached} from "./reached.ts";
import type {Props} from "./schema.ts";
import {Wait} from "./Wait.tsx";

const {sets, cases, where} = material as unknown as Material;

export default ({id, set}: Props) => (set === "practice" ? <Practice id={id} /> : <Hunt id={id} names={sets[set]!} />);

const isMended = (name: string): boolean => recordOf(keyOf(name)).passed;

/** A case: there from the start, or brought by Python when somebody comes to see it. */
function useCase(name: string, reached: boolean): {entry: Case | null; failed: boolean; again: () => void} {
  const [brought, setBrought] = useState<Record<string, Case>>({});
  const [failed, setFailed] = useState("");
  const entry = cases[name] ?? brought[name] ?? null;
  const bring = async () => {
    setFailed("");
    try {
      const found = await python.call<Case>("hunting.show", {case: name}, {seconds: 30});
      setBrought((before) => ({...before, [name]: found}));
    } catch {
      setFailed(name);
    }
  };
  useEffect(() => {
    if (!entry && reached) void bring();
  }, [name, reached]);
  return {entry, failed: failed === name, again: () => void bring()};
}

function Hunt({id, names}: {id: string; names: string[]}) {
  const [at, setAt] = useOnceAwake(() => Math.max(0, names.findIndex((name) => !isMended(name))));
  const top = useRef<HTMLDivElement>(null);
  const {entry, failed, again} = useCase(names[at]!, useReached(top));
  const labels = names.map((name, i) => (where[name] === "engine" ? words.engine(i + 1) : words.program(i + 1)));
  const panel = panelId(id);
  const left = names.findIndex((name) => !isMended(name));
  const onward = () => {
    setAt(left);
    top.current!.querySelectorAll("button")[left]!.focus();
    top.current!.scrollIntoView({block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth"});
  };
  const mended = () => names.every(isMended) && progress.mark(id);
  return (
    <div class="hunt">
      <div class="w-bar">
        <Tabs label={words.cases} tabs={names.map((name, i) => ({key: name, label: <Case name={name} label={labels[i]!} />}))} at={at} panel={panel} onChoose={setAt} list={top} />
      </div>
      <div role="tabpanel" id={panel} aria-label={labels[at]}>
        {entry
          ? <Hunted key={entry.name} id={id} entry={entry} label={labels[at]!} onMended={mended} next={left < 0 ? undefined : {label: words.next, go: onward}} />
          : <Wait failed={failed} onAgain={again} />}
        {left < 0 && <p class="hunt-all" role="status"><Icon name="ok" />{words.allDone}</p>}
      </div>
    </div>
  );
}

const Case = ({name, label}: {name: string; label: string}) => (
  <>{isMended(name) && <Icon name="ok" />}{label}<span class="vh"> {isMended(name) ? words.mended : isNamed(name) ? words.named : words.untouched}</span></>
);
