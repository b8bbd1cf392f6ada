"""An engine in Pyodide inside Deno: Python in WebAssembly, in a program that may read one folder and do nothing else.

What is run is the same as in a process of Python's own (`runner`, `child`), and so is what is asked and answered. Deno
comes as a wheel (the extra `sandbox`), and Pyodide lies in this package, as part of the course.
"""

from __future__ import annotations

import ast
import base64
import importlib
import importlib.util
import io
import os
import shutil
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from gradwalk.diagnose.processes import Conversation
from gradwalk.diagnose.sandbox import Start
from gradwalk.errors import MissingExtraError

__all__ = ["deno_program", "starter"]

PACKAGE = Path(__file__).resolve().parents[1]
SCRIPT = Path(__file__).with_name("deno.mjs")
MEMORY = 3 * 2**30  # bytes for Deno as a whole; Python's share of it is limited inside
FLAGS = (
    "run",
    "--no-prompt",
    "--no-remote",
    "--no-npm",
    "--no-config",
    "--no-lock",
    "--cached-only",
    "--quiet",
    "--v8-flags=--liftoff-only",
)  # a program of seconds does not earn back an optimising compiler
#: What stays on disk while an engine's numbers are taken: see `runner`.
HEAVY = ("cli", "compile", "doctor", "drawing", "learn", "notebook", "stepper")
#: Shuts Deno in as far as the system can do that before it starts; argv: package, bytes, seconds, parent, command.
LAUNCH = """\
import os, sys, types
for name, folder in (("gradwalk", sys.argv[1]), ("gradwalk.diagnose", sys.argv[1] + "/diagnose")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from gradwalk.diagnose import confinement
confinement.limit_resources(int(sys.argv[2]), float(sys.argv[3]), 2**46)
confinement.end_with_parent(int(sys.argv[4]))
os.execv(sys.argv[5], sys.argv[5:])
"""
_BEGIN = """\
import json, os, random, sys
random.seed(0)
sys.path.insert(0, "/modules")
os.chdir("/handed-in")
def ask(ask_for_text=ask_for_text):
    text = ask_for_text()
    return None if text is None else json.loads(text)
def say(what, say_text=say_text):
    say_text(json.dumps(what))
del ask_for_text, say_text
"""
_NUMBERS = """\
import types
for name in ("gradwalk", "gradwalk.diagnose"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = ["/modules/" + name.replace(".", "/")]
from gradwalk.diagnose import runner
runner.hide("gradwalk")
sys.path.remove("/modules")
runner.serve(ask(), ask, say, ["pyodide"])
"""
_WORDS = """\
from gradwalk.diagnose import child
child.serve(ask(), say, ["pyodide"])
"""


def deno_program() -> str:
    """Where Deno is; if it is not installed, the error says how to get it.

    >>> Path(deno_program()).stem
    'deno'
    """
    if importlib.util.find_spec("deno") is not None:
        return os.fsdecode(importlib.import_module("deno").find_deno_bin())
    found = shutil.which("deno")
    if found is None:
        raise MissingExtraError.of("deno", extra="sandbox", wanted_for="judging in a sandbox")
    return found


@contextmanager
def starter(pyodide: Path) -> Iterator[Start]:
    """What starts processes for `judge_file`: each is a Deno that may read the folder `pyodide`.

    >>> with starter(Path("pyodide")) as start:
    ...     callable(start)
    True
    """
    with tempfile.TemporaryDirectory(prefix="gradwalk-deno-", ignore_cleanup_errors=True) as own:  # Deno's own files

        def start(task: str, folder: Path, stop: threading.Event) -> Conversation:
            return _Pyodide(task, folder, stop, pyodide, own)

        yield start


class _Pyodide(Conversation):
    """A Deno with an engine in it: before anything else it is sent what a process of Python's own finds on disk."""

    def __init__(self, task: str, folder: Path, stop: threading.Event, pyodide: Path, cache_folder: str) -> None:
        command = [deno_program(), *FLAGS, f"--allow-read={pyodide}", str(SCRIPT), str(pyodide)]
        if sys.platform != "win32":
            launch = [sys.executable, "-I", "-S", "-c", LAUNCH, str(PACKAGE), str(MEMORY), "120", str(os.getpid())]
            command = [*launch, *command]
        own = {"DENO_DIR": cache_folder, "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
        super().__init__(command, folder, stop, own)
        code = _BEGIN + (_NUMBERS if task == "numbers" else _WORDS)
        files = {
            path.relative_to(folder).as_posix(): base64.b64encode(path.read_bytes()).decode()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        super().say({"modules": _archive(task), "files": files, "code": code})


@cache
def _archive(task: str) -> str:
    """The modules for a task, as a zip in letters."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _needed("gradwalk.diagnose.runner") if task == "numbers" else _all():
            archive.write(path, path.relative_to(PACKAGE.parent).as_posix())
    return base64.b64encode(packed.getvalue()).decode()


def _all() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in HEAVY:
            yield path


def _needed(module: str) -> list[Path]:
    """The files of a module and of all that it imports as it is loaded, without the packages that they lie in."""
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = PACKAGE.parent / f"{name.replace('.', '/')}.py"
        if name in found or not path.is_file():
            continue
        found[name] = path
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "gradwalk":
                waiting += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    return list(found.values())
