"""The process in which an engine's numbers are taken: it loads a file, runs programs, and sends back what came of them.

No right answer is in it, and nothing that could compute one: gradwalk's engine is left out (see `START`), and what is
imported here, the op table for one, is no longer found under its name. So whatever an engine does in here (changes
`abs`, changes these very functions, writes answers of its own) it can only send numbers; and whether these are right is
found out elsewhere.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from gradwalk.diagnose.adapter import Engine, MissingOp, NotAnEngine, find_class
from gradwalk.diagnose.discovery import defines
from gradwalk.diagnose.loading import Loaded, load
from gradwalk.diagnose.places import said
from gradwalk.diagnose.probes import Probe, run
from gradwalk.diagnose.vocabulary import BINARY, EXTRA, REFLECTED, UNARY
from gradwalk.messages import verbatim

__all__ = ["START", "Ask", "Say", "Unusable", "hide", "loaded_engine", "main", "own_streams", "serve"]

Ask = Callable[[], dict[str, Any] | None]
Say = Callable[[dict[str, Any]], None]

NOT_HANDED_IN = "which is no part of what was handed in"

#: Starts this module without the rest of the package: argv[1] is the package's folder.
START = """\
import sys, types
for name, folder in (("gradwalk", sys.argv[1]), ("gradwalk.diagnose", sys.argv[1] + "/diagnose")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from gradwalk.diagnose import runner
runner.main()
"""


def main() -> None:
    """Answer on the standard streams until nobody asks any more.

    >>> import json, subprocess, tempfile, pathlib, gradwalk
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "engine.py").write_text("from gradwalk import Value")
    >>> job = {"file": "engine.py", "class_name": "Value", "definitions_only": False, "memory": 2**30, "seconds": 9.0}
    >>> start = [sys.executable, "-c", START, str(pathlib.Path(gradwalk.__file__).parent)]
    >>> done = subprocess.run(start, input=json.dumps(job), cwd=folder, capture_output=True, text=True)
    >>> json.loads(done.stdout)["refused"]
    'Value is imported from gradwalk, which is no part of what was handed in'
    """
    from gradwalk.diagnose.guard import enter  # of no use in a browser's Python, which is shut in already

    ask, say = own_streams()
    job = ask()
    if job is not None:
        hide("gradwalk")
        serve(job, ask, say, enter(job, hidden=[Path(__file__).resolve().parents[1]]))


def serve(job: dict[str, Any], ask: Ask, say: Say, confined: list[str]) -> None:
    """Load the job's file from this folder, say what is in it, and run what is asked for.

    >>> said = []
    >>> serve({"file": "nowhere.py", "class_name": "Value", "definitions_only": False}, lambda: None, said.append, [])
    >>> said[0]["refused"][:45]
    'the file cannot be loaded: FileNotFoundError:'
    """
    try:
        engine, loaded = loaded_engine(job)
    except Unusable as error:
        say({"refused": str(error), "notes": error.notes})
        return
    ops = [op for op in (*BINARY, "neg", *UNARY, *EXTRA, *REFLECTED.values()) if _has(engine, op)]
    say({"loaded": [_told(note) for note in loaded.notes], "engine": engine.cls.__name__, "has": ops,
         "walks": bool(engine.backward_name), "confined": confined})  # fmt: skip
    while (asked := ask()) is not None:
        program = Probe(**{**asked["program"], "see": tuple(asked["program"]["see"])})
        outcomes, litter = [], list[object]()
        for i in range(asked["repeats"]):
            outcomes.append(asdict(run(program, engine, steps=None)))
            litter += engine.litter(2 * i + 1)
        say({"outcomes": outcomes})


def own_streams() -> tuple[Ask, Say]:
    """A way to be asked, which gives None at the end, and a way to answer, in lines of JSON.

    What an engine prints, reads or does to the standard streams is no part of it: they lead nowhere from now on. An
    engine that looks for the conversation finds it, and can write what it likes; that is why nothing but numbers and
    words is ever asked for, and whoever asked is the one to judge them.

    >>> import subprocess, sys
    >>> script = "from gradwalk.diagnose.runner import own_streams as own; ask, say = own(); print(9); say(ask())"
    >>> subprocess.run([sys.executable, "-c", script], input='{"a": 1}', capture_output=True, text=True).stdout
    '{"a": 1}\\n'
    """
    questions = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)

    def ask() -> dict[str, Any] | None:
        line = questions.readline()
        asked: dict[str, Any] | None = json.loads(line) if line else None
        return asked

    def say(what: dict[str, Any]) -> None:
        text = (json.dumps(what) + "\n").encode("ascii")
        while text:
            text = text[os.write(answers, text) :]

    return ask, say


class Unusable(Exception):  # noqa: N818 - a finding, told to the learner in a report
    """There is no engine to judge; the message says why, and `notes` what else was seen while it was loaded.

    >>> str(Unusable("line 3 is no Python: invalid syntax"))
    'line 3 is no Python: invalid syntax'
    """

    def __init__(self, why: str, notes: Iterable[str] = ()) -> None:
        super().__init__(why)
        self.notes = list(notes)


def loaded_engine(job: dict[str, Any]) -> tuple[Engine, Loaded]:
    """The engine in the job's file, which lies in this folder, and how it was loaded.

    >>> loaded_engine({"file": "nowhere.py", "class_name": "Value", "definitions_only": False})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.diagnose.runner.Unusable: the file cannot be loaded: FileNotFoundError: ...
    """
    folder, class_name, loaded = Path.cwd(), job["class_name"], None
    try:
        loaded = load(folder / job["file"], definitions_only=job["definitions_only"])
        engine = Engine(find_class(loaded.namespace, class_name), loaded.namespace, job.get("names"))
    except SyntaxError as error:
        raise Unusable(f"{f'line {error.lineno}' if error.lineno else 'it'} is no Python: {error.msg}") from None
    except NotAnEngine as error:
        named = loaded.namespace.get(class_name) if loaded is not None else None
        if isinstance(named, ModuleType):  # a stand-in: its name is the module's and the class's
            module = named.__name__.rpartition(".")[0] or named.__name__
            raise Unusable(f"{class_name} is imported from {module}, {NOT_HANDED_IN}") from None
        raise Unusable(str(error), loaded.notes if loaded is not None else ()) from None
    except Exception as error:
        why = f"{type(error).__name__}: {said(error)[:300]}".removesuffix(": ")
        raise Unusable(f"the file cannot be loaded: {why}") from None
    foreign = _home_elsewhere(engine.cls, folder)
    if foreign:
        raise Unusable(f"{engine.cls.__name__} is imported from {foreign}, {NOT_HANDED_IN}")
    if class_name not in ("Value", engine.cls.__name__) and class_name not in loaded.namespace:
        note = verbatim(f"there is no class {class_name} here: {engine.cls.__name__} was judged instead")
        loaded = replace(loaded, notes=(*loaded.notes, note))
    return engine, loaded


def _told(note: str) -> str:
    return note.replace("gradwalk is not installed here", "gradwalk is kept from an engine while it is judged")


def _has(engine: Engine, op: str) -> bool:
    try:
        return defines(engine.cls, op) if op in REFLECTED.values() else bool(engine.find(op))
    except MissingOp:
        return False


def _home_elsewhere(cls: type[Any], folder: Path) -> str | None:
    """The module of a class that has not a line in what was handed in."""
    functions = [f for each in cls.__mro__[:-1] for f in vars(each).values() if isinstance(f, FunctionType)]
    files = [Path(function.__code__.co_filename) for function in functions]
    if any(not file.is_absolute() or file.is_relative_to(folder) for file in files):
        return None
    return str(functions[0].__module__ if functions else cls.__module__)


def hide(package: str) -> None:
    """Let a package not be found from now on, as if it were not installed.

    >>> import subprocess
    >>> script = "from gradwalk.diagnose.runner import hide; hide('gradwalk'); import gradwalk"
    >>> subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stderr.splitlines()[-1]
    "ModuleNotFoundError: No module named 'gradwalk'"
    """

    class Without:
        def __init__(self, finder: Any) -> None:
            self.finder = finder

        def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
            hidden = name.split(".")[0] == package
            found: ModuleSpec | None = None if hidden else self.finder.find_spec(name, path, target)
            return found

        def __getattr__(self, name: str) -> Any:
            return getattr(self.finder, name)

    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        del sys.modules[name]
    sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]


if __name__ == "__main__":
    main()
