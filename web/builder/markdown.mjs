// Markdown to HTML, with what a lesson needs beyond it: formulas, coloured words, notes in the margin, widgets.
import katex from "katex";
import MarkdownIt from "markdown-it";
import {escape, slugOf} from "./html.mjs";
import {python} from "./highlight.mjs";

/** The boxes that `::: name` opens and `:::` closes. */
const BOXES = {
  margin: ["<aside class=\"margin\">", "</aside>"], // beside the text where there is room
  note: ["<aside class=\"note\">", "</aside>"],
  law: ["<div class=\"law\">", "</div>"], // the one line to remember
  predict: ["<section class=\"ask predict\">", "</section>"], // what do you think will happen?
  why: ["<section class=\"why\">", "</section>"],
  wide: ["<div class=\"wide\">", "</div>"], // as wide as a widget
  columns: ["<div class=\"columns wide\">", "</div>"], // each paragraph or list a column
};
const COLOURS = new Set(["data", "grad", "play"]);

/** A reader of Markdown. `page` gives: fail(line, message), link(target) → URL, widget(name, text, line) → HTML, strings. */
export function reader(page) {
  const md = new MarkdownIt({html: false, linkify: false, typographer: true, quotes: page.strings?.quotes ?? "“”‘’"});
  md.disable(["replacements", "image"]); // "(c)" is a variable here, and pictures are drawn by widgets
  md.block.ruler.before("fence", "box", box(page), {alt: ["paragraph", "list", "blockquote"]});
  md.block.ruler.before("fence", "formula", displayFormula, {alt: ["paragraph", "list"]});
  md.inline.ruler.before("escape", "formula", inlineFormula);
  md.inline.ruler.before("link", "coloured", coloured);
  md.core.ruler.push("kept", keptTogether);
  md.validateLink = () => true; // checked below, with a message
  Object.assign(md.renderer.rules, {
    fence: (tokens, index) => fence(tokens[index], page),
    code_inline: (tokens, index) => inlineCode(tokens[index].content),
    formula: (tokens, index, options, env) => formula(tokens[index], page, env),
    box_open: (tokens, index) => BOXES[tokens[index].info][0],
    box_close: (tokens, index) => BOXES[tokens[index].info][1],
    link_open: (tokens, index, options, env, self) => {
      const token = tokens[index];
      token.attrSet("href", page.link(token.attrGet("href"), env.line));
      return self.renderToken(tokens, index, options);
    },
    paragraph_open: (tokens, index, options, env, self) => {
      env.line = tokens[index].map?.[0];
      return self.renderToken(tokens, index, options);
    },
    heading_open: (tokens, index) => `<${tokens[index].tag} id="${slugOf(tokens[index + 1].content)}">`,
    table_open: () => `<div class="table" tabindex="0" role="region" aria-label="${page.strings?.table ?? "Table"}"><table>`,
    table_close: () => "</table></div>",
  });
  return md;
}

/** The sections of a page, for its contents: [{id, title}]. */
export const sections = (md, text) =>
  md
    .parse(text, {})
    .flatMap((token, index, all) => (token.type === "heading_open" && token.tag === "h2" ? [all[index + 1]] : []))
    .map((inline) => ({id: slugOf(inline.content), title: md.renderInline(inline.content)}));

/** The parts of a page, one word for each: what a translation must have too. */
export const blocks = (md, text) =>
  md.parse(text, {}).filter(({type, level}) => /_open$|^fence$|^formula$/.test(type) && level < 2).map(({type, tag, info}) => (type === "fence" ? info.trim() : type === "box_open" ? info : tag || type));

function fence(token, page) {
  const [kind, name] = token.info.trim().split(/\s+/);
  if (kind === "widget") return page.widget(name ?? "", token.content, token.map[0]);
  const code = token.content.replace(/\n$/, "");
  return `<pre class="code${kind === "output" ? " output" : ""}" tabindex="0"><code>${kind === "python" ? python(code) : escape(code)}</code></pre>\n`;
}

function inlineCode(text) {
  const [, kind] = /^[\w.]+(?:\[[^\]]*\])?\.(grad|data)$/.exec(text) ?? []; // a name, not a formula that happens to end in one
  const meaning = kind ?? (text.includes(" ") && text.length <= SHORT ? "kept" : "");
  return `<code${meaning && ` class="${meaning}"`}>${escape(text)}</code>`;
}

const SHORT = 16; // letters: half a line on a phone

/** A name and the number it has stay on one line, as in: `a` = 3. (A short formula of code does too, see `inlineCode`.) */
function keptTogether({tokens}) {
  for (const {children} of tokens) {
    children?.forEach((token, index) => {
      if (token.type === "text" && children[index - 1]?.type === "code_inline") token.content = token.content.replace(/^ ([=≈]) /, "\u00a0$1\u00a0");
    });
  }
}

function formula(token, page, env) {
  try {
    const parts = token.block ? token.content.split("\\qquad") : [token.content]; // several in a row: below each other where the screen is narrow
    const html = parts.map((part) => katex.renderToString(part.replaceAll("−", "-"), {output: "mathml", displayMode: token.block, throwOnError: true, strict: "error"})).join("")
      .replace(/<mi>(\p{L})<\/mi>/gu, '<mi class="var">$1</mi>') // in the italics of the text, see base.css
      .replace(/<msup>((?:(?!<msup>).)*?)<mo[^>]*>′<\/mo><\/msup>/gu, '<mrow>$1<mo lspace="0em" rspace="0em">′</mo></mrow>') // the glyph is raised as it is
      .replace(/<mo>\u2061<\/mo>(?=<mi)/gu, '$&<mspace width="0.17em"/>') // tanh x, not tanhx
      .replace(/(<mo[^>]*>[=<>≈(,⋅·×+−]<\/mo>)<mo>−<\/mo>/gu, '$1<mo form="prefix">−</mo>'); // a sign, not a subtraction: it stands close to its number
    if (token.block) return `<div class="formula" tabindex="0">${html}</div>\n`;
    return token.after ? `<span class="kept">${html}${token.after}</span>` : html;
  } catch (error) {
    page.fail(token.map?.[0] ?? env.line ?? 0, `the formula "${token.content}": ${error.message}`);
    return escape(token.content);
  }
}

/** $…$ within a line; a dollar with a space or a figure beside it is a dollar. A comma or the like stays with its formula: no line begins with it. */
function inlineFormula(state, silent) {
  const match = state.src[state.pos] === "$" && /^\$(?!\s)((?:[^$\\\n]|\\.)+?)(?<!\s)\$(?!\d)([,.;:!?)…]+)?/.exec(state.src.slice(state.pos));
  if (!match) return false;
  if (!silent) Object.assign(state.push("formula", "math", 0), {content: match[1], block: false, after: match[2]});
  state.pos += match[0].length;
  return true;
}

/** $$ … $$ on lines of its own. */
function displayFormula(state, start, end, silent) {
  const line = (at) => state.src.slice(state.bMarks[at] + state.tShift[at], state.eMarks[at]);
  if (!line(start).startsWith("$$")) return false;
  let last = start;
  const whole = () => Array.from({length: last - start + 1}, (_, index) => line(start + index)).join("\n").trim();
  while (!/^\$\$[\s\S]+\$\$$/.test(whole())) if (++last >= end) return false;
  if (!silent) Object.assign(state.push("formula", "math", 0), {content: whole().slice(2, -2).trim(), block: true, map: [start, last + 1]});
  state.line = last + 1;
  return true;
}

/** [words]{data}, [words]{grad}, [words]{play}: a word in the colour of its meaning. */
function coloured(state, silent) {
  const match = state.src[state.pos] === "[" && /^\[([^\[\]]+)\]\{([a-z]+)\}/.exec(state.src.slice(state.pos));
  if (!match || !COLOURS.has(match[2])) return false;
  if (!silent) {
    state.push("coloured_open", "span", 1).attrSet("class", match[2]);
    state.md.inline.parse(match[1], state.md, state.env, state.tokens);
    state.push("coloured_close", "span", -1);
  }
  state.pos += match[0].length;
  return true;
}

const box = (page) => (state, start, end, silent) => {
  const line = (at) => state.src.slice(state.bMarks[at] + state.tShift[at], state.eMarks[at]).trim();
  const match = /^:::\s*([a-z]+)$/.exec(line(start));
  if (!match) return false;
  if (silent) return true;
  if (!BOXES[match[1]]) page.fail(start, `there is no box "${match[1]}"; there are: ${Object.keys(BOXES).join(", ")}`);
  const kind = BOXES[match[1]] ? match[1] : "note";
  let last = start + 1;
  while (last < end && line(last) !== ":::") last++;
  if (last >= end) page.fail(start, `the box "${match[1]}" is not closed: end it with a line ":::"`);
  state.push("box_open", "div", 1).info = kind;
  const {lineMax, parentType} = state;
  state.lineMax = last;
  state.md.block.tokenize(state, start + 1, last);
  Object.assign(state, {lineMax, parentType});
  state.push("box_close", "div", -1).info = kind;
  state.line = Math.min(last + 1, end);
  return true;
};
