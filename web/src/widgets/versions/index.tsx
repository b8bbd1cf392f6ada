/** The engine in versions: what each changes in the one before, why, and a few lines to run on it. */
import material from "#generated/versions.json";
import {render} from "preact";
import {useRef, useState} from "preact/hooks";
import {progress} from "../../store/progress.ts";
import {versions as words} from "../../strings/en/versions.ts";
import {Html} from "../quiz/parts.tsx";
import {Try} from "../script/Try.tsx";
import {Difference} from "./Difference.tsx";
import {engineOf, type Version} from "./folds.ts";
import type {Props} from "./schema.ts";

const VERSIONS = material as Version[];

export function mount(element: HTMLElement, props: Props): void {
  element.classList.add("versions");
  render(<Versions {...props} />, element);
}

function Versions({id, show}: Props) {
  const shown = show.map(({file}) => VERSIONS.find(({name}) => name === file)!);
  const [at, setAt] = useState(0);
  const [ran, setRan] = useState<readonly string[]>([]);
  const version = shown[at]!;
  const panel = `${id.replace(/[^\w-]/g, "-")}-panel`;
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
      <div class="w-bar"><Tabs {...{shown, at, setAt, panel}} /></div>
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

function Tabs({shown, at, setAt, panel}: {shown: Version[]; at: number; setAt: (index: number) => void; panel: string}) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const last = shown.length - 1;
    const to = {ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
    list.current!.querySelectorAll("button")[to]!.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={words.tabs} ref={list} onKeyDown={move}>
      {shown.map(({name, number}, index) => (
        <button key={name} type="button" role="tab" aria-selected={index === at} aria-controls={panel} tabIndex={index === at ? 0 : -1} onClick={() => setAt(index)}>
          {words.version(number)}
        </button>
      ))}
    </div>
  );
}
