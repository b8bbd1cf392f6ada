// Python in a lesson, coloured as everywhere in the course: .data is blue, .grad is vermilion, words of the language are strong.
import {escape} from "./html.mjs";

const KEYWORDS = new Set(
  "and as assert break class continue def del elif else except False finally for from if import in is lambda None nonlocal not or pass raise return self True try while with yield".split(" "),
);
const TOKEN = /(#[^\n]*)|("""[\s\S]*?"""|[rf]?"(?:[^"\\\n]|\\.)*"|[rf]?'(?:[^'\\\n]|\\.)*')|((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)|([\s\S])/g;

export function python(code) {
  let html = "";
  for (const [, comment, string, name, other] of code.matchAll(TOKEN)) {
    if (comment) html += `<span class="c-note">${escape(comment)}</span>`;
    else if (string) html += `<span class="c-text">${escape(string)}</span>`;
    else if (name) html += word(name);
    else html += escape(other);
  }
  return html;
}

function word(name) {
  if (KEYWORDS.has(name)) return `<b>${name}</b>`;
  if (/\.grad$/.test(name)) return `<span class="grad">${name}</span>`;
  if (/\.data$/.test(name)) return `<span class="data">${name}</span>`;
  return name;
}
