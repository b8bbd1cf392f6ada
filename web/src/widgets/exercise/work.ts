/** A learner's work: texts by tab, what passed, how often it was tried, which hints are open. Kept in the browser. */
import {store} from "../../store/index.ts";
import type {Material} from "./material.ts";

export type Record_ = {passed: boolean; tries: number; hints: number};
const NEW: Record_ = {passed: false, tries: 0, hints: 0};

/** A tab's text, shared by all widgets that show it. */
export const textOf = (tab: string, starter: string): string => store.get(`code:${tab}`, starter);

export function write(tab: string, text: string, starter: string): void {
  if (text === starter) store.remove(`code:${tab}`);
  else store.set(`code:${tab}`, text);
}

export const recordOf = (tab: string): Record_ => ({...NEW, ...store.get<Partial<Record_>>(`tried:${tab}`, {})});

export const note = (tab: string, change: Partial<Record_>): void => store.update<Partial<Record_>>(`tried:${tab}`, (old) => ({...NEW, ...old, ...change}));

/** Everything the learner has written so far, untouched parts as they were found. */
export function allTexts({exercises}: Material): Record<string, string> {
  const tabs = Object.values(exercises).flatMap((exercise) => exercise.tabs);
  return Object.fromEntries(tabs.map(({name, starter}) => [name, textOf(name, starter)]));
}
