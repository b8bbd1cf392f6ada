// Bundles the widgets for places other than the course: a file of its own, and notebooks. Each becomes one file that needs nothing.
//   node elsewhere/build.mjs [--out FOLDER]
import {build} from "esbuild";
import {mkdirSync, renameSync, rmSync, writeFileSync} from "node:fs";
import path from "node:path";
import {parseArgs} from "node:util";
import {REPO, SOURCE, STYLES, WEB} from "../builder/paths.mjs";
import {licencesOf, notice, packagesIn} from "../builder/licences.mjs";
import {scoped} from "../builder/scoped.mjs";

const OUT = path.join(REPO, "src", "gradwalk", "notebook", "built");
const HERE = path.join(WEB, "elsewhere");
const widget = (name) => path.join(SOURCE, "widgets", name, `${name}.css`);
const shared = ["tokens", "base", "parts"].map((name) => path.join(STYLES, `${name}.css`));
const graph = path.join(SOURCE, "graph", "graph.css");
const stepper = [graph, path.join(SOURCE, "graph", "heat.css"), widget("stepper"), path.join(SOURCE, "widgets", "stepper", "cells.css")];

/** What each bundle is made from: its script, and its styles in their order. No fonts: the system's will do. */
const PAGE = {script: "page", styles: [...shared, ...stepper, path.join(STYLES, "print.css"), path.join(HERE, "page.css")]};
const NOTEBOOK = {
  walk: stepper,
  order: [graph, widget("playground")],
  train: [graph, widget("training")],
};

const script = (name, options) =>
  bundled({entryPoints: [path.join(SOURCE, "elsewhere", `${name}.tsx`)], jsx: "automatic", jsxImportSource: "preact", target: ["es2022"], ...options});

const styles = (files) =>
  bundled({
    stdin: {contents: files.map((file) => `@import ${JSON.stringify(file)};`).join("\n"), resolveDir: WEB, loader: "css"},
    target: ["chrome110", "firefox115", "safari16.4"],
  });

async function bundled(options) {
  const made = await build({bundle: true, minify: true, write: false, metafile: true, absWorkingDir: WEB, legalComments: "none", logLevel: "warning", charset: "utf8", ...options});
  const licences = licencesOf(packagesIn(made.metafile));
  return [...(licences.length ? [notice(licences)] : []), made.outputFiles[0].text.trim()].join("\n");
}

async function main() {
  const {values} = parseArgs({options: {out: {type: "string"}}});
  const out = path.resolve(values.out ?? OUT);
  const files = {"page.js": await script(PAGE.script, {format: "iife"}), "page.css": await styles(PAGE.styles)};
  for (const [name, own] of Object.entries(NOTEBOOK)) {
    const css = scoped(await styles([...shared, ...own, path.join(HERE, "notebook.css")]));
    files[`${name}.js`] = await script(name, {format: "esm", define: {STYLES: JSON.stringify(css)}});
  }
  const draft = `${out}.new-${process.pid}`;
  try {
    mkdirSync(draft, {recursive: true});
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(draft, name), `${text}\n`);
    rmSync(out, {recursive: true, force: true});
    renameSync(draft, out);
  } finally {
    rmSync(draft, {recursive: true, force: true});
  }
  console.log(Object.entries(files).map(([name, text]) => `${name} ${Math.ceil(Buffer.byteLength(text) / 1000)} KB`).join(", "));
}

await main();
