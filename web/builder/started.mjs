// Python as it is once it has started, so that a page loads it instead of starting it: a tenth of the time.
//   node builder/started.mjs FILE ENGINE     starts Python, imports what a page calls, and writes its memory, packed
import {spawnSync} from "node:child_process";
import {createHash} from "node:crypto";
import {existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {gzipSync} from "node:zlib";
import {MODULES} from "./paths.mjs";
import {BuildError} from "./problems.mjs";

// What pages call, by the modules of gradwalk.learn.page.
const CALLED = ["bridge", "exercises", "grading", "hunting", "programs", "rolling", "scripts", "training"];

/** The file with it, for an engine (a wheel): made anew only for another engine or another version of Pyodide. */
export function startedPython(version, engine) {
  const folder = path.join(MODULES, ".cache");
  const mark = createHash("sha256").update(readFileSync(engine)).update(readFileSync(import.meta.filename)).digest("hex").slice(0, 16);
  const name = `python-${version}-${mark}.bin`;
  const file = path.join(folder, name);
  if (existsSync(file)) return file;
  mkdirSync(folder, {recursive: true});
  // a process of its own: what Python notes of the program that it runs in must not be ours
  const {status, stderr} = spawnSync(process.execPath, [import.meta.filename, file, engine], {encoding: "utf8"});
  if (status !== 0) throw new BuildError(`Python could not be started for the page: ${stderr.slice(-2000)}`);
  for (const old of readdirSync(folder)) if (old.startsWith("python-") && old !== name) rmSync(path.join(folder, old), {force: true});
  return file;
}

async function write(file, engine) {
  process.argv.splice(1, Infinity, "python"); // Python keeps the name of its program, and what that was given
  const folder = path.join(MODULES, "pyodide", path.sep);
  const {loadPyodide} = await import(pathToFileURL(path.join(folder, "pyodide.mjs")).href);
  const python = await loadPyodide({indexURL: folder, env: {HOME: "/home/pyodide"}, _makeSnapshot: true});
  python.unpackArchive(new Uint8Array(readFileSync(engine)).buffer, "wheel"); // a page unpacks it too: files are not memory
  python.runPython(`import gc, ${CALLED.map((name) => `gradwalk.learn.page.${name}`).join(", ")}\ngc.collect()`);
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, gzipSync(python.makeMemorySnapshot(), {level: 9}));
  renameSync(beside, file);
}

if (process.argv[1] && path.resolve(process.argv[1]) === import.meta.filename) await write(...process.argv.slice(2));
