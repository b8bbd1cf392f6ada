// Files that go to the site as they are, or nearly: Pyodide, the engine for it, icons.
import {createHash} from "node:crypto";
import {copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync} from "node:fs";
import path from "node:path";
import {GENERATED, MODULES} from "./paths.mjs";
import {startedPython} from "./started.mjs";
import {withTolls} from "./tolls.mjs";

const COPIED = ["pyodide.mjs", "pyodide.asm.mjs", "python_stdlib.zip"];
const COMPILED = "pyodide.asm.wasm";

/** Put Python into the site; gives where it lies and how large each part is (see src/python/messages.ts). */
export function placePython(site) {
  const {version} = JSON.parse(readFileSync(path.join(MODULES, "pyodide", "package.json"), "utf8"));
  const folder = `pyodide/${version}/`;
  mkdirSync(path.join(site, folder), {recursive: true});
  for (const name of COPIED) copyFileSync(path.join(MODULES, "pyodide", name), path.join(site, folder, name));
  writeFileSync(path.join(site, folder, COMPILED), withTolls(readFileSync(path.join(MODULES, "pyodide", COMPILED))));
  // the list of packages one could load from elsewhere: there is no elsewhere
  const lock = JSON.parse(readFileSync(path.join(MODULES, "pyodide", "pyodide-lock.json"), "utf8"));
  writeFileSync(path.join(site, folder, "pyodide-lock.json"), JSON.stringify({...lock, packages: {}}));
  copyFileSync(startedPython(version), path.join(site, folder, "started.bin")); // for the grader, whose engines must find no other
  const wheel = path.join(GENERATED, "engine.whl");
  const started = placeHashed(site, readFileSync(startedPython(version, wheel)), "engine", "bin");
  const archive = placeHashed(site, readFileSync(wheel), "engine", "whl");
  const fetched = [`${folder}${COMPILED}`, `${folder}python_stdlib.zip`, `${folder}pyodide-lock.json`, started, archive];
  return {folder, started, archive, sizes: Object.fromEntries(fetched.map((file) => [file, statSync(path.join(site, file)).size]))};
}

/** Write a file under a name that changes with its content; gives the path from the site's root. */
export function placeHashed(site, content, name, ending) {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 8).toUpperCase();
  const file = `assets/${name}-${hash}.${ending}`;
  mkdirSync(path.join(site, "assets"), {recursive: true});
  writeFileSync(path.join(site, file), content);
  return file;
}

/** For whoever writes the course: a script that reloads the page when the site is another one, which `built.json` tells. */
export function placeReload(site) {
  writeFileSync(path.join(site, "built.json"), JSON.stringify({at: Date.now()}));
  const script = `const file = new URL("../built.json", document.currentScript.src);
let first;
setInterval(async () => {
  try {
    const {at} = await (await fetch(file, {cache: "no-store"})).json();
    if (first !== undefined && at !== first) location.reload();
    first = at;
  } catch {} // it is being built
}, 500);
`;
  return placeHashed(site, script, "reload", "js");
}

/** The mark of the course: a root and the two operands its gradient goes to. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#f3f6f5"/><g stroke="#17212a" stroke-width="2.2" fill="#f3f6f5"><path d="M24 16H16.5M16.5 16 9 10M16.5 16 9 22"/><circle cx="24" cy="16" r="3.2" fill="#17212a"/><circle cx="8" cy="9" r="3"/><circle cx="8" cy="23" r="3"/></g></svg>
`;

export function placeIcons(site) {
  writeFileSync(path.join(site, "icon.svg"), icon);
}

/** `home` is the folder of a language's start page, with a slash behind it; `base` the way from there to the site's root. */
export function placeManifest(site, {home, base, language, strings}) {
  mkdirSync(path.join(site, home), {recursive: true});
  const manifest = {lang: language, name: strings.name, short_name: strings.name, description: strings.description, start_url: "./", display: "minimal-ui", icons: [{src: `${base}icon.svg`, sizes: "any", type: "image/svg+xml"}]};
  writeFileSync(path.join(site, home, "site.webmanifest"), JSON.stringify(manifest));
}
