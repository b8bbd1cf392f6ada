/** The engine in versions: what each changes in the one before, why, and a few lines to run on it. */
import material from "#generated/versions.json";
import {useRef, useState} from "preact/hooks";
import {progress} from "../../store/progress.ts";
import {versions as words} from "../../strings/en/versions.ts";
import {panelId, Tabs} from "../../ui/Tabs.tsx";
import {Html} from "../quiz/parts.tsx";
import {Try} from "../script/Try.tsx";
import {Difference} from "./Difference.tsx";
import {engineOf, type Version} from "./folds.ts";
import type {Props} from "./schema.ts";

const VERSIONS = material as Version[];

export default function Versions({id, show}: Props) {
  const shown = show.map(({file}) => VERSIONS.find(({name}) => name === file)!);
  const [at, setAt] = useState(0);
  const [ran, setRan] = useState<readonly string[]>([]);
  const version = shown[at]!;
  const panel = panelId(id);
  const onRan = () => {
    const now = [...new Set([...ran, version.name])];
    setRan(now);
    if (now.length === shown.length) progress.mark(id);
  };
  const next = shown[at + 1];
  const top = useRef<HTMLDivElement>(null);
  const goOn = () => { // the button goes with its version: the reader is taken to the top of the next
    setAt(at + 1);
    top.current!.focus();
    top.current!.scrollIntoView({block: "start"});
  };
  return (
    <>
      <div class="w-bar"><Tabs label={words.tabs} tabs={shown.map(({name, number}) => ({key: name, label: words.version(number)}))} at={at} panel={panel} onChoose={setAt} /></div>
      <div class="v-grid" id={panel} ref={top} tabIndex={-1} role="tabpanel" aria-label={words.version(version.number)} data-version={version.number}>
        <div class="v-why">
          <h3>{words.version(version.number)}: {show[at]!.name}</h3>
          <div class="v-reason"><Html of={show[at]!.why} /></div>
        </div>
        <Difference key={`code-${version.name}`} version={version} />
        <Try key={version.name} name={version.name} label={words.editor(version.number)} start={version.demo} engine={engineOf(version)} onRan={onRan} next={next && {number: next.number, go: goOn}} />
      </div>
    </>
  );
}
