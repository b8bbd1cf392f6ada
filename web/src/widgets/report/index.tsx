/** The learner's engine judged in the page: the same report as `gradwalk grade` gives. */
import material from "#generated/exercises.json";
import {useState} from "preact/hooks";
import {python} from "../../python/index.ts";
import {digits, minus} from "../../text/numbers.ts";
import {Icon, type IconName} from "../../ui/icons.tsx";
import {pythonState} from "../../ui/pythonState.ts";
import {report as words} from "../../strings/en/report.ts";
import {wholeClass, type Material} from "../exercise/material.ts";
import {Text} from "../exercise/text.tsx";
import {allTexts} from "../exercise/work.ts";
import {judge, type CheckResult, type Diagnosis, type Ended, type Going, type Judged, type Mark} from "./judge.ts";
import type {Props} from "./schema.ts";

const MATERIAL = material as unknown as Material;

export default function Grading({upTo}: Props) {
  const [going, setGoing] = useState<Going | null>(null);
  const [ended, setEnded] = useState<(Ended & {source: string}) | null>(null);
  const source = wholeClass(MATERIAL.engine, allTexts(MATERIAL), upTo);
  const grade = async () => {
    setGoing({done: 0, of: 1, doing: "", restarted: false});
    setEnded(null);
    const found = await judge(source, setGoing);
    setGoing(null);
    setEnded({...found, source});
  };
  return (
    <div class="grading">
      <div class="grading-head">
        <div><h3>{words.title}</h3><p>{words.about}</p></div>
        {going ? <button class="btn" type="button" onClick={() => python.stop()}><Icon name="stop" />{words.stop}</button>
          : <button class="btn primary" type="button" onClick={() => void grade()}>{ended ? words.again : words.button}</button>}
      </div>
      {going && <Going_ going={going} />}
      <div role="status">{ended && ended.kind !== "judged" && <Failure kind={ended.kind} />}</div>
      {ended?.kind === "judged" && (
        <div class={ended.source === source ? "" : "stale"}>
          {ended.source !== source && <p class="grading-changed" role="status">{words.changed}</p>}
          <Judgement judged={ended.judged} />
        </div>
      )}
    </div>
  );
}

function Going_({going: {done, of, doing, restarted}}: {going: Going}) {
  const {phase, percent} = pythonState();
  const what = phase !== "ready" ? (restarted ? words.restarting : words.loading(percent)) : doing === "diagnosis" ? words.diagnosis : doing && words.doing(doing);
  return (
    <div class="grading-going">
      <progress aria-label={words.progress} value={done} max={of} />
      <p role="status">{what}</p>
    </div>
  );
}

function Failure({kind}: {kind: "stopped" | "gave up" | "not loaded"}) {
  const {title, why} = {stopped: words.stopped, "gave up": words.gaveUp, "not loaded": words.notLoaded}[kind];
  return <div class="reply miss"><p class="reply-h"><Icon name="miss" />{title}</p><p>{why}</p></div>;
}

function Judgement({judged: {report, groups, beyond}}: {judged: Judged}) {
  const missing = report.checks.filter(({status}) => status === "missing").map(({lacks}) => lacks);
  const {score, total} = report.essentials;
  const right = score === total;
  return (
    <div class="judgement" data-score={report.score} data-total={report.total} data-right={right}>
      <div class="grading-score" role="status">
        <p class="grading-sum"><Icon name={right ? "ok" : "miss"} />{right ? words.isRight(total) : words.essentials(score, total)}</p>
        <p>{right ? (report.passed ? words.allRight : words.rightWhy) : words.essentialsWhy}</p>
        <dl>
          {!right && <Marked mark={report.essentials} label={words.essentials} why={words.essentialsWhy} />}
          <Marked mark={report.beyond} label={words.beyond} why={words.beyondWhy} />
        </dl>
      </div>
      {report.diagnoses.length > 0 && (
        <>
          <h4>{right ? words.further : words.toMend(report.diagnoses.length)}</h4>
          <ol class="found">{report.diagnoses.map((diagnosis, i) => <Found key={i} {...diagnosis} />)}</ol>
        </>
      )}
      {report.notes.map((note, i) => <p key={i} class="grading-note"><Text of={note} /></p>)}
      {missing.length > 0 && <p class="grading-note">{words.missing([...new Set(missing)])}</p>}
      <h4>{words.checks}</h4>
      {Object.entries(groups).map(([group, title]) => {
        const checks = report.checks.filter((check) => check.group === group);
        return checks.length > 0 && <Group key={group} title={title} checks={checks} beyond={beyond.includes(group)} />;
      })}
    </div>
  );
}

const Marked = ({mark, label, why}: {mark: Mark; label: (score: number, total: number) => string; why: string}) =>
  mark.total === 0 ? null : (
    <div>
      <dt>{label(mark.score, mark.total)}</dt>
      <dd><progress value={mark.score} max={mark.total} aria-label={label(mark.score, mark.total)} /><span>{why}</span></dd>
    </div>
  );

function Found({sentence, line, hint, solution}: Diagnosis) {
  return (
    <li>
      <p class="found-what"><Text of={sentence[0]!.toUpperCase() + sentence.slice(1)} />{line !== null && <span class="found-line">{words.line(line)}</span>}</p>
      {hint && <p><Text of={hint} /></p>}
      {solution && <details><summary>{words.showSolution}</summary><p><Text of={solution} /></p></details>}
    </li>
  );
}

const ICONS: Record<CheckResult["status"], IconName | null> = {passed: "ok", failed: "miss", error: "warn", missing: null, skipped: null};

function Group({title, checks, beyond}: {title: string; checks: CheckResult[]; beyond: boolean}) {
  const counted = checks.filter(({status}) => status === "passed" || status === "failed" || status === "error");
  const passed = counted.filter(({status}) => status === "passed").length;
  return (
    <details class="group" data-group={checks[0]!.group}>
      <summary>
        <Icon name={passed === counted.length ? "ok" : beyond ? "info" : "miss"} /><span class="group-title">{title}</span>
        {beyond && <small>{words.isBeyond}</small>}<b>{words.groupScore(passed, counted.length)}</b>
      </summary>
      <ul>
        {checks.map((check) => (
          <li key={check.name} data-check={check.name} data-status={check.status}>
            <p>{ICONS[check.status] ? <Icon name={ICONS[check.status]!} /> : <i aria-hidden="true" />}<span>{check.title}</span> <small>{words.marks[check.status]}</small></p>
            {(check.status === "failed" || check.status === "error") && <Details check={check} />}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Details({check: {program, message, got, expected}}: {check: CheckResult}) {
  const rows = Object.entries(expected).filter(([name, right]) => shown(got[name]) !== shown(right));
  return (
    <div class="check-details">
      {program && <pre tabIndex={0} role="region" aria-label={message}><code>{program}</code></pre>}
      {message && <p>{message}</p>}
      {rows.length > 0 && Object.keys(got).length > 0 && (
        <table>
          <thead><tr><th><span class="vh">{words.checks}</span></th><th>{words.got}</th><th>{words.right}</th></tr></thead>
          <tbody>{rows.map(([name, right]) => <tr key={name}><th scope="row"><code>{name}</code></th><td>{shown(got[name])}</td><td>{shown(right)}</td></tr>)}</tbody>
        </table>
      )}
    </div>
  );
}

/** Seven digits, as in the terminal. */
function shown(x: number | string | undefined): string {
  if (x === undefined) return words.nothing;
  return typeof x === "string" ? minus(x) : digits(x);
}
