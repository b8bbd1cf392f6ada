/** A question, and for each answer the reason for that answer. */
import {useRef} from "preact/hooks";
import {progress} from "../../store/progress.ts";
import {store} from "../../store/index.ts";
import {quiz as words} from "../../strings/en/quiz.ts";
import {Choice} from "./choice.tsx";
import {NumberAnswer} from "./number.tsx";
import {Html} from "./parts.tsx";
import type {Props} from "./schema.ts";

/** What is kept: the last answer, how many did not fit, whether it is settled. */
export type Kept = {given: string; tries: number; done: boolean};
const NEW: Kept = {given: "", tries: 0, done: false};

export default function Quiz(props: Props) {
  const key = `quiz:${props.id}`;
  const kept = store.get<Kept>(key, NEW);
  const mine = useRef(kept.given);
  const times = useRef(0);
  if (kept.given !== mine.current) { // it came from another tab, or a file: the answer begins anew with it
    mine.current = kept.given;
    times.current++;
  }
  const keep = (change: Partial<Kept>) => {
    const next = {...kept, ...change};
    mine.current = next.given;
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
      {props.options ? <Choice key={times.current} {...props} {...{name, kept, keep}} /> : <NumberAnswer key={times.current} {...props} {...{name, kept, keep}} />}
    </section>
  );
}
