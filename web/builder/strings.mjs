// The words of the pages, from the same file as those of the scripts.
import {build} from "esbuild";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {GENERATED, SOURCE} from "./paths.mjs";

export async function loadStrings(language) {
  const outfile = path.join(GENERATED, "strings.mjs");
  await build({entryPoints: [path.join(SOURCE, "strings", language, "site.ts")], bundle: true, format: "esm", platform: "node", outfile, logLevel: "silent"});
  return (await import(`${pathToFileURL(outfile)}?${Date.now()}`)).site;
}
