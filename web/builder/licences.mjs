// The licences of what is bundled: no package goes into the site without its text in LICENSES/, which wheel and sdist carry.
import {copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from "node:fs";
import path from "node:path";
import {escape} from "./html.mjs";
import {LICENCES, MODULES} from "./paths.mjs";
import {BuildError} from "./problems.mjs";

/** What a licence may be: each stands in the expression in pyproject.toml, where a test looks for it. */
const KNOWN = ["MIT", "ISC", "MPL-2.0", "OFL-1.1"];
/** Whose package holds no text: then LICENSES/ has it from the project itself. */
const WITHOUT_TEXT = ["pyodide"];
/** What comes inside a package, with a text of its own. */
const INSIDE = {pyodide: [{name: "Python", licence: "PSF-2.0", text: "cpython.txt"}, {name: "Emscripten, musl, zlib, bzip2, Zstandard, libffi, liblzma, SQLite, LLVM", licence: "MIT, Zlib, bzip2-1.0.6, BSD-3-Clause", text: "inside-pyodide.txt"}]};

/** The packages that esbuild took something from: `@codemirror/view`, `preact`. */
export const packagesIn = (metafile) => Object.keys(metafile.inputs).flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);

/** → [{name, version, licence, text}], sorted, for packages by name; an error names each that has no licence. With `write`, texts are renewed from the packages first. */
export function licencesOf(packages, {write = false, modules = MODULES, folder = LICENCES} = {}) {
  const wrong = [];
  const found = [...new Set(packages)].sort().flatMap((name) => {
    const {version, license} = JSON.parse(readFileSync(path.join(modules, name, "package.json"), "utf8"));
    if (!KNOWN.includes(license)) wrong.push(`${name} ${version} is bundled, and its licence is ${JSON.stringify(license)}, not one of ${KNOWN.join(", ")}`);
    const text = `${name.replace("@", "").replace("/", "-")}.txt`;
    const file = path.join(folder, text);
    const own = readdirSync(path.join(modules, name)).find((entry) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(entry));
    const content = own && `${readFileSync(path.join(modules, name, own), "utf8").replaceAll("\r\n", "\n").trimEnd()}\n`;
    if (write && content) writeFileSync(file, content);
    if (!content && !WITHOUT_TEXT.includes(name)) wrong.push(`${name} ${version} is bundled, and holds no text of its licence`);
    if (!existsSync(file)) wrong.push(`${name} ${version} is bundled, and LICENSES/${text} is not there`);
    else if (content && readFileSync(file, "utf8").replaceAll("\r\n", "\n") !== content) wrong.push(`LICENSES/${text} is not the text that ${name} ${version} comes with`);
    return [{name, version, licence: license, text}, ...(INSIDE[name] ?? [])];
  });
  if (wrong.length) throw new BuildError(`${wrong.join("\n")}\nOnce you know that each may be given away: npm run licences`);
  return found;
}

/** Put the texts into the site, and a list of them. */
export function placeLicences(site, licences) {
  mkdirSync(path.join(site, "licences"), {recursive: true});
  for (const {text} of licences) copyFileSync(path.join(LICENCES, text), path.join(site, "licences", text));
  writeFileSync(path.join(site, "licences", "index.json"), JSON.stringify(licences, null, 1));
}

/** The list as a page shows it, in place of the mark `[[licences]]`. */
export function withLicences(html, licences, base) {
  const item = ({name, version, licence, text}) => `<li>${escape(name)}${version ? ` ${escape(version)}` : ""}: <a href="${base}licences/${text}">${escape(licence)}</a></li>`;
  return html.replace("<p>[[licences]]</p>", () => `<ul class="licences">${licences.map(item).join("")}</ul>`);
}

/** A comment with the texts, for a script that leaves the package: into a notebook, or a page of somebody's own. */
export const notice = (licences) => `/*!\n${licences.map(({name, version, text}) => `${name} ${version}\n\n${readFileSync(path.join(LICENCES, text), "utf8")}`).join("\n")}*/`;
