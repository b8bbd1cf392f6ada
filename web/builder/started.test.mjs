import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import path from "node:path";
import {test} from "node:test";
import {pathToFileURL} from "node:url";
import {gunzipSync} from "node:zlib";
import {GENERATED, MODULES} from "./paths.mjs";
import {startedPython} from "./started.mjs";

const folder = path.join(MODULES, "pyodide", path.sep);
const {version} = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
const WHEEL = path.join(GENERATED, "engine.whl");
const OURS = "import sys\nsorted(name for name in sys.modules if name.startswith('gradwalk.learn.page.'))";

async function loaded(file) {
  const {loadPyodide} = await import(pathToFileURL(path.join(folder, "pyodide.mjs")).href);
  return loadPyodide({indexURL: folder, _loadSnapshot: new Uint8Array(gunzipSync(readFileSync(file)))});
}

test("a page's Python has the engine already, and answers", async () => {
  const python = await loaded(startedPython(version, WHEEL));
  assert.ok(python.runPython(OURS).toJs().includes("gradwalk.learn.page.exercises"));
  python.unpackArchive(new Uint8Array(readFileSync(WHEEL)), "wheel"); // files are no part of its memory
  const answer = JSON.parse(python.pyimport("gradwalk.learn.page.bridge").call("programs.run", '{"text": "a = 2\\na * a"}', () => {}));
  assert.equal(answer.error, null);
  assert.ok(answer.result);
});

test("the grader's has nothing of ours", async () => {
  const python = await loaded(startedPython(version));
  assert.equal(python.runPython("import sys\nany('gradwalk' in name for name in sys.modules)"), false);
});
