/** An answer that is one of several: radio buttons, so that keys and screen readers know what to do. */
import {useState} from "preact/hooks";
import {quiz as words} from "../../strings/en/quiz.ts";
import type {Kept} from "./index.tsx";
import {Html, Reply} from "./parts.tsx";
import type {Props} from "./schema.ts";

type Asked = Props & {name: string; kept: Kept; keep: (change: Partial<Kept>) => void};

export function Choice({name, kept, keep, ...props}: Asked) {
  const options = props.options!;
  // an answer given before options had names is the number of one
  const before = options.findIndex(({id}, index) => id === kept.given || String(index) === kept.given);
  const [chosen, setChosen] = useState(before);
  const [checked, setChecked] = useState<number | undefined>(before < 0 ? undefined : before);
  const predict = props.mode === "predict";
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(chosen);
    if (chosen < 0) return;
    const done = predict || options[chosen]!.right === true;
    keep({given: options[chosen]!.id, done: kept.done || done, tries: kept.tries + (done ? 0 : 1)});
  };
  return (
    <form class="choice-form" method="dialog" onSubmit={submit}>
      <div class={predict ? "chips" : "choices"} role="radiogroup" aria-labelledby={`${name}-ask`}>
        {options.map(({text}, index) => (
          <label key={index} class={index === checked && chosen === checked ? (predict ? "said" : options[index]!.right ? "ok" : "miss") : ""}>
            <input type="radio" name={name} checked={index === chosen} onChange={() => setChosen(index)} />
            <Html of={text} />
          </label>
        ))}
      </div>
      <button class="btn primary" type="submit">{predict ? words.predict : words.check}</button>
      {predict ? <Said {...{name, props, checked}} /> : <Verdict {...{name, props, checked}} />}
    </form>
  );
}

function Verdict({name, props, checked}: {name: string; props: Props; checked?: number}) {
  const id = `${name}-reply`;
  if (checked === undefined) return <Reply id={id} />;
  if (checked < 0) return <Reply id={id} kind="miss" title={words.nothingChosen.title}>{words.nothingChosen.why}</Reply>;
  const {right, why} = props.options![checked]!;
  return <Reply id={id} kind={right ? "ok" : "miss"} title={right ? words.rightChoice : words.missChoice}><Html of={why!} /></Reply>;
}

function Said({name, props, checked}: {name: string; props: Props; checked?: number}) {
  return (
    <p class="after" id={`${name}-reply`} role="status">
      {checked !== undefined && checked < 0 && words.nothingChosen.why}
      {checked !== undefined && checked >= 0 && (
        <>
          <Html of={words.said(props.options![checked]!.text)} /> {props.after && <Html of={props.after} />}
        </>
      )}
    </p>
  );
}
