// Every widget as HTML, as it is at first, drawn by the same components that come to life in the browser.
import {build} from "esbuild";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {GENERATED, WEB} from "./paths.mjs";
import {inLanguage} from "./languages.mjs";

/** → draw(kind, props), a promise of HTML, in a language with these words; the list of its lessons must have been written. */
export async function loadDrawing({code: language, words}) {
  const outfile = path.join(GENERATED, `first.${language}.mjs`);
  await build({
    entryPoints: ["src/site/draw.ts"], outfile, bundle: true, format: "esm", platform: "node", absWorkingDir: WEB, logLevel: "warning",
    jsx: "automatic", jsxImportSource: "preact", loader: {".graphs.json": "json"}, plugins: [inLanguage(language, words.messages.messages)],
    define: {WORKER_FILE: '""', PYTHON_FILES: "{}"}, // nobody runs Python here
    external: ["@codemirror/*", "@lezer/*"], // nor writes in an editor
  });
  const {draw} = await import(`${pathToFileURL(outfile)}?${Date.now()}`);
  return async (kind, props) => withoutStyle(await draw(kind, props));
}

/** The policy allows no style on an element: it becomes the name of a rule. */
export const withoutStyle = (html) => html.replace(/ style="([^"]*?);?"/g, ' data-style="$1"');

/** The rules that pages name: for elements with a style of their own, and for pictures drawn for several widths.
 *
 * A style that a script sets later goes before such a rule, and such a rule before everything else. */
export function firstCss(pages) {
  const found = (pattern) => [...new Set(pages.flatMap((html) => [...html.matchAll(pattern)].map(([whole]) => whole)))].sort();
  const styles = found(/ data-style="[^"]*"/g).map((attribute) => `[${attribute.trim()}]:not(#_){${/"(.*)"/.exec(attribute)[1]}}`);
  const widths = found(/\bat-\d+-(?:\d+|up)\b/g).map((name) => {
    const [, from, to] = name.split("-");
    const outside = [from !== "0" && `(width<${from}px)`, to !== "up" && `(width>=${to}px)`].filter(Boolean);
    return outside.map((where) => `@container drawing ${where}{.${name}{display:none}}`).join("");
  });
  return [...styles, ...widths].join("\n");
}
