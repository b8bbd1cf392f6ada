// Lessons and pages in Markdown become pages of the site.
import {createHash} from "node:crypto";
import {shown} from "./paths.mjs";
import {escape, jsonScript} from "./html.mjs";
import {blocks, reader, sections} from "./markdown.mjs";
import {readProps} from "./schemas.mjs";
import {settingsOf} from "./compare.mjs";
import {shownNumbers} from "./numbers.mjs";

/** Renders the pages of one language. */
export class Renderer {
  constructor({schemas, strings, generated, problems, lessons, pages}) {
    Object.assign(this, {schemas, strings, generated, problems, lessons, pages});
  }

  /** → {html (with a hole for each widget, see drawn), sections, tasks, titleHtml, …}; `page` is what lessons.mjs read, `name` its name in the learner's progress,
   * `twin` the page that this is a translation of, `root` the way to the language's start page, `base` that to the site's root. */
  render(page, {name, root, base, twin}) {
    const place = (line) => `${shown(page.file)}:${line + page.offset + 1}`;
    const fail = (line, message) => this.problems.error(place(line), message);
    const tasks = [];
    const seen = new Map();
    const widgets = [];
    const md = reader({
      fail,
      strings: this.strings,
      link: (target, line) => this.#link(target, {root, base}, (message) => fail(line ?? 0, message)),
      widget: (kind, text, line) => {
        const schema = this.schemas[kind];
        if (!schema) {
          fail(line, `there is no widget "${kind}"; there are: ${Object.keys(this.schemas).join(", ")}`);
          return "";
        }
        const count = (seen.get(kind) ?? 0) + 1;
        seen.set(kind, count);
        const inner = (text) => (text.includes("\n") ? md.render(text) : md.renderInline(text));
        const own = {...schema, fields: {...schema.fields, id: {type: "text"}}};
        const props = readProps(own, text, line + 1, {generated: this.generated, html: inner, fail});
        if (!props) return "";
        if (kind === "quiz") nameOptions(props, twin?.widgets.filter((one) => one.kind === kind)[count - 1]);
        const given = props.id ?? `${kind}-${count}`;
        const id = `${name}/${given}`;
        const counts = typeof schema.task === "function" ? schema.task(props) : schema.task;
        if (counts) tasks.push({id, widget: kind});
        const whole = {...props, id, lesson: name};
        widgets.push({kind, id: given, props: whole, settings: settingsOf(schema.fields, props), options: props.options?.map((option) => option.id)});
        const look = ["widget", schema.frame, schema.look].filter(Boolean).join(" ");
        return `<div class="${look}" id="${escape(given)}" data-widget="${kind}">${jsonScript(whole)}${hole(widgets.length - 1)}</div>\n`;
      },
    });
    const {title = "", lead = "", needs = "", teaches = "", minutes} = page.front;
    const text = shownNumbers(page.text, fail);
    const line = (words) => md.renderInline(shownNumbers(words, fail));
    const html = md.render(text);
    checkNames(html, page, this.problems);
    return {
      html, sections: sections(md, text), blocks: blocks(md, text), tasks, minutes, widgets,
      titleHtml: line(title), leadHtml: line(lead), needsHtml: line(needs), teachesHtml: line(teaches),
      plainTitle: plain(line(title)), description: plain(line(lead)),
    };
  }

  #link(target, {root, base}, fail) {
    const lesson = /^lesson:([a-z0-9-]+)(#[\w-]+)?$/.exec(target);
    if (lesson) {
      const found = this.lessons.find(({id}) => id === lesson[1]);
      if (!found) fail(`there is no lesson "${lesson[1]}"; there are: ${this.lessons.map(({id}) => id).join(", ")}`);
      return `${base}${found?.path}${lesson[2] ?? ""}`;
    }
    const page = /^page:([a-z-]+)(#[\w-]+)?$/.exec(target);
    if (page) {
      if (!this.pages.includes(page[1])) fail(`there is no page "${page[1]}"; there are: ${this.pages.join(", ")}`);
      return `${root}${page[1]}/${page[2] ?? ""}`;
    }
    if (/^(https:\/\/|#)/.test(target)) return target;
    fail(`the link "${target}" leads nowhere: write lesson:some-name, page:some-name, #a-heading or https://…`);
    return "#";
  }
}

const hole = (index) => `<!--widget ${index}-->`;

/** The page with its widgets in it, as `draw` gives them (see first.mjs). */
export async function drawn(page, draw, problems) {
  const widgets = [];
  for (const {kind, props} of page.widgets) widgets.push(await draw(kind, props));
  const html = page.html.replace(/<!--widget (\d+)-->/g, (_, index) => widgets[index]);
  checkNames(html, page, problems);
  return html;
}

/** Each option of a question gets a name that does not go by its place, and is the same in a translation. */
function nameOptions({options = []}, twin) {
  for (const [index, option] of options.entries()) option.id = twin?.options?.[index] ?? createHash("sha256").update(option.text).digest("hex").slice(0, 8);
}

const ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"'};
const plain = (html) => html.replace(/<[^>]+>/g, "").replace(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);

/** No two headings or widgets of a page, nor parts of them, have the same name. */
function checkNames(html, {file}, problems) {
  const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) < index));
  for (const id of twice) problems.error(shown(file), `the name "${id}" is there twice: give the heading other words, or the widget an id`);
}
