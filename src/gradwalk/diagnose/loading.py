"""A learner's file as a namespace: run as it is, or, where that fails, its definitions alone.

Real submissions train a network when they are imported, draw with a package that is not installed, or ask for input.
None of that is what is to be judged. So: a package that is missing is replaced by a stand-in that accepts everything;
and from the statement on that fails, only imports, classes, functions and constants are run.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import importlib
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gradwalk.diagnose.places import cell_mark, in_words, said, where_in_cells
from gradwalk.diagnose.stand_ins import StandIns
from gradwalk.diagnose.workplace import import_root
from gradwalk.messages import Message, say, verbatim

__all__ = ["Loaded", "load", "refuse_input", "run_statements", "source_of"]

MODULE = "submission"  # what the learner's file is called while it runs


@dataclass(frozen=True)
class Loaded:
    """What a file defines, its text, and what had to be done to get there.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text("class Value: pass" + chr(10) + "1 / 0")
    >>> loaded = load(path)
    >>> loaded.namespace["Value"].__name__, loaded.notes[0]
    ('Value', 'line 2 stopped the file (ZeroDivisionError: division by zero): from there on only definitions were used')
    """

    namespace: Mapping[str, Any]
    source: str
    notes: tuple[Message, ...] = ()


def load(path: Path, *, definitions_only: bool = False) -> Loaded:
    """Run the file at `path` and give what it defines.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text("import not_installed_anywhere as draw; draw.show(1); x = 2")
    >>> loaded = load(path)
    >>> loaded.namespace["x"], loaded.notes
    (2, ('not_installed_anywhere is not installed here: an empty stand-in took its place',))
    """
    path = path.resolve()
    source = source_of(path)
    tree = ast.parse(source, str(path))
    stand_ins = StandIns(path)
    sys.meta_path.append(stand_ins)
    asked, builtins.input = builtins.input, refuse_input
    version, importlib.metadata.version = importlib.metadata.version, _any_version
    try:
        module, is_run = _module(path, definitions_only)
        notes = [] if is_run else run_statements(tree, vars(module), str(path), definitions_only=definitions_only)
        where = where_in_cells(source)
        notes = [verbatim(in_words(note, where)) for note in notes] if where else notes
        return Loaded(vars(module), source, (*notes, *stand_ins.notes()))
    finally:
        builtins.input = asked
        importlib.metadata.version = version
        sys.meta_path.remove(stand_ins)
        stand_ins.loading = False


def run_statements(
    tree: ast.Module, namespace: dict[str, Any], file: str, *, definitions_only: bool = False
) -> list[Message]:
    """Run a file statement by statement; once one has failed, only those that define something, and say so.

    >>> namespace = {"__name__": "engine"}
    >>> run_statements(ast.parse("a = 1; b = a / 0; c = b; d = 2"), namespace, "engine.py")
    ['line 1 stopped the file (ZeroDivisionError: division by zero): from there on only definitions were used']
    >>> namespace["a"], "c" in namespace, namespace["d"]
    (1, False, 2)
    """
    notes: list[Message] = []
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            flags |= _flags_of(statement)
            continue  # it holds for the rest of the file, which is compiled piece by piece
        if (definitions_only or notes) and not _defines(statement):
            continue
        piece = ast.Module([statement], [])
        try:
            exec(compile(piece, file, "exec", flags=flags, dont_inherit=True), namespace)
        except (Exception, SystemExit) as error:
            if not notes:
                what = _place(error, file)
                notes.append(say("{what}: from there on only definitions were used", what=what))
    return notes


def _flags_of(statement: ast.ImportFrom) -> int:
    """What an import from `__future__` switches on."""
    features = [getattr(__future__, name.name, None) for name in statement.names]
    return sum(feature.compiler_flag for feature in features if feature is not None)


def source_of(path: Path) -> str:
    """The Python text of a file; of a notebook, its code cells without magics, each under a mark with its number.

    >>> import json, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.ipynb"
    >>> cells = [{"cell_type": "code", "source": ["%matplotlib inline", chr(10), "x = 1"]}]
    >>> _ = path.write_text(json.dumps({"cells": cells}))
    >>> source_of(path).splitlines()
    ['# %% code cell 1', '# %matplotlib inline', 'x = 1']
    """
    if path.suffix != ".ipynb":
        with path.open("rb") as file:
            return importlib.util.decode_source(file.read())
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("it is no notebook: it has no cells")
    cells = notebook["cells"]
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    lines = (line for i, text in enumerate(texts, 1) for line in [cell_mark(i), *text.splitlines()])
    return "\n".join(f"# {line}" if line.lstrip()[:1] in ("%", "!", "?") else line for line in lines)


def _module(path: Path, definitions_only: bool) -> tuple[ModuleType, bool]:
    """The module for a file, and whether it has been run already: one inside a package is imported as a part of it.

    A module that is still empty is known by the file's name as well: a helper that imports the engine back gets the
    same classes.
    """
    root, package = path.parent, list[str]()
    while (root / "__init__.py").exists() and root.name.isidentifier():
        package.insert(0, root.name)
        root = root.parent
    for folder in map(str, (path.parent, root, import_root(path) or root)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    name = ".".join([*package, path.stem]) if package else MODULE
    if package:
        found = None if definitions_only else _imported(name)
        if found is not None and getattr(found, "__file__", None) == str(path):
            return found, True
        if _imported(".".join(package)) is None:  # its `__init__` fails: an empty one in its place
            for i in range(len(package)):
                part = ".".join(package[: i + 1])
                sys.modules[part] = ModuleType(part)
                sys.modules[part].__path__ = [str(root.joinpath(*package[: i + 1]))]
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = ".".join(package)
    sys.modules[name] = module
    if path.stem.isidentifier() and path.stem not in sys.stdlib_module_names and path.stem not in sys.modules:
        sys.modules[path.stem] = module
    return module, False


def _imported(name: str) -> ModuleType | None:
    """A module of the learner's, imported; None if that fails."""
    known = set(sys.modules)
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit):
        for new in set(sys.modules) - known:
            if new.split(".")[0] == name.split(".")[0]:
                del sys.modules[new]
        return None


def _any_version(distribution_name: str) -> str:
    """The version of a package; of one that is not installed, any: a file that asks for its own must not fail."""
    try:
        return importlib.metadata.distribution(distribution_name).version
    except importlib.metadata.PackageNotFoundError:
        return "0.0.0"


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        plain = all(isinstance(target, ast.Name | ast.Tuple) for target in targets)  # not an attribute of what failed
        of_a_class = all(isinstance(x, ast.Attribute) for x in targets) and isinstance(
            statement.value, ast.Name | ast.Lambda
        )
        return of_a_class or (plain and _is_constant(statement.value))
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)


def _is_constant(value: ast.expr | None) -> bool:
    """A number, a text, or a plain collection of these: nothing that could run for long or fail."""
    return value is not None and all(
        isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.UnaryOp | ast.USub | ast.Load)
        for node in ast.walk(value)
    )


def _place(error: BaseException, file: str) -> Message:
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = line or trace.tb_lineno
        trace = trace.tb_next
    why = say("{error}: {said}", error=type(error).__name__, said=said(error)[:200])
    if line:
        return say("line {line} stopped the file ({why})", line=line, why=why)
    return say("the file stopped ({why})", why=why)


def refuse_input(prompt: object = "", /) -> str:
    """Stands in for `input` while an engine is judged.

    >>> refuse_input("go on?")
    Traceback (most recent call last):
    ...
    EOFError: input() has nobody to ask while an engine is judged
    """
    raise EOFError("input() has nobody to ask while an engine is judged")
