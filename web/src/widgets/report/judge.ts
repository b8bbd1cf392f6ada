/** Having an engine judged by the page's Python, check by check; what never ends is left out, and the rest goes on. */
import {PythonError, PythonStopped, python} from "../../python/index.ts";
import type {Judged} from "../../python/schema.ts";

export type {CheckResult, Diagnosis, Judged, Mark, Report} from "../../python/schema.ts";
export type Going = {done: number; of: number; doing: string; restarted: boolean};
export type Ended = {kind: "judged"; judged: Judged} | {kind: "stopped" | "gave up" | "not loaded"};

const SILENCE = 12_000; // milliseconds without a word: a program that even the count of lines does not stop
const MOST = 3;

export async function judge(source: string, onGoing: (going: Going) => void): Promise<Ended> {
  const leftOut: number[] = [];
  for (;;) {
    let program = 0;
    let doing = "";
    let silent = false;
    let rest = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => ((silent = true), python.stop()), SILENCE);
    };
    const onPrint = (text: string) => {
      heard();
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const line of lines) { // what is checked is said once, with the first of its programs
        const what = /^\d+ \d+ \d+ (.+)$/.exec(line)?.[1];
        if (what) doing = python.said(what) as string;
      }
      const found = /^(\d+) (\d+) (\d+)/.exec(lines.at(-1) ?? "");
      if (!found) return;
      program = Number(found[3]);
      onGoing({done: Number(found[1]), of: Number(found[2]), doing, restarted: leftOut.length > 0});
    };
    try {
      const judged = await python.call<Judged>("grading.run", {source, left_out: leftOut}, {seconds: 300, onPrint});
      return {kind: "judged", judged};
    } catch (error) {
      if (error instanceof PythonError) return {kind: "not loaded"};
      if (!(error instanceof PythonStopped) || !(silent || error.reason !== "user")) return {kind: "stopped"};
      leftOut.push(program);
      if (leftOut.length >= MOST) return {kind: "gave up"};
    } finally {
      clearTimeout(timer);
    }
  }
}
