/** The learner's engine as a file to take home. */
import material from "#generated/exercises.json";
import {useState} from "preact/hooks";
import {Icon} from "../../ui/icons.tsx";
import {save} from "../../ui/save.ts";
import {download as words} from "../../strings/en/exercise.ts";
import {wholeClass, type Material} from "../exercise/material.ts";
import {allTexts, recordOf} from "../exercise/work.ts";
import type {Props} from "./schema.ts";

const MATERIAL = material as unknown as Material;
const STARTERS = Object.fromEntries(Object.values(MATERIAL.exercises).flatMap(({tabs}) => tabs.map(({name, starter}) => [name, starter])));

export default function Download({upTo}: Props) {
  const [copied, setCopied] = useState(false);
  const texts = allTexts(MATERIAL);
  const parts = MATERIAL.engine.parts.filter((part) => part.lesson <= upTo).map(({name}) => ({name, state: stateOf(name, texts[name]!)}));
  const code = wholeClass(MATERIAL.engine, texts, upTo);
  const copy = () => void navigator.clipboard?.writeText(code).then(() => setCopied(true), () => setCopied(false));
  return (
    <div class="download">
      <h3>{words.title}</h3>
      <ul>
        {parts.map(({name, state}) => (
          <li key={name} class={state}>{state === "passed" ? <Icon name="ok" /> : <i aria-hidden="true" />}<code>{name}</code> <span class={state === "passed" ? "vh" : ""}>{words.parts[state]}</span></li>
        ))}
      </ul>
      <p>{parts.every(({state}) => state === "passed") ? words.ready : words.notReady}</p>
      <div class="download-actions">
        <button class="btn primary" type="button" onClick={() => save(code, "text/x-python", words.name)}><Icon name="download" />{words.button}</button>
        <button class="btn" type="button" onClick={copy}><Icon name="copy" />{copied ? words.copied : words.copy}</button>
      </div>
    </div>
  );
}

function stateOf(name: string, text: string): "passed" | "written" | "untouched" {
  if (recordOf(name).passed) return "passed";
  return text === STARTERS[name] ? "untouched" : "written";
}
