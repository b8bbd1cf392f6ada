// The names that lesson 15 learns from: those of examples/names.txt, so that page and example read the same list.
import {readFileSync, writeFileSync} from "node:fs";
import path from "node:path";
import {GENERATED, NAMES} from "./paths.mjs";

/** → all names with blanks between them, also written to generated/names.json. */
export function readNames(file = NAMES) {
  const names = readFileSync(file, "utf8").split(/\s+/).filter(Boolean).map((name) => name.toLowerCase()).join(" ");
  writeFileSync(path.join(GENERATED, "names.json"), JSON.stringify(names));
  return names;
}
