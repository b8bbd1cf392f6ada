// Runs every *.test.ts and *.test.mjs with Node's own test runner; TypeScript is bundled first.
import {build} from "esbuild";
import {spawnSync} from "node:child_process";
import {mkdirSync, readdirSync, rmSync} from "node:fs";
import path from "node:path";
import {GENERATED, SOURCE, WEB} from "./builder/paths.mjs";

const under = (folder) => readdirSync(folder, {recursive: true}).map((name) => path.join(folder, name));
const inTypeScript = under(SOURCE).filter((file) => /\.test\.tsx?$/.test(file));
const plain = under(path.join(WEB, "builder")).filter((file) => file.endsWith(".test.mjs"));

const outdir = path.join(GENERATED, "tests");
rmSync(outdir, {recursive: true, force: true});
mkdirSync(outdir, {recursive: true});
await build({
  entryPoints: inTypeScript, outdir, outbase: SOURCE, outExtension: {".js": ".mjs"}, bundle: true, format: "esm", platform: "node",
  packages: "external", jsx: "automatic", jsxImportSource: "preact", absWorkingDir: WEB, logLevel: "warning", external: ["#generated/*"],
});
const bundled = under(outdir).filter((file) => file.endsWith(".test.mjs"));
const {status} = spawnSync(process.execPath, ["--test", ...bundled, ...plain], {stdio: "inherit"});
process.exitCode = status ?? 1;
