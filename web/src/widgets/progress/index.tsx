/** What the learner has done: in this lesson, or in the whole course, with a way to take it along or begin again. */
import course from "#generated/course.json";
import {useRef, useState} from "preact/hooks";
import {Confirm} from "../../ui/Confirm.tsx";
import {Icon} from "../../ui/icons.tsx";
import {save} from "../../ui/save.ts";
import {ImportError, store} from "../../store/index.ts";
import {progress} from "../../store/progress.ts";
import {asleep} from "../../waking/index.ts";
import {progress as words} from "../../strings/en/progress.ts";
import {tally, type Lesson} from "./tally.ts";
import type {Props} from "./schema.ts";

const LESSONS = course as Lesson[];

export default function Progress({lesson: name, scope}: Props) {
  const lesson = LESSONS.find(({slug}) => slug === name);
  return scope === "lesson" && lesson ? <OneLesson lesson={lesson} /> : <Course />;
}

function OneLesson({lesson}: {lesson: Lesson}) {
  const done = progress.done.value;
  const open = lesson.tasks.filter(({id}) => !(id in done));
  return (
    <section class="progress" aria-label={words.lessonTitle}>
      <Counts lesson={lesson} />
      <ol class="tasks">
        {lesson.tasks.map(({id, widget}, index) => (
          <li key={id} class={id in done ? "done" : ""}>
            <a href={`#${id.split("/")[1]}`}>{id in done && <Icon name="ok" />}<span class="vh">{(words.kinds[widget] ?? words.other)[0]} {index + 1}{id in done ? `, ${words.done}` : ""}</span></a>
          </li>
        ))}
      </ol>
      {open.length === 0 && <p class="all-done">{words.allDone}</p>}
    </section>
  );
}

function Counts({lesson}: {lesson: Lesson}) {
  const counts = tally(lesson, progress.done.value);
  return <p class="counts">{Object.entries(counts).map(([kind, {done, all}]) => words.of(done, all, words.kinds[kind] ?? words.other)).join(" · ")}</p>;
}

function Course() {
  const done = progress.done.value;
  return (
    <section class="progress" aria-labelledby="progress-title">
      <h2 id="progress-title">{words.courseTitle}</h2>
      <ol class="lessons">
        {LESSONS.map((lesson) => {
          const part = lesson.tasks.length ? lesson.tasks.filter(({id}) => id in done).length / lesson.tasks.length : 0;
          return (
            <li key={lesson.slug}>
              <span class="meter" aria-hidden="true"><i style={{width: `${100 * part}%`}} /></span>
              <span><b>{lesson.number}</b> <span lang={lesson.language}>{lesson.title}</span>{part === 1 && <span class="vh">, {words.done}</span>}</span>
              <Counts lesson={lesson} />
            </li>
          );
        })}
      </ol>
      <p class="kept">{asleep.value || store.status.value === "kept" ? words.kept : words.sessionOnly}</p>
      <Belongings />
    </section>
  );
}

/** Export, import, forget. */
function Belongings() {
  const file = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  const [asking, setAsking] = useState(false);
  const load = async () => {
    try {
      store.importAll(await file.current!.files![0]!.text());
      setSaid(words.imported);
    } catch (error) {
      setSaid(words.importFailed(error instanceof ImportError ? words.importReasons[error.reason] : String(error)));
    }
    file.current!.value = "";
  };
  return (
    <div class="belongings">
      <button class="btn" type="button" onClick={() => save(store.exportAll(), "application/json", words.file)}><Icon name="download" />{words.export}</button>
      <button class="btn" type="button" onClick={() => file.current!.click()}><Icon name="upload" />{words.import}</button>
      <input ref={file} type="file" accept="application/json,.json" hidden onChange={() => void load()} />
      <button class="btn ghost" type="button" onClick={() => setAsking(true)}>{words.reset}</button>
      {asking && <Confirm ask={words.resetAsk} yes={words.resetYes} no={words.resetNo} onYes={() => (store.clear(), setAsking(false), setSaid(words.forgotten))} onNo={() => setAsking(false)} />}
      <p class="said" role="status">{said}</p>
    </div>
  );
}
