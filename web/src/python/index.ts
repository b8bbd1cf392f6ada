/** Python for the page: loads in the background, runs one call at a time, and can always be stopped.

Calls wait in a queue until Python is there. The time limit of a call counts from the moment it runs. What runs too
long is ended by ending the worker; another is started at once, and the queue goes on. A new worker has a fresh memory:
`python.epoch` counts them, for whoever keeps something in Python between two calls.
*/
import {signal, type Signal} from "@preact/signals";
import type {FromWorker, PythonFiles, ToWorker} from "./messages.ts";
import {said, type Dictionary} from "./sentences.mjs";
import type {Answer} from "./schema.ts";

declare const WORKER_FILE: string; // put in by the build
declare const PYTHON_FILES: PythonFiles;

/** `reason` says why it failed, where that is known: the learner stopped the loading, or nothing came any more. */
export type PythonState = {phase: "idle" | "loading" | "ready" | "failed"; percent: number; message?: string; reason?: "stopped" | "stalled"};

/** The time limit was reached, the learner pressed stop, or the call brought Python down. */
export class PythonStopped extends Error {
  override name = "PythonStopped";
  constructor(message: string, readonly reason: "time" | "user" | "crash") {
    super(message);
  }
}

/** The learner's own error: `kind` is the exception's name, `line` a line of the learner's text, `where` which text. */
export class PythonError extends Error {
  override name = "PythonError";
  constructor(message: string, readonly kind: string, readonly line?: number, readonly where?: string) {
    super(message);
  }
}

export type CallOptions = {
  /** After so many seconds the call is stopped; 10 where nothing is said. */
  seconds?: number;
  onPrint?: (text: string) => void;
};

type Call = Required<Pick<CallOptions, "seconds">> & {
  id: number;
  fn: string;
  args: string;
  onPrint?: (text: string) => void;
  resolve(value: any): void;
  reject(error: Error): void;
};

const state = signal<PythonState>({phase: "idle", percent: 0});
const epoch = signal(0);
const queue: Call[] = [];
let worker: Worker | undefined;
let running: Call | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let creep: ReturnType<typeof setInterval> | undefined;
let lastId = 0;
let dictionary: Dictionary = {}; // as Python says it, until somebody knows better
let stall: ReturnType<typeof setTimeout> | undefined;
const ARRIVED = 55; // percent, when nearly every byte is there
/** Seconds without a sign of life after which loading is given up, and those that a call still has when its page is left. */
const limits = {stalled: 60, left: 0.5};

function load(): void {
  if (state.value.phase === "idle" || state.value.phase === "failed") spawn();
}

function call<T>(fn: string, args: Record<string, unknown>, options: CallOptions = {}): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    queue.push({id: ++lastId, fn, args: JSON.stringify(args), seconds: options.seconds ?? 10, onPrint: options.onPrint, resolve, reject});
    load();
    pump();
  });
}

function speak(words: Dictionary): void {
  dictionary = words;
}

function stop(): void {
  if (state.value.phase === "loading" && !running) fail("stopped", "stopped");
  else end(new PythonStopped("stopped", "user"));
}

/** The page that asked is gone: nobody waits for the answers. What runs may end by itself, so that Python stays. */
function leave(): void {
  for (const one of queue.splice(0)) one.reject(new PythonStopped("left", "user"));
  if (!running) return;
  clearTimeout(timer);
  timer = setTimeout(() => end(new PythonStopped("left", "user")), limits.left * 1000);
}

/** Loading goes on as long as something comes: a slow line is no failure, a dead one is. */
function alive(): void {
  clearTimeout(stall);
  stall = setTimeout(() => fail(`nothing came for ${limits.stalled} seconds`, "stalled"), limits.stalled * 1000);
}

function spawn(): void {
  worker?.terminate();
  rest();
  state.value = {phase: "loading", percent: 0};
  epoch.value++;
  const fresh = new Worker(new URL(`./${WORKER_FILE}`, import.meta.url), {type: "module", name: "python"});
  worker = fresh;
  fresh.onmessage = ({data}: MessageEvent<FromWorker>) => worker === fresh && hear(data);
  fresh.onerror = (event) => {
    if (worker !== fresh) return;
    // a call that nests too deeply for the browser's own stack takes Python with it: the next call gets another
    if (running) event.preventDefault();
    if (running) end(new PythonStopped(event.message, "crash"));
    else fail(event.message);
  };
  alive();
  send({kind: "start", site: new URL("..", import.meta.url).href, files: PYTHON_FILES});
}

const send = (message: ToWorker): void => worker!.postMessage(message);

function hear(message: FromWorker): void {
  switch (message.kind) {
    case "progress":
      alive();
      state.value = {phase: "loading", percent: Math.max(message.percent, state.value.percent)};
      if (message.percent >= ARRIVED) creep ??= setInterval(onwards, 250);
      break;
    case "ready":
      rest();
      state.value = {phase: "ready", percent: 100};
      pump();
      break;
    case "failed":
      fail(message.message);
      break;
    case "print":
      if (running?.id === message.id) running.onPrint?.(message.text);
      break;
    case "answer":
      if (running?.id === message.id) answer(said(message.json, dictionary) as Answer);
  }
}

/** Everything has arrived and starts; nobody says how far that is, so each moment takes a part of what is left. */
function onwards(): void {
  const {phase, percent} = state.value;
  if (phase === "loading") state.value = {phase, percent: Math.min(98, percent + Math.max(1, Math.round((98 - percent) * 0.08)))};
}

function rest(): void {
  clearTimeout(stall);
  clearInterval(creep);
  creep = undefined;
}

function pump(): void {
  if (state.value.phase !== "ready" || running) return;
  running = queue.shift();
  if (!running) return;
  const {id, fn, args, seconds} = running;
  timer = setTimeout(() => end(new PythonStopped(`stopped after ${seconds} seconds`, "time")), seconds * 1000);
  send({kind: "call", id, fn, args});
}

function answer({result, error, more}: Answer): void {
  const {resolve, reject, onPrint} = finish()!;
  if (more) onPrint?.(more);
  if (error) reject(new PythonError(error.message, error.kind, error.line ?? undefined, error.where ?? undefined));
  else resolve(result);
  pump();
}

function finish(): Call | undefined {
  clearTimeout(timer);
  const done = running;
  running = undefined;
  return done;
}

/** End the call that runs; the rest of the queue waits for the next worker. */
function end(error: PythonStopped): void {
  const stopped = finish();
  if (!stopped) return;
  spawn();
  stopped.reject(error);
}

/** Python cannot be had: nobody is left waiting. */
function fail(message: string, reason?: PythonState["reason"]): void {
  worker?.terminate();
  rest();
  worker = undefined;
  state.value = {phase: "failed", percent: 0, message, reason};
  const waiting = [finish(), ...queue.splice(0)];
  for (const one of waiting) one?.reject(reason === "stopped" ? new PythonStopped(message, "user") : new PythonError(message, "NotLoaded"));
}

export const python: {
  /** What the page shows of it. */
  state: Signal<PythonState>;
  /** Counts the workers there have been: what was kept in Python before is gone when it changes. */
  epoch: Signal<number>;
  /** Start loading in the background; again after a failure. */
  load(): void;
  /** `fn` such as "programs.run" calls gradwalk.learn.page.programs.run(**args); JSON both ways. */
  call<T>(fn: string, args: Record<string, unknown>, options?: CallOptions): Promise<T>;
  /** What Python says is told in these words from now on. */
  speak(dictionary: Dictionary): void;
  /** A message that came as JSON by another way than as an answer, in those words. */
  said(json: string): unknown;
  /** End what runs now, or the loading; whoever waits for a Python that does not come is told so. */
  stop(): void;
  /** Forget what this page asked for: another comes. */
  leave(): void;
  limits: typeof limits;
} = {state, epoch, load, call, speak, said: (json) => said(json, dictionary), stop, leave, limits};
