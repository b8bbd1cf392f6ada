// Python in a lesson, coloured as everywhere in the course.
import {escape} from "./html.mjs";
import {tokens} from "./tokens.mjs";

const WRAP = {note: 'span class="c-note"', text: 'span class="c-text"', keyword: "b", grad: 'span class="grad"', data: 'span class="data"'};

export const python = (code) => tokens(code).map(({kind, text}) => (kind === "plain" ? escape(text) : `<${WRAP[kind]}>${escape(text)}</${WRAP[kind].split(" ")[0]}>`)).join("");
