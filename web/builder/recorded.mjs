// What scripts of web/recorded wrote down: runs that a page cannot do itself, and that tests do again.
import {existsSync, readFileSync, readdirSync} from "node:fs";
import path from "node:path";
import {RECORDED} from "./paths.mjs";

/** → {against_torch: …}: one entry for each file. The widgets import the files themselves, as #recorded/…. */
export function readRecorded() {
  const names = existsSync(RECORDED) ? readdirSync(RECORDED).filter((name) => name.endsWith(".json")) : [];
  return Object.fromEntries(names.map((name) => [name.slice(0, -5), JSON.parse(readFileSync(path.join(RECORDED, name), "utf8"))]));
}
