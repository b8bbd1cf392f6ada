/** An answer that is a number. */
import {useState} from "preact/hooks";
import {quiz as words} from "../../strings/en/quiz.ts";
import {answered as show, minus} from "../../text/numbers.ts";
import {judge, meant, read} from "./answer.ts";
import type {Kept} from "./index.tsx";
import {Html, Reply} from "./parts.tsx";
import type {Props} from "./schema.ts";

const PATIENCE = 3; // so many different tries before the answer may be asked for

type Asked = Props & {name: string; kept: Kept; keep: (change: Partial<Kept>) => void};

export function NumberAnswer({name, kept, keep, ...props}: Asked) {
  const [text, setText] = useState(kept.given);
  const [checked, setChecked] = useState(kept.given); // what the reply is about
  const [told, setTold] = useState(false);
  const reading = read(text);
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(text.trim() || " ");
    if (reading.kind !== "number") return;
    const verdict = judge(meant(reading, ...known(props)), ...known(props));
    if (verdict.kind === "right") keep({given: text, done: true});
    else keep({given: text, tries: kept.tries + (text === kept.given ? 0 : 1)});
  };
  const reply = checked ? replyTo(checked, props) : undefined;
  const described = [props.note && `${name}-note`, `${name}-reply`].filter(Boolean).join(" ");
  return (
    <form class="answer-form" method="dialog" onSubmit={submit} noValidate>
      <div class="answer">
        <label>
          <span class="vh">{words.yourAnswer}</span>
          <input value={text} onInput={(event) => setText(event.currentTarget.value)} inputMode="text" autoComplete="off" autoCapitalize="off"
            spellcheck={false} maxLength={60} aria-describedby={described} aria-invalid={reply?.kind === "miss" && checked === text.trim()} />
        </label>
        {reading.kind === "number" && !sameText(text, reading.value) && <span class="readas">{words.readAs(show(meant(reading, ...known(props))))}</span>}
        <button class="btn primary" type="submit">{words.check}</button>
      </div>
      <Reply id={`${name}-reply`} kind={reply?.kind} title={reply?.title}>{reply?.why && <Html of={reply.why} />}</Reply>
      {!kept.done && kept.tries >= PATIENCE && (
        <p class="quiz-more" role="status">
          {told ? words.shown(props.answer!) : <button class="quiet" type="button" onClick={() => setTold(true)}>{words.show}</button>}
        </p>
      )}
    </form>
  );
}

function replyTo(text: string, props: Props): {kind: "ok" | "miss"; title: string; why?: string} {
  const reading = read(text);
  if (reading.kind === "nothing") return {kind: "miss", ...words.nothing};
  if (reading.kind === "over zero") return {kind: "miss", ...words.overZero};
  if (reading.kind === "unreadable") {
    const {title, why} = words.noNumber(text.length > 24 ? `${text.slice(0, 24)}…` : text);
    return {kind: "miss", title, why};
  }
  const value = meant(reading, ...known(props));
  const verdict = judge(value, ...known(props));
  const shown = show(value);
  if (verdict.kind === "right") return {kind: "ok", title: words.right(shown), why: props.right};
  const why = verdict.kind === "known" ? verdict.why : verdict.kind === "sign" ? words.sign : (props.other ?? words.otherwise);
  return {kind: "miss", title: words.miss(shown), why};
}

const known = ({answer, wrong = [], within}: Props) => [answer!, wrong, within] as const;
const sameText = (text: string, value: number) => minus(text.trim()) === show(value);
