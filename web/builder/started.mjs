// Python as it is once it has started, so that a page loads it instead of starting it: a tenth of the time.
//   node builder/started.mjs FILE [WHEEL]     starts Python, imports what a page calls first, and writes its memory, packed
import {createHash} from "node:crypto";
import {spawnSync} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {gzipSync} from "node:zlib";
import {MODULES} from "./paths.mjs";
import {BuildError} from "./problems.mjs";

/** What a page calls first, and what that imports late; the rest is imported when somebody calls it. */
const IMPORTED = ["learn.page.bridge", "learn.page.exercises", "learn.page.grading", "learn.page.hunting", "learn.page.programs", "learn.page.training", "walk.recording"].map((name) => `gradwalk.${name}`);

/** The file with it, made anew only for another version of Pyodide or another engine; without a wheel, of Python alone. */
export function startedPython(version, wheel) {
  const kind = wheel ? "engine" : "python";
  const name = `${kind}-${version}${wheel ? `-${createHash("sha256").update(readFileSync(wheel)).digest("hex").slice(0, 16)}` : ""}.bin`;
  const folder = path.join(MODULES, ".cache");
  const file = path.join(folder, name);
  if (existsSync(file)) return file;
  mkdirSync(folder, {recursive: true});
  for (const old of readdirSync(folder)) if (old.startsWith(`${kind}-`)) rmSync(path.join(folder, old), {force: true});
  // a process of its own: what Python notes of the program that it runs in must not be ours
  const {status, stderr} = spawnSync(process.execPath, [import.meta.filename, file, ...(wheel ? [wheel] : [])], {encoding: "utf8"});
  if (status !== 0) throw new BuildError(`Python could not be started for the page: ${stderr.slice(-2000)}`); // it may quote a megabyte
  return file;
}

async function write(file, wheel) {
  process.argv[1] = "python"; // Python keeps the name of its program
  const folder = path.join(MODULES, "pyodide", path.sep);
  const {loadPyodide} = await import(pathToFileURL(path.join(folder, "pyodide.mjs")).href);
  const python = await loadPyodide({indexURL: folder, env: {HOME: "/home/pyodide"}, _makeSnapshot: true});
  const room = python._module.HEAP8.length;
  if (wheel) {
    python.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel");
    // frozen: what is there from the beginning is nothing for the collector to go through again and again
    python.runPython(`import gc, importlib\nfor name in ${JSON.stringify(IMPORTED)}:\n    importlib.import_module(name)\ngc.collect()\ngc.freeze()\ndel gc, importlib, name`);
  }
  // a Python that is started has this much memory; a larger one could not be put into it
  if (python._module.HEAP8.length > room) throw new Error("what is imported ahead does not fit into the memory that Python begins with: name fewer modules in IMPORTED");
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, gzipSync(python.makeMemorySnapshot(), {level: 9}));
  renameSync(beside, file);
}

if (process.argv[1] && path.resolve(process.argv[1]) === import.meta.filename) await write(...process.argv.slice(2));
