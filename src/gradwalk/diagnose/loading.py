"""A learner's file as a namespace: run as it is, or, where that fails, its definitions alone.

Real submissions train a network when they are imported, draw with a package that is not installed, or ask for input.
None of that is what is to be judged. So: a package that is missing is replaced by a stand-in that accepts everything;
and if running the file fails, only its imports, classes, functions and constants are kept.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Mapping, MutableSequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Loaded", "load", "source_of"]

MODULE = "submission"  # what the learner's file is called while it runs


@dataclass(frozen=True)
class Loaded:
    """What a file defines, its text, and what had to be done to get there.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text("class Value: pass" + chr(10) + "1 / 0")
    >>> loaded = load(path)
    >>> loaded.namespace["Value"].__name__, loaded.notes[0]
    ('Value', 'line 2 stopped the file (ZeroDivisionError: division by zero): only its definitions were used')
    """

    namespace: Mapping[str, Any]
    source: str
    notes: tuple[str, ...] = ()


def load(path: Path, *, definitions_only: bool = False) -> Loaded:
    """Run the file at `path` and give what it defines.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.py"
    >>> _ = path.write_text("import not_installed_anywhere as draw; draw.show(1); x = 2")
    >>> loaded = load(path)
    >>> loaded.namespace["x"], loaded.notes
    (2, ('not_installed_anywhere is not installed here: an empty stand-in took its place',))
    """
    source = source_of(path)
    tree = ast.parse(source, str(path))
    stand_ins = _StandIns(path)
    sys.meta_path.append(stand_ins)
    asked, builtins.input = builtins.input, _refuse_input
    notes: list[str] = []
    try:
        if not definitions_only:
            try:
                return Loaded(_run(tree, path), source, stand_ins.notes())
            except (Exception, SystemExit) as error:
                notes.append(f"{_place(error, path)}: only its definitions were used")
        namespace = _run(ast.Module([part for part in tree.body if _defines(part)], tree.type_ignores), path)
        return Loaded(namespace, source, (*notes, *stand_ins.notes()))
    finally:
        builtins.input = asked
        sys.meta_path.remove(stand_ins)


def source_of(path: Path) -> str:
    """The Python text of a file; of a notebook, its code cells one after the other, without magics.

    >>> import json, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "engine.ipynb"
    >>> cells = [{"cell_type": "code", "source": ["%matplotlib inline", chr(10), "x = 1"]}]
    >>> _ = path.write_text(json.dumps({"cells": cells}))
    >>> source_of(path).splitlines()
    ['# %matplotlib inline', 'x = 1']
    """
    if path.suffix != ".ipynb":
        with path.open("rb") as file:
            return importlib.util.decode_source(file.read())
    notebook = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("it is no notebook: it has no cells")
    cells = notebook["cells"]
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    lines = (line for text in texts for line in [*text.splitlines(), ""])
    return "\n".join(f"# {line}" if line.lstrip()[:1] in ("%", "!", "?") else line for line in lines)


def _run(tree: ast.Module, path: Path) -> dict[str, Any]:
    """The tree's namespace; a file inside a package is run as part of it, so that relative imports work."""
    root, package = path.parent, list[str]()
    while (root / "__init__.py").exists() and root.name.isidentifier():
        package.insert(0, root.name)
        root = root.parent
    for folder in (str(path.parent), str(root)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    name = ".".join([*package, path.stem]) if package else MODULE
    if package:
        importlib.import_module(".".join(package))
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = ".".join(package)
    sys.modules[name] = module
    exec(compile(tree, str(path), "exec"), vars(module))
    return vars(module)


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return _is_constant(statement.value)
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)


def _is_constant(value: ast.expr | None) -> bool:
    """A number, a text, or a plain collection of these: nothing that could run for long or fail."""
    return value is not None and all(
        isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.UnaryOp | ast.USub | ast.Load)
        for node in ast.walk(value)
    )


def _place(error: BaseException, path: Path) -> str:
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = line or trace.tb_lineno
        trace = trace.tb_next
    where = f"line {line} stopped the file" if line else "the file stopped"
    return f"{where} ({type(error).__name__}: {str(error)[:200]})"


def _refuse_input(prompt: object = "", /) -> str:
    raise EOFError("input() has nobody to ask while an engine is judged")


class _Anything(ModuleType):
    """Accepts every attribute, call and operator that a drawing package might be asked for."""

    __path__: MutableSequence[str] = []  # noqa: RUF012 - what makes a module a package

    def __init__(self, name: str = "stand-in") -> None:
        super().__init__(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _Anything(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):  # a decorator keeps its function
            return args[0]
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: reached only by what no other finder has found."""

    def __init__(self, path: Path) -> None:
        self.folder = str(path.parent)
        self.names: list[str] = []

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.split(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name in sys.stdlib_module_names or path is not None or not self._asked_by_the_learner():
            return None  # a typo in a module that is there stays an error; packages try imports, and mind the failure
        self.names.append(name)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def _asked_by_the_learner(self) -> bool:
        frame = sys._getframe(2)
        while frame.f_back is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        return frame.f_code.co_filename.startswith(self.folder)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Anything(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None

    def notes(self) -> tuple[str, ...]:
        return tuple(f"{name} is not installed here: an empty stand-in took its place" for name in self.names)
