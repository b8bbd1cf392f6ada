/** Which bug is it? A wrong choice gets the reason why it is not that. */
import {hunt as words} from "../../strings/en/hunt.ts";
import {useOnceAwake} from "../../waking/index.ts";
import {Text} from "../exercise/text.tsx";
import {Reply} from "../quiz/parts.tsx";
import type {Choice} from "./material.ts";

export function Name({id, choices, done, onFound}: {id: string; choices: Choice[]; done: boolean; onFound: () => void}) {
  const right = choices.findIndex((choice) => choice.right);
  const [chosen, setChosen] = useOnceAwake(() => (done ? right : -1));
  const [checked, setChecked] = useOnceAwake<number | null>(() => (done ? right : null));
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(chosen);
    if (chosen === right) onFound();
  };
  const said = checked === null ? undefined : choices[checked];
  return (
    <section class="hunt-part quiz" data-stage="name">
      <h3 id={`${id}-which`}>{words.stages.name}</h3>
      <form class="choice-form" method="dialog" onSubmit={submit}>
        <p class="hunt-ask">{words.which}</p>
        <div class="choices" role="radiogroup" aria-labelledby={`${id}-which`}>
          {choices.map(({family, label}, index) => (
            <label key={family} class={index === checked && chosen === checked ? (index === right ? "ok" : "miss") : ""}>
              <input type="radio" name={`${id}-name`} value={family} checked={index === chosen} onChange={() => setChosen(index)} />
              <span><Text of={label} /></span>
            </label>
          ))}
        </div>
        <button class="btn primary" type="submit">{words.check}</button>
        {checked === null ? <Reply id={`${id}-reply`} />
          : !said ? <Reply id={`${id}-reply`} kind="miss" title={words.nothingChosen.title}>{words.nothingChosen.why}</Reply>
          : <Reply id={`${id}-reply`} kind={said.right ? "ok" : "miss"} title={said.right ? words.found : words.miss}><Text of={said.why} /></Reply>}
      </form>
    </section>
  );
}
