/** A few lines of Python to run, change and run again. */
import {script as words} from "../../strings/en/script.ts";
import type {Props} from "./schema.ts";
import {Try} from "./Try.tsx";

export default ({id, code}: Props) => <Try name={id} label={words.editor} start={`${code}\n`} />;

