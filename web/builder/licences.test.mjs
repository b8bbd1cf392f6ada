import assert from "node:assert/strict";
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {test} from "node:test";
import {licencesOf, packagesIn, withLicences} from "./licences.mjs";

/** A package and the text we have of it, in a folder of their own. */
function given(license, files, ours) {
  const root = mkdtempSync(path.join(tmpdir(), "licences-"));
  const modules = path.join(root, "modules");
  const folder = path.join(root, "LICENSES");
  mkdirSync(path.join(modules, "@some", "thing"), {recursive: true});
  mkdirSync(folder);
  writeFileSync(path.join(modules, "@some", "thing", "package.json"), JSON.stringify({version: "1.2.3", license}));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(modules, "@some", "thing", name), text);
  if (ours !== undefined) writeFileSync(path.join(folder, "some-thing.txt"), ours);
  const get = (options) => licencesOf(["@some/thing", "@some/thing"], {modules, folder, ...options});
  return {get, end: () => rmSync(root, {recursive: true})};
}

for (const [what, license, files, ours, message] of [
  ["no text anywhere", "MIT", {}, undefined, /@some\/thing 1\.2\.3 is bundled, and holds no text/],
  ["a text of ours alone", "MIT", {}, "free\n", /holds no text of its licence/],
  ["no text of ours", "MIT", {LICENSE: "free"}, undefined, /LICENSES\/some-thing\.txt is not there/],
  ["an old text of ours", "MIT", {LICENSE: "free"}, "old\n", /is not the text that @some\/thing 1\.2\.3 comes with/],
  ["a licence nobody looked at", "GPL-3.0", {LICENSE: "free"}, "free\n", /its licence is "GPL-3\.0", not one of MIT/],
  ["no licence at all", undefined, {LICENSE: "free"}, "free\n", /its licence is undefined/],
]) {
  test(`the build fails over ${what}`, () => {
    const {get, end} = given(license, files, ours);
    assert.throws(get, message);
    end();
  });
}

test("a package with its text is listed once, and write renews the text", () => {
  const {get, end} = given("MIT", {"License.md": "free\r\n\r\n"}, undefined);
  const listed = [{name: "@some/thing", version: "1.2.3", licence: "MIT", text: "some-thing.txt"}];
  assert.deepEqual(get({write: true}), listed);
  assert.deepEqual(get(), listed);
  assert.equal(withLicences("a <p>[[licences]]</p> b", listed, "../"), 'a <ul class="licences"><li>@some/thing 1.2.3: <a href="../licences/some-thing.txt">MIT</a></li></ul> b');
  end();
});

test("packages are found by the files they give", () => {
  const inputs = {"node_modules/preact/dist/x.js": {}, "node_modules/@a/b/c.js": {}, "src/main.ts": {}, "../node_modules/d/e.css": {}};
  assert.deepEqual(packagesIn({inputs}), ["preact", "@a/b", "d"]);
});
