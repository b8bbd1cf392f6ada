/** What the learner has named, kept in the browser; texts and tries are kept as those of the exercises. */
import {computed} from "@preact/signals";
import {store} from "../../store/index.ts";

const NAMED = "hunt:named";
const PRACTICE = "hunt:practice";

const named = computed(() => store.get<string[]>(NAMED, []));

export const isNamed = (name: string): boolean => named.value.includes(name);

export function keepNamed(name: string): void {
  if (!isNamed(name)) store.update<string[]>(NAMED, (old = []) => [...old, name]);
}

export type Practice = {seed: number; mended: number[]};

export const practice = computed(() => store.get<Practice | null>(PRACTICE, null));

export const keepPractice = (kept: Practice): void => store.set(PRACTICE, kept);
