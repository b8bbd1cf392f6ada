"""Runs the page's own TypeScript outside of a browser, so that Python can hold it to what Python says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "web"))
import build_site  # noqa: E402

RUNNER = """
import {build} from "esbuild";
import {readFileSync} from "node:fs";
import {inLanguage} from "./builder/languages.mjs";
const {code, data, language} = JSON.parse(readFileSync(0, "utf8"));
const stdin = {contents: code, resolveDir: "src", loader: "ts"};
const jsx = {jsx: "automatic", jsxImportSource: "preact"};
const {outputFiles} = await build({stdin, bundle: true, format: "esm", platform: "node", write: false, ...jsx,
    plugins: language === "en" ? [] : [inLanguage(language)]});
const module = await import("data:text/javascript;base64," + Buffer.from(outputFiles[0].text).toString("base64"));
process.stdout.write(JSON.stringify(await module.default(data)));
"""


def in_node(code: str, data: Any, language: str = "en") -> Any:
    """What the default export of some TypeScript (imports are from web/src) gives for some data, in a language."""
    node = build_site.find_node()
    assert node, "no Node: make site fetches one"
    given = json.dumps({"code": code, "data": data, "language": language})
    command = [str(node[0]), "--input-type=module", "-e", RUNNER]
    done = subprocess.run(command, input=given, cwd=ROOT / "web", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
