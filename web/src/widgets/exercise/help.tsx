/** Hints, each more explicit than the one before; the solution, after an honest try; and a way to start again. */
import {useState} from "preact/hooks";
import {Confirm} from "../../ui/Confirm.tsx";
import {Icon} from "../../ui/icons.tsx";
import {exercise as words} from "../../strings/en/exercise.ts";
import type {Tab} from "./material.ts";
import {Text} from "./text.tsx";
import {note, recordOf, textOf, write} from "./work.ts";

/** `shown` is what the text is called, where its name is not for reading. */
export function Help({tab, shown = tab.name}: {tab: Tab; shown?: string}) {
  const {hints, tries} = recordOf(tab.name);
  const [solution, setSolution] = useState(false);
  const [refused, setRefused] = useState(false);
  const [resetting, setResetting] = useState(false);
  const all = tab.hints.length;
  const tried = tries >= 2 || (tries >= 1 && hints >= all);
  const touched = textOf(tab.name, tab.starter) !== tab.starter;
  return (
    <>
      <button class="btn" type="button" aria-disabled={hints >= all} onClick={() => hints < all && note(tab.name, {hints: hints + 1})}>{words.hint(hints, all)}</button>
      <button class="btn ghost" type="button" aria-disabled={!tried} aria-expanded={solution} onClick={() => (tried ? setSolution(!solution) : setRefused(true))}>{words.solution}</button>
      <button class="btn ghost push" type="button" disabled={!touched} onClick={() => setResetting(true)}>{words.reset}</button>
      {resetting && (
        <Confirm ask={words.resetAsk(shown)} yes={words.resetYes} no={words.resetNo} onNo={() => setResetting(false)}
          onYes={() => (write(tab.name, tab.starter, tab.starter), setResetting(false))} />
      )}
      <div class="help" role="log" aria-label={words.hints}>
        {hints > 0 && (
          <ol class="hints">
            {tab.hints.slice(0, hints).map((hint, index) => <li key={index}><b>{words.hintNumber(index + 1)}</b><span><Text of={hint} /></span></li>)}
          </ol>
        )}
      </div>
      <div class="help" role="status">{refused && !tried && <p class="later">{words.solutionLater}</p>}</div>
      {solution && tried && (
        <div class="solution">
          <p>{words.solutionTitle(shown)}</p>
          <pre tabIndex={0} role="region" aria-label={words.solutionTitle(shown)}><code>{tab.solution}</code></pre>
          <button class="btn" type="button" onClick={() => write(tab.name, tab.solution, tab.starter)}><Icon name="copy" />{words.takeIt}</button>
        </div>
      )}
    </>
  );
}
