/** Beside the graph: a question before the run, the log while it runs, the verdict after it; or the search. */
import {Icon} from "../../ui/icons.tsx";
import {playground as words} from "../../strings/en/playground.ts";
import {Act} from "../../ui/Act.tsx";
import {Ledger} from "../../ui/Ledger.tsx";
import {clean} from "../../text/names.ts";
import {plain, type Rich} from "../../text/rich.ts";
import type {Graph} from "../../python/schema.ts";
import {Words} from "../../ui/Words.tsx";
import {logOf, verdictOf, type Run, type Verdict} from "./outcome.ts";
import type {Searched} from "./search.ts";

export function VerdictPanel({run, visits}: {run: Run; visits: number}) {
  const over = visits >= run.order.length;
  return (
    <div class="verdict">
      <div role="status">
        {visits === 0 && <><p class="reply-h"><span>{words.guess.title}</span></p><p>{words.guess.why}</p></>}
        {visits > 0 && !over && <p class="under-way">{words.underWay}</p>}
        {over && <Judgement verdict={verdictOf(run)} />}
      </div>
      <div role="log" aria-label={words.log}>
        {visits > 0 && (
          <ol class="log">{logOf(run, visits).map((line, i) => <li key={i} class={line.bad ? "bad" : ""}><Words of={line.text} /></li>)}</ol>
        )}
      </div>
    </div>
  );
}

function Judgement({verdict: {kind, title, sentences, ledgers}}: {verdict: Verdict}) {
  return (
    <div data-verdict={kind}>
      <p class="reply-h"><Icon name={kind === "wrong" ? "miss" : "ok"} class="outcome" /><span>{title}</span></p>
      {sentences.map((sentence, i) => <p key={i} data-sentence><Words of={ended(sentence)} /></p>)}
      {ledgers.map(({name, parts}) => <Ledger key={name} name={`${name}.grad`} note={words.shouldArrive} parts={parts} />)}
    </div>
  );
}

/** Python's sentences on losses have no full stop: more may follow them there. */
const ended = (sentence: Rich): Rich => (plain(sentence).endsWith(".") ? sentence : [...sentence, "."]);

type SearchProps = {graph: Graph; steps: Searched[]; at: number; onGo(at: number): void; onUse(): void};

export function SearchPanel({graph, steps, at, onGo, onUse}: SearchProps) {
  const {text, path, written} = steps[at]!;
  const last = steps.length - 1;
  const names = (ids: number[]) => (ids.length ? ids.map((id) => <code key={id}>{clean(graph.nodes[id]!.name)}</code>) : <span class="ink3">{words.nothingYet}</span>);
  return (
    <div class="verdict search">
      <p class="reply-h"><span>{words.searchTitle}</span> <small>{words.searchStep(at, last)}</small></p>
      <p class="told" aria-live="polite"><Words of={at === last ? [...text, " ", ...words.reversed] : text} /></p>
      <dl class="lists">
        <div><dt>{words.path}</dt><dd data-path>{names(path)}</dd></div>
        <div><dt>{words.written}</dt><dd data-written>{names(written)}</dd></div>
      </dl>
      <div class="search-actions">
        <Act act="search-back" icon="back" off={at === 0} onClick={() => onGo(at - 1)}>{words.back}</Act>
        <Act act="search-next" icon="step" after primary off={at === last} onClick={() => onGo(at + 1)}>{words.next}</Act>
        <Act act="search-end" icon="end" after off={at === last} onClick={() => onGo(last)}>{words.toTheEnd}</Act>
        {at === last && <button type="button" class="btn" data-act="use" onClick={onUse}>{words.useIt}</button>}
      </div>
    </div>
  );
}
