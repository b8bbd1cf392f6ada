/** A learner's work: texts by tab, what passed, how often it was tried, which hints are open. Kept in the browser. */
import {signal, type Signal} from "@preact/signals";
import {store} from "../../store/index.ts";
import type {Material} from "./material.ts";

export type Record_ = {passed: boolean; tries: number; hints: number};
const NEW: Record_ = {passed: false, tries: 0, hints: 0};

const texts = new Map<string, Signal<string>>();
const records = new Map<string, Signal<Record_>>();

/** A tab's text, shared by all widgets of the page that show it. */
export function textOf(tab: string, starter: string): Signal<string> {
  let found = texts.get(tab);
  if (!found) texts.set(tab, (found = signal(store.get<string>(`code:${tab}`, starter))));
  return found;
}

/** Counts the times that a text was replaced by something else than typing: editors then show it anew. */
export const replaced = signal(0);

export function replace(tab: string, text: string, starter: string): void {
  write(tab, text, starter);
  replaced.value++;
}

export function write(tab: string, text: string, starter: string): void {
  textOf(tab, starter).value = text;
  if (text === starter) store.remove(`code:${tab}`);
  else store.set(`code:${tab}`, text);
}

export function recordOf(tab: string): Signal<Record_> {
  let found = records.get(tab);
  if (!found) records.set(tab, (found = signal({...NEW, ...store.get<Partial<Record_>>(`tried:${tab}`, {})})));
  return found;
}

export function note(tab: string, change: Partial<Record_>): void {
  const record = recordOf(tab);
  record.value = {...record.value, ...change};
  store.set(`tried:${tab}`, record.value);
}

/** Everything the learner has written so far, untouched parts as they were found. */
export function allTexts({exercises}: Material): Record<string, string> {
  const tabs = Object.values(exercises).flatMap((exercise) => exercise.tabs);
  return Object.fromEntries(tabs.map(({name, starter}) => [name, textOf(name, starter).value]));
}
