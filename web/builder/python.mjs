// What the page gets from Python: recordings, exercises, and the engine itself as an archive.
import {spawnSync} from "node:child_process";
import {existsSync, readFileSync, readdirSync} from "node:fs";
import path from "node:path";
import {GENERATED, REPO} from "./paths.mjs";
import {BuildError} from "./problems.mjs";

const OURS = path.join(REPO, ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");

/** Run the export; gives {recordings: …, exercises: …}, as it lies in web/generated. */
export function exportFromPython() {
  const python = process.env.PYTHON ?? [OURS].find(existsSync) ?? "python3";
  const done = spawnSync(python, ["-m", "gradwalk.learn.page.export", GENERATED], {
    cwd: REPO,
    env: {...process.env, PYTHONPATH: path.join(REPO, "src"), PYTHONDONTWRITEBYTECODE: "1"},
    encoding: "utf8",
  });
  if (done.error) throw new BuildError(`cannot run ${python}: ${done.error.message}; name a Python 3.11 or newer: PYTHON=… npm run build`);
  if (done.status !== 0) throw new BuildError(`${python} -m gradwalk.learn.page.export failed:\n${done.stderr.trim()}`);
  if (done.stderr) console.warn(done.stderr.trim());
  return exported();
}

/** What the last export gave. */
export function exported() {
  const names = readdirSync(GENERATED).filter((name) => name.endsWith(".json") && !name.startsWith("course."));
  if (!names.length) throw new BuildError("nothing has been exported yet: build once without --exported");
  return Object.fromEntries(names.map((name) => [name.slice(0, -5), JSON.parse(readFileSync(path.join(GENERATED, name), "utf8"))]));
}
