/** A question, and for each answer the reason for that answer. */
import {useState} from "preact/hooks";
import {progress} from "../../store/progress.ts";
import {store} from "../../store/index.ts";
import {quiz as words} from "../../strings/en/quiz.ts";
import {guarded} from "../../ui/guarded.tsx";
import {Choice} from "./choice.tsx";
import {NumberAnswer} from "./number.tsx";
import {Html} from "./parts.tsx";
import type {Props} from "./schema.ts";

/** What is kept: the last answer, how many did not fit, whether it is settled. */
export type Kept = {given: string; tries: number; done: boolean};

export function mount(element: HTMLElement, props: Props): void {
  guarded(<Quiz {...props} />, element);
}

function Quiz(props: Props) {
  const key = `quiz:${props.id}`;
  const [kept, setKept] = useState<Kept>(() => store.get<Kept>(key, {given: "", tries: 0, done: false}));
  const keep = (change: Partial<Kept>) => {
    const next = {...kept, ...change};
    setKept(next);
    store.set(key, next);
    if (next.done) progress.mark(props.id);
  };
  const name = props.id.replace(/[^\w-]/g, "-");
  return (
    <section class="quiz" aria-labelledby={`${name}-ask`}>
      <h3 id={`${name}-ask`}>
        <span class="tag">{words.tags[props.tag]}</span> <Html of={props.ask} />
      </h3>
      {props.note && <p class="small" id={`${name}-note`}><Html of={props.note} /></p>}
      {props.options ? <Choice {...props} {...{name, kept, keep}} /> : <NumberAnswer {...props} {...{name, kept, keep}} />}
    </section>
  );
}
