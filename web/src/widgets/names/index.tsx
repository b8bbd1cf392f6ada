/** A small network learns from a list of names, in the page's own Python, and makes up new ones as it goes. */
import {useState} from "preact/hooks";
import {useComputed} from "@preact/signals";
import {Act} from "../../ui/Act.tsx";
import {python} from "../../python/index.ts";
import {counted} from "../../text/numbers.ts";
import {pythonState} from "../../ui/pythonState.ts";
import {names as words} from "../../strings/en/names.ts";
import {Curve} from "./Curve.tsx";
import {isKnown, smooth, useTrainer, type Facts, type Sample} from "./trainer.ts";

export default function Names() {
  const [facts, setFacts] = useState<Facts | null>(null);
  const trainer = useTrainer(facts, setFacts);
  const {phase, percent} = useComputed(() => pythonState()).value;
  const {state, losses, samples, playing, done} = trainer;
  const step = state?.step ?? 0;
  const loss = losses.length ? smooth(losses).toFixed(2) : "–";
  const waiting = playing && phase === "loading" ? words.waiting(percent) : "";
  const note = waiting || trainer.trouble || (done ? words.notes.done : step || playing ? words.notes.going : words.notes.start);
  const latest = samples.at(-1);
  const spoken = latest && latest.step > 0 ? words.spoken(String(latest.step), loss, latest.names.join(", ")) : "";
  return (
    <div data-step={step} data-loss={losses.length ? smooth(losses) : ""} onFocusIn={() => python.load()} onPointerEnter={() => python.load()}>
      <div class="w-bar">
        <span class="w-name">{words.title}</span>
        {facts && <span class="names-about">{words.about(counted(facts.parameters), counted(facts.examples))}</span>}
      </div>
      <div class="names-grid">
        <div class="names-side">
          <dl class="stats">
            <div><dt>{words.step}</dt><dd>{words.of(String(step), String(facts?.steps ?? 1000))}</dd></div>
            <div><dt>{words.loss}</dt><dd class="data">{loss}</dd></div>
          </dl>
          <progress aria-label={words.progress} max={facts?.steps ?? 1000} value={step} />
          <Curve losses={losses} facts={facts} />
          <p class="names-note">{note}</p>
          <div class="names-ctl">
            <Act act="reset" icon="reset" off={state === null} onClick={trainer.reset}>{words.reset}</Act>
            <Act act="play" icon={playing ? "pause" : "play"} primary off={done} onClick={playing ? trainer.pause : trainer.play}>{playing ? words.pause : words.train}</Act>
          </div>
        </div>
        <div class="names-made" tabIndex={0} role="region" aria-label={words.madeUp}>
          <h3>{words.madeUp}</h3>
          <p class="names-legend">{words.legend}</p>
          <ol>
            {state && !samples.some((sample) => sample.step === state.step) && <Made step={state.step} names={state.names} now />}
            {[...samples].reverse().map((sample) => <Made key={sample.step} {...sample} />)}
          </ol>
        </div>
      </div>
      <p class="vh" role="status">{spoken}</p>
    </div>
  );
}

function Made({step, names, now}: Sample & {now?: boolean}) {
  return (
    <li class={now ? "now" : ""}>
      <span class="when">{words.after(String(step))}</span>
      <span class="made">
        {names.map((name, i) => (
          <span key={i}><span class={isKnown(name) ? "known" : ""}>{name || words.empty}</span>{isKnown(name) && <span class="vh"> ({words.known})</span>}{i < names.length - 1 ? ", " : ""}</span>
        ))}
      </span>
    </li>
  );
}
