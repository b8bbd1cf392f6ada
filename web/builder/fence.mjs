// The text of a widget block, read into plain data: `key: value` lines, blocks of text, lists and lists of records.
// Each entry remembers its line, so that what is wrong can be pointed at.

const KEY = /^([a-z][a-z0-9-]*):(?:\s+(.*))?$/;

/** → [{key, line, text?, block?, items?}], where an item is {line, text} or {line, entries}. */
export function readBlock(text, firstLine, fail) {
  const lines = text.replace(/\n$/, "").split("\n").map((content, index) => ({content, line: firstLine + index}));
  return readEntries(lines.filter(({content}) => !/^\s*#\s/.test(content)), fail);
}

function readEntries(lines, fail) {
  const entries = [];
  for (let at = 0; at < lines.length; at++) {
    const {content, line} = lines[at];
    if (content.trim() === "") continue;
    const match = KEY.exec(content);
    if (!match) {
      fail(line, `expected "key: value", found "${content.trim()}"`);
      continue;
    }
    const [, key, value = ""] = match;
    const below = [];
    while (at + 1 < lines.length && (/^\s/.test(lines[at + 1].content) || lines[at + 1].content === "")) below.push(lines[++at]);
    if (entries.some((entry) => entry.key === key)) fail(line, `"${key}" is there twice`);
    entries.push({key, line, ...readValue(value.trim(), below, fail)});
  }
  return entries;
}

function readValue(value, below, fail) {
  const inner = dedented(below);
  if (value === "|") return {block: inner.map(({content}) => content).join("\n").trimEnd()};
  if (inner.some(({content}) => content !== "") && value === "") return {items: readItems(inner, fail)};
  // a long value may go on in indented lines
  return {text: [value, ...inner.map(({content}) => content.trim()).filter(Boolean)].join(" ")};
}

function readItems(lines, fail) {
  const items = [];
  for (let at = 0; at < lines.length; at++) {
    const {content, line} = lines[at];
    if (content === "") continue;
    if (!content.startsWith("- ")) {
      fail(line, `expected an item, "- …", found "${content.trim()}"`);
      continue;
    }
    const own = [{content: content.slice(2), line}];
    while (at + 1 < lines.length && !lines[at + 1].content.startsWith("- ")) {
      const next = lines[++at];
      own.push({content: next.content.replace(/^ {1,2}/, ""), line: next.line});
    }
    items.push({line, lines: own});
  }
  return items.map((item) => ({...item, text: item.lines.map(({content}) => content.trim()).filter(Boolean).join(" ")}));
}

/** The fields of one item of a list of records. */
export const readRecord = (item, fail) => readEntries(item.lines, fail);

function dedented(lines) {
  const depth = Math.min(...lines.filter(({content}) => content.trim()).map(({content}) => /^\s*/.exec(content)[0].length));
  return lines.map(({content, line}) => ({content: content.slice(depth).trimEnd(), line}));
}
