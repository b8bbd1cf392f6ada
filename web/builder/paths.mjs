// Where everything is. One place for each path.
import {fileURLToPath} from "node:url";
import path from "node:path";

export const WEB = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const REPO = path.dirname(WEB);
export const SOURCE = path.join(WEB, "src");
export const WIDGETS = path.join(SOURCE, "widgets");
export const STYLES = path.join(WEB, "styles");
export const LESSONS = path.join(WEB, "lessons");
export const PAGES = path.join(WEB, "pages");
export const GENERATED = path.join(WEB, "generated");
export const MODULES = path.join(WEB, "node_modules");
export const VERSIONS = path.join(REPO, "examples", "versions");
export const NAMES = path.join(REPO, "examples", "names.txt");
export const RECORDED = path.join(WEB, "recorded");
export const RESULTS = path.join(REPO, "benchmarks", "results");
export const LICENCES = path.join(REPO, "LICENSES");
export const SITE = path.join(REPO, "src", "gradwalk", "learn", "site");

/** A path as a person who stands in the repository would write it. */
export const shown = (file) => path.relative(REPO, file);
