// Scripts and styles, bundled into assets/ under names that change with their content.
import {build} from "esbuild";
import {existsSync, readdirSync} from "node:fs";
import path from "node:path";
import {SOURCE, STYLES, WEB} from "./paths.mjs";
import {packagesIn} from "./licences.mjs";
import {inLanguage} from "./languages.mjs";

const common = (site) => ({
  outdir: path.join(site, "assets"),
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  absWorkingDir: WEB,
  entryNames: "[name]-[hash]",
  chunkNames: "part-[hash]",
  assetNames: "[name]-[hash]",
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
  jsx: "automatic",
  jsxImportSource: "preact",
  // CodeMirror writes its styles through this; ours needs no style element, which the content security policy forbids
  alias: {"style-mod": "./src/site/style-mod.ts"},
  loader: {".woff2": "file", ".graphs.json": "file"}, // files that are fetched, not part of a script
});

/** → {theme, styles, fonts, scripts: language → {main, partsOf}, packages}: paths from the site's root, and what was bundled. `python` says where Pyodide and the engine lie.

Each language has a main script of its own, with its own words in it; what holds no words comes out the same and is one file.
*/
export async function bundle(site, {python, languages}) {
  const packages = [];
  const run = async (options) => {
    const result = await build({...common(site), ...options});
    packages.push(...packagesIn(result.metafile));
    return result;
  };
  const fromSite = (output) => path.relative(site, path.join(WEB, output)).split(path.sep).join("/");
  const outputs = (result) => Object.keys(result.metafile.outputs).map(fromSite);
  const entry = (result, source) => fromSite(Object.entries(result.metafile.outputs).find(([, output]) => output.entryPoint === source)[0]);

  const worker = await run({entryPoints: {python: "src/python/worker.ts"}});
  const define = {WORKER_FILE: JSON.stringify(path.basename(entry(worker, "src/python/worker.ts"))), PYTHON_FILES: JSON.stringify(python)};
  const scripts = {};
  for (const {code: language, words} of languages) {
    const main = await run({entryPoints: {main: "src/site/main.ts"}, splitting: true, define, plugins: [inLanguage(language, words.messages.messages)]});
    scripts[language] = {
      main: entry(main, "src/site/main.ts"),
      partsOf: (widgets) => needed(main.metafile.outputs, ["src/site/main.ts", ...widgets.map((name) => `src/widgets/${name}/index.tsx`)]).map(fromSite),
    };
  }
  const theme = await run({entryPoints: {theme: "src/site/theme.ts"}, format: "iife"});
  const styles = await run({
    stdin: {contents: styleSheets().map((file) => `@import ${JSON.stringify(file)};`).join("\n"), resolveDir: WEB, loader: "css", sourcefile: "site.css"},
    entryNames: "site-[hash]",
    target: ["chrome110", "firefox115", "safari16.4"],
  });
  return {
    packages,
    scripts,
    theme: entry(theme, "src/site/theme.ts"),
    styles: outputs(styles).find((file) => file.endsWith(".css")),
    fonts: outputs(styles).filter((file) => file.endsWith(".woff2")),
  };
}

/** The worker that keeps a copy of the site, at its root, where it may answer for every page. `files` are those it keeps. */
export async function bundleOffline(site, files, build_) {
  const define = {FILES: JSON.stringify(files), BUILD: JSON.stringify(build_)};
  await build({...common(site), outdir: site, entryNames: "offline", entryPoints: {offline: "src/offline/worker.ts"}, format: "iife", define});
}

/** Ours in their order, then each widget's, so that a widget may say more about what the base began. */
function styleSheets() {
  const base = ["fonts.css", "tokens.css", "base.css", "parts.css", "page.css", "print.css"].map((name) => path.join(STYLES, name));
  const others = readdirSync(STYLES).map((name) => path.join(STYLES, name)).filter((file) => file.endsWith(".css") && !base.includes(file));
  return [...base.filter(existsSync), ...others.sort(), ...cssUnder(SOURCE)];
}

function cssUnder(folder) {
  return readdirSync(folder, {recursive: true}).filter((name) => name.endsWith(".css")).sort().map((name) => path.join(folder, name));
}

/** Every file that some sources need at once: a page names them in its head, so that they come together, not one after the other. */
function needed(outputs, sources) {
  const found = new Set();
  const add = (file) => {
    if (found.has(file)) return;
    found.add(file);
    for (const {path: next, kind} of outputs[file].imports) if (kind === "import-statement" && next in outputs) add(next);
  };
  for (const [file, {entryPoint}] of Object.entries(outputs)) if (sources.includes(entryPoint)) add(file);
  return [...found];
}
