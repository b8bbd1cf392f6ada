// The languages of the course. English is where every text begins; a folder web/lessons/<language> makes another.
import {existsSync, readdirSync, readFileSync} from "node:fs";
import path from "node:path";
import {said} from "../src/python/sentences.mjs";
import {GENERATED, SOURCE} from "./paths.mjs";

/** The language at the root of the site, which the others are translated from. */
export const ORIGIN = "en";

/** The languages a folder of lessons has, English first: [{code, folder, home}], `home` being where its pages lie in the site. */
export function languagesIn(lessons) {
  if (!existsSync(path.join(lessons, ORIGIN))) return [{code: ORIGIN, folder: lessons, home: ""}]; // a folder of lessons alone
  const codes = readdirSync(lessons, {withFileTypes: true}).filter((entry) => entry.isDirectory()).map(({name}) => name).sort();
  const ordered = [ORIGIN, ...codes.filter((code) => code !== ORIGIN)];
  return ordered.map((code) => ({code, folder: path.join(lessons, code), home: code === ORIGIN ? "" : `${code}/`}));
}

/** For esbuild: scripts say `strings/en/…`, and get the same file of another language; likewise the list of lessons.

What Python exported is said in that language (`dictionary`, the words of Python's sentences). */
export const inLanguage = (language, dictionary = {}) => ({
  name: "language",
  setup(build) {
    build.onResolve({filter: /\/strings\/en\//}, ({path: wanted, resolveDir}) => ({
      path: path.join(SOURCE, "strings", language, path.relative(path.join(SOURCE, "strings", ORIGIN), path.resolve(resolveDir, wanted))),
    }));
    build.onResolve({filter: /^#generated\/course\.json$/}, () => ({path: path.join(GENERATED, `course.${language}.json`)}));
    build.onLoad({filter: /[\\/]generated[\\/]\w+\.json$/}, ({path: file}) => ({contents: JSON.stringify(said(readFileSync(file, "utf8"), dictionary)), loader: "json"}));
  },
});
