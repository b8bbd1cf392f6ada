// Presets are laid out when the site is built, so that they stand where they belong before any layout code is loaded.
import {build} from "esbuild";
import {writeFileSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {GENERATED, SOURCE} from "./paths.mjs";

/** The same for every engine of the hunt: its layout goes beside its graph, in generated/hunt.json. */
export async function layOutHunt(hunt) {
  const {layOut, drawn} = await import(pathToFileURL(path.join(GENERATED, "layout.mjs")));
  for (const entry of Object.values(hunt.cases)) if (entry.graph) entry.layout = layOut(drawn(entry.graph));
  writeFileSync(path.join(GENERATED, "hunt.json"), JSON.stringify(hunt));
}

/** → {preset's name: layout}; also written to generated/layouts.json, which the widgets import. */
export async function layOutPresets({presets}) {
  const outfile = path.join(GENERATED, "layout.mjs");
  await build({
    stdin: {
      contents: 'export {layOut} from "./layout.ts"; export {drawn} from "./model.ts";',
      resolveDir: path.join(SOURCE, "graph"),
      loader: "ts",
    },
    bundle: true, format: "esm", platform: "node", outfile, logLevel: "warning",
  });
  const {layOut, drawn} = await import(`${pathToFileURL(outfile)}?${Date.now()}`);
  const layouts = Object.fromEntries(presets.map(({name, recording}) => [name, layOut(drawn(recording.graph))]));
  writeFileSync(path.join(GENERATED, "layouts.json"), JSON.stringify(layouts));
  return layouts;
}
