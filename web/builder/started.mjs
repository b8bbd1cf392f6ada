// Python as it is once it has started, so that a page loads it instead of starting it: a tenth of the time.
//   node builder/started.mjs FILE     starts Python, and writes its memory, packed
import {spawnSync} from "node:child_process";
import {existsSync, mkdirSync, renameSync, writeFileSync} from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";
import {gzipSync} from "node:zlib";
import {MODULES} from "./paths.mjs";
import {BuildError} from "./problems.mjs";

/** The file with it, made anew only for another version of Pyodide. */
export function startedPython(version) {
  const file = path.join(MODULES, ".cache", `python-${version}.bin`);
  if (existsSync(file)) return file;
  mkdirSync(path.dirname(file), {recursive: true});
  // a process of its own: what Python notes of the program that it runs in must not be ours
  const {status, stderr} = spawnSync(process.execPath, [import.meta.filename, file], {encoding: "utf8"});
  if (status !== 0) throw new BuildError(`Python could not be started for the page: ${stderr}`);
  return file;
}

async function write(file) {
  process.argv[1] = "python"; // Python keeps the name of its program
  const folder = path.join(MODULES, "pyodide", path.sep);
  const {loadPyodide} = await import(pathToFileURL(path.join(folder, "pyodide.mjs")).href);
  const python = await loadPyodide({indexURL: folder, env: {HOME: "/home/pyodide"}, _makeSnapshot: true});
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, gzipSync(python.makeMemorySnapshot(), {level: 9}));
  renameSync(beside, file);
}

if (process.argv[1] && path.resolve(process.argv[1]) === import.meta.filename) await write(process.argv[2]);
