// Python, cut into the pieces that the course colours: .data is blue, .grad is vermilion, words of the language are strong.
// Lezer reads it, as in the editor; only the build does so, and a page gets what came of it.
import {highlightTree, tagHighlighter, tags} from "@lezer/highlight";
import {parser} from "@lezer/python";

const KINDS = tagHighlighter([
  {tag: tags.comment, class: "note"},
  {tag: [tags.string, tags.special(tags.string)], class: "text"},
  {tag: [tags.keyword, tags.bool, tags.null], class: "keyword"},
]);

/** → [[from, to, kind], …] in their order, kind one of note, text, keyword, grad, data; what is between them is plain. */
export function colours(code) {
  const tree = parser.parse(code);
  const found = [];
  highlightTree(tree, KINDS, (from, to, kind) => kind === "keyword" && code[from] === "*" ? 0 : found.push([from, to, kind])); // the stars of **names are signs
  tree.iterate({
    enter({name, from, to, node}) {
      const text = code.slice(from, to);
      if (name === "VariableName" && text === "self" && node.parent.name !== "MemberExpression") found.push([from, to, "keyword"]);
      if (name !== "MemberExpression" || node.parent.name === "MemberExpression") return;
      const kind = /^[\w.]+\.(grad|data)$/.exec(text)?.[1];
      if (kind) found.push([from, to, kind]);
    },
  });
  return found.sort(([a], [b]) => a - b);
}

/** → [{kind, text}], together the code. */
export function tokens(code) {
  const found = [];
  let at = 0;
  for (const [from, to, kind] of [...colours(code), [code.length, code.length]]) {
    if (from > at) found.push({kind: "plain", text: code.slice(at, from)});
    if (to > from) found.push({kind, text: code.slice(from, to)});
    at = Math.max(at, to);
  }
  return found;
}
