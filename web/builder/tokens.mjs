// Python, cut into the pieces that the course colours: .data is blue, .grad is vermilion, words of the language are strong.
// Used when the site is built (highlight.mjs) and in the page (src/ui/Python.tsx).

const KEYWORDS = new Set(
  "and as assert break class continue def del elif else except False finally for from if import in is lambda None nonlocal not or pass raise return self True try while with yield".split(" "),
);
const TOKEN = /(#[^\n]*)|("""[\s\S]*?"""|[rf]?"(?:[^"\\\n]|\\.)*"|[rf]?'(?:[^'\\\n]|\\.)*')|((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)|([\s\S])/g;

/** → [{kind, text}], kind one of note, text, keyword, grad, data, plain; together the code. */
export function tokens(code) {
  const found = [];
  for (const [text, comment, string, name] of code.matchAll(TOKEN)) {
    const kind = comment ? "note" : string ? "text" : name ? meaning(name) : "plain";
    if (kind === "plain" && found.at(-1)?.kind === "plain") found.at(-1).text += text;
    else found.push({kind, text});
  }
  return found;
}

function meaning(name) {
  if (KEYWORDS.has(name)) return "keyword";
  return /\.grad$/.test(name) ? "grad" : /\.data$/.test(name) ? "data" : "plain";
}
