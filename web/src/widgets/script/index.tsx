/** A few lines of Python to run, change and run again. */
import {script as words} from "../../strings/en/script.ts";
import {guarded} from "../../ui/guarded.tsx";
import type {Props} from "./schema.ts";
import {Try} from "./Try.tsx";

export function mount(element: HTMLElement, {id, code}: Props): void {
  element.classList.add("script");
  guarded(<Try name={id} label={words.editor} start={`${code}\n`} />, element);
}
