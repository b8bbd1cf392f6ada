/** A program of the learner's own: an editor, a button, and what Python says to it. */
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import {useComputed} from "@preact/signals";
import {Icon} from "../../ui/icons.tsx";
import {pythonState} from "../../ui/pythonState.ts";
import {python, PythonError, PythonStopped} from "../../python/index.ts";
import {store} from "../../store/index.ts";
import {stepper as words} from "../../strings/en/stepper.ts";
import type {Drawn, Failed} from "../../python/schema.ts";
import {Words} from "../../ui/Words.tsx";
import {useEditor} from "../exercise/editing.ts";

const SECONDS = 8;
const KEPT = "stepper:own";

export type Draft = {text: string; from: "learner" | "link" | "bad link"; /** Numbers that came with a link. */ inputs?: Record<string, number>};

export const keptDraft = (): Draft => ({text: store.get(KEPT, words.starter), from: "learner"});

type Props = {id: string; draft: Draft; onDraft(draft: Draft): void; drawnText: string | null; onDrawn(text: string, answer: Drawn): void};

type Outcome = {error?: Pick<Failed, "message" | "line">; assumed?: string[]; nodes?: number; printed: string};

export function Own({id, draft, onDraft, drawnText, onDrawn}: Props) {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const phase = useComputed(() => pythonState().phase).value;
  const percent = useComputed(() => pythonState().percent).value;
  const latest = useRef(draft);
  latest.current = draft;
  useEffect(() => python.load(), []);

  const change = (text: string) => {
    onDraft({text, from: "learner"});
    store.set(KEPT, text);
    setOutcome((now) => (now?.error ? null : now));
  };
  const run = async () => {
    const {text, inputs = {}} = latest.current;
    setBusy(true);
    setOutcome(null);
    let printed = "";
    try {
      const answer = await python.call<Drawn>("programs.run", {text, inputs}, {seconds: SECONDS, onPrint: (more) => (printed += more)});
      if (answer.recording) onDrawn(text, answer);
      const error = answer.error ?? undefined;
      setOutcome({error, assumed: answer.assumed, nodes: answer.recording?.graph.nodes.filter((node) => !node.constant).length, printed});
    } catch (error) {
      setOutcome({error: {message: why(error), line: null}, printed});
    }
    setBusy(false);
  };
  const editor = useEditor(place, {text: draft.text, label: words.editor, describedBy: `${id}-said`, onChange: change, onRun: () => void run()});
  useLayoutEffect(() => editor?.show(draft.text), [draft.text]); // at once: a frame later the learner may have typed on
  useEffect(() => editor?.mark(outcome?.error?.line ? [outcome.error.line] : []), [editor, outcome]);
  const notice = draft.from === "link" ? words.fromLink : draft.from === "bad link" ? words.badLink : null;
  return (
    <div class="own-grid">
      <div class="editor" ref={place}>
        {!editor && <textarea class="plain-editor" aria-label={words.editor} spellcheck={false} value={draft.text} onInput={(event) => change(event.currentTarget.value)} />}
      </div>
      <div class="own-side" id={`${id}-said`}>
        {notice && <div class="own-note"><b>{notice.title}</b> {notice.why}</div>}
        <p>{words.hint}</p>
        <p class="ink3"><Words of={words.hintShort} /></p>
        {phase === "loading" && <p class="ink3">{words.loading(percent)}</p>}
        {phase === "failed" && <p class="ink3">{words.failed}</p>}
        <div class="own-actions">
          <button type="button" class="btn primary" data-act="draw" aria-busy={busy} aria-disabled={busy} onClick={() => !busy && void run()}>
            {words.draw} <kbd>{words.drawKey}</kbd>
          </button>
          {busy && phase === "ready" && <button type="button" class="btn" onClick={() => python.stop()}><Icon name="stop" /> {words.stop}</button>}
        </div>
        <div role="status" class="own-status">
          {busy && phase === "ready" && <p class="ink3">{words.drawing}</p>}
          {outcome && <Said outcome={outcome} />}
          {!busy && !outcome?.error && drawnText !== null && drawnText !== draft.text && <p class="ink3">{words.changed}</p>}
        </div>
      </div>
    </div>
  );
}

function why(error: unknown): string {
  if (error instanceof PythonStopped) return {time: words.tooLong(SECONDS), user: words.stopped, crash: words.tooDeep}[error.reason];
  return error instanceof PythonError ? error.message : String(error);
}

function Said({outcome: {error, assumed, nodes, printed}}: {outcome: Outcome}) {
  return (
    <>
      {error && (
        <div class="reply miss">
          <p class="reply-h"><Icon name="miss" /><span>{error.line ? `${words.onLine(error.line)}: ` : ""}{error.message}</span></p>
        </div>
      )}
      {nodes !== undefined && <p class="drawn">{words.drawn(nodes)}</p>}
      {assumed && assumed.length > 0 && <p class="ink3">{words.assumed(assumed)}</p>}
      {printed && <div class="own-printed"><p>{words.printed}</p><pre tabIndex={0}>{printed}</pre></div>}
    </>
  );
}
