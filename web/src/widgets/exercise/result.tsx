/** What a test found: the mistake in words, its ledger, and every number, got and expected. */
import {minus, upTo} from "../../text/numbers.ts";
import {Icon} from "../../ui/icons.tsx";
import {inOneBar} from "../../ui/Ledger.tsx";
import {exercise as words} from "../../strings/en/exercise.ts";
import type {Ledger, Result, Row} from "./material.ts";
import {Text} from "./text.tsx";

/** A result, or why there is none. */
export type Shown = {kind: "result"; result: Result; printed: string} | {kind: "stopped"; title: string; why: string; printed: string};

export function Findings({shown, stale}: {shown: Shown; stale: boolean}) {
  if (shown.kind === "stopped") {
    return (
      <>
        <div class="bug" role="status"><p class="reply-h"><Icon name="miss" />{shown.title}</p><p>{shown.why}</p></div>
        <Printed text={shown.printed} />
      </>
    );
  }
  const {result, printed} = shown;
  const passed = result.status === "passed";
  return (
    <div class={stale ? "stale" : ""}>
      <div class="bug" role="status" data-status={result.status} data-kind={result.kind}>
        <p class="reply-h"><Icon name={passed ? "ok" : "miss"} /><span><Text of={result.headline} /></span></p>
        <p class="bug-why"><Text of={sentence(result.status === "error" ? result.why : begun(result.why))} /> {result.ask && <Text of={result.ask} />}</p>
        {result.ledger && <Contributions {...result.ledger} />}
        {stale && <p class="stale-note">{words.stale}</p>}
      </div>
      <Printed text={printed} />
      {result.checks.some(({array}) => array) ? <ArrayChecks {...result} /> : <Checks rows={result.checks} passed={result.passed} total={result.total} />}
    </div>
  );
}

/** With a capital, where it begins with a word rather than with code; what Python itself says is left alone. */
const begun = (text: string) => (/^\p{Ll}{2,} /u.test(text) ? text[0]!.toUpperCase() + text.slice(1) : text);

const sentence = (text: string) => (text === "" || /[.!?…]$/.test(text) ? text : `${text}.`);

function Printed({text}: {text: string}) {
  if (text === "") return null;
  return (
    <div class="printed">
      <p>{words.printed}</p>
      <pre tabIndex={0} role="region" aria-label={words.printed}>{text}</pre>
    </div>
  );
}

/** Contributions side by side, as wide as they are large; one below the other where a bar would say too little. */
function Contributions({name, parts, got, expected}: Ledger) {
  const bar = inOneBar(parts.map(({value}) => value));
  const total = parts.reduce((so, {value}) => so + value, 0);
  return (
    <div class="ledger">
      <p class="ledger-h"><code class="grad">{name}</code> <span>{words.contributions(parts.length)}</span></p>
      <div class={bar ? "bar" : "bar rows"}>
        {parts.map(({value, source, state}, index) => (
          <span key={index} class={state === "kept" ? "got" : "lost"} style={bar ? {"--n": value / total} : {}}>
            <b>{short(value)}</b> {words.states[state]} <small>{words.from(source)}</small>
          </span>
        ))}
      </div>
      <p class="sum"><span>{words.got} <b>{minus(got)}</b></span><span>{words.expected} <b>{minus(expected)}</b></span></p>
    </div>
  );
}

function Checks({rows, passed, total}: {rows: Row[]; passed: number; total: number}) {
  return (
    <table class="checks">
      <caption>{words.checksPass(passed, total)}</caption>
      <thead><tr><th><span class="vh">✓</span></th><th>{words.columns.check}</th><th>{words.columns.got}</th><th>{words.columns.expected}</th></tr></thead>
      <tbody>
        {rows.map(({check, name, got, expected, ok}, index) => (
          <tr key={index} class={ok ? "" : "f"}>
            <td><Icon name={ok ? "ok" : "miss"} /><span class="vh">{ok ? words.rowOk : words.rowMiss}</span></td>
            <td>{check}: <code class={/\.grad$/.test(name) ? "grad" : /\.data$/.test(name) ? "data" : ""}>{name}</code></td>
            <td>{got === null ? <span class="none">{words.noNumber}</span> : minus(got)}</td>
            <td>{minus(expected)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Arrays need room: each check has a heading, what agrees is shown once, and only what differs is shown twice. */
function ArrayChecks({checks, passed, total}: Result) {
  return (
    <table class="checks arrays">
      <caption>{words.checksPass(passed, total)}</caption>
      <tbody>
        {checks.flatMap((row, index) => [
          row.check !== checks[index - 1]?.check && <tr key={`${index}-check`}><th colSpan={3} scope="rowgroup">{row.check}</th></tr>,
          <tr key={index} class={row.ok ? "" : "f"}>
            <td><Icon name={row.ok ? "ok" : "miss"} /><span class="vh">{row.ok ? words.rowOk : words.rowMiss}</span></td>
            <td><code class={/\.grad$|^d_/.test(row.name) ? "grad" : /\.data$/.test(row.name) ? "data" : ""}>{row.name}</code></td>
            <td>
              {row.ok ? <pre>{row.expected}</pre> : (
                <dl>
                  <div><dt>{words.columns.got}</dt><dd>{row.got === null ? words.noNumber : <pre>{row.got}</pre>}</dd></div>
                  <div><dt>{words.columns.expected}</dt><dd><pre>{row.expected}</pre></dd></div>
                </dl>
              )}
            </td>
          </tr>,
        ])}
      </tbody>
    </table>
  );
}

const short = (value: number) => upTo(value, 4);
