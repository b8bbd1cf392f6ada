/** One case: watch, measure, name, mend, and what it was. */
import {useState} from "preact/hooks";
import {python} from "../../python/index.ts";
import {Icon} from "../../ui/icons.tsx";
import {hunt as words} from "../../strings/en/hunt.ts";
import {reason} from "../exercise/code.tsx";
import {Text} from "../exercise/text.tsx";
import {recordOf} from "../exercise/work.ts";
import {isNamed, keepNamed} from "./kept.ts";
import {keyOf, type Case, type Seen} from "./material.ts";
import {Measure} from "./Measure.tsx";
import {Mend} from "./Mend.tsx";
import {Name} from "./Name.tsx";
import {Watch} from "./Watch.tsx";

type Props = {id: string; entry: Case; label: string; onMended: () => void; next?: {label: string; go: () => void}};
/** The walk of what the learner has written, with that text. */
type Own = {seen: Seen; text: string};

export function Hunted({id, entry, label, onMended, next}: Props) {
  const [own, setOwn] = useState<Own | null>(null);
  const [measured, setMeasured] = useState(false);
  const [rewalking, setRewalking] = useState(false);
  const [trouble, setTrouble] = useState("");
  const named = isNamed(entry.name);
  const mended = recordOf(keyOf(entry.name)).passed;
  const seen = own?.seen ?? entry;
  const source = entry.where === "engine" ? (own?.text ?? entry.text) : seen.engine ?? "";
  const program = entry.where === "program" && own ? own.text : entry.program;
  const rewalk = async (text: string) => {
    setRewalking(true);
    try {
      setOwn({seen: await python.call<Seen>("hunting.walk", {case: entry.name, text}, {seconds: 15}), text});
      setTrouble("");
    } catch (error) {
      const {title, why} = reason(error);
      setTrouble(`${title}: ${why}`);
    }
    setRewalking(false);
  };
  const place = id.replace(/[^\w-]/g, "-");
  return (
    <div class="hunted" data-case={entry.name} data-named={named} data-mended={mended}>
      <section class="hunt-part first" data-stage="watch">
        <h3>{words.stages.watch}</h3>
        <div class="hunt-program"><p>{words.theProgram}</p><pre tabIndex={0} role="region" aria-label={words.theProgram}><code>{program}</code></pre></div>
        {own && <p class="hunt-own" role="status">{words.rewalked} <button class="quiet" type="button" onClick={() => setOwn(null)}>{words.original}</button></p>}
        <Watch key={own ? "own" : "first"} seen={seen} source={source} about={words.source[entry.where]} />
      </section>
      <Measure check={seen.check} shown={measured} drawn={seen.graph !== null} onPress={() => setMeasured(!measured)} />
      <Name id={`${place}-${entry.name}`} choices={entry.choices} done={named} onFound={() => keepNamed(entry.name)} />
      <section class="hunt-part last" data-stage="mend">
        <h3>{words.stages.mend}</h3>
        {!named && <p class="hunt-later">{words.mendFirst}</p>}
      </section>
      {named && <Mend entry={entry} label={label} rewalking={rewalking} onMended={onMended} onWalk={(text) => void rewalk(text)} />}
      {trouble && <p class="hunt-trouble" role="status">{trouble}</p>}
      <div role="status">
        {mended && (
          <div class="hunt-was">
            <p class="reply-h"><Icon name="ok" /><span>{words.explanation}: <Text of={entry.title} /></span></p>
            <p><Text of={entry.explanation} /></p>
            <p><b>{words.solution}.</b> <Text of={entry.solution} /></p>
            {next && <button class="btn primary" type="button" onClick={next.go}>{next.label}<Icon name="right" /></button>}
          </div>
        )}
      </div>
    </div>
  );
}
