"""Stand-ins for modules that are missing: what is drawn with them goes nowhere, and what only they could give is not
made up.

While a file is loaded, a stand-in accepts everything. Once its engine is judged, it still takes every call: a walk may
draw its graph. But whoever asks it for a value (goes through it, computes with it) cannot be judged without the module.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Mapping, MutableSequence
from pathlib import Path
from types import ModuleType
from typing import Any

from gradwalk.messages import Message, say

__all__ = ["NotHere", "StandIns", "has_stand_ins"]


class NotHere(Exception):  # noqa: N818 - a finding, and not the engine's fault
    """Something is asked of a module that is missing.

    >>> str(NotHere("utils.topo_sort"))
    'it needs utils.topo_sort, which is not here'
    """

    def __init__(self, what: str | None) -> None:
        super().__init__(say("it needs {what}, which is not here", what=what))


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: reached only by what no other finder has found.

    >>> stand_ins = StandIns(Path("engine.py"))
    >>> stand_ins.names.append("utils")
    >>> stand_ins.notes()
    ('utils is not installed here: an empty stand-in took its place',)
    """

    def __init__(self, path: Path) -> None:
        self.folder = str(path.parent)
        self.names: list[str] = []
        self.loading = True

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """A stand-in for a module, if the learner's file asks for it.

        >>> StandIns(Path("engine.py")).find_spec("math", None) is None
        True
        """
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
        """The stand-in itself.

        >>> StandIns(Path()).create_module(importlib.machinery.ModuleSpec("utils", None)).__name__
        'utils'
        """
        return _StandIn(spec.name, self)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run.

        >>> StandIns(Path()).exec_module(ModuleType("utils"))
        """

    def notes(self) -> tuple[Message, ...]:
        """What is missing, in words.

        >>> StandIns(Path()).notes()
        ()
        """
        return tuple(
            say("{name} is not installed here: an empty stand-in took its place", name=name) for name in self.names
        )


class _StandIn(ModuleType):
    """Accepts every attribute and call that a drawing package might be asked for, and has no values.

    >>> stand_ins = StandIns(Path())
    >>> dot = _StandIn("graphviz", stand_ins).Digraph(format="svg")
    >>> stand_ins.loading = False
    >>> dot.node(name="a") is None
    False
    >>> list(_StandIn("utils", stand_ins).topo_sort([]))
    Traceback (most recent call last):
    ...
    gradwalk.diagnose.stand_ins.NotHere: it needs utils.topo_sort, which is not here
    """

    __path__: MutableSequence[str] = []  # noqa: RUF012 - what makes a module a package

    def __init__(self, name: str, finder: StandIns) -> None:
        super().__init__(name)
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _StandIn(f"{self.__name__}.{name}", self._finder)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):  # a decorator keeps its function
            return args[0]
        return self

    def __instancecheck__(self, thing: Any) -> bool:
        return False

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    def __iter__(self) -> Any:
        self._value()
        return iter(())

    def __len__(self) -> int:
        self._value()
        return 0

    def __float__(self) -> float:
        raise NotHere(self.__name__)

    def _value(self, *_: Any) -> Any:
        """What comes of an operator: while the file is loaded, the stand-in again."""
        if not self._finder.loading:
            raise NotHere(self.__name__)
        return self


_StandIn.__module__, _StandIn.__qualname__ = "missing", "StandIn"  # as an error of the learner's shows it
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    for _operator in (f"__{_name}__", f"__r{_name}__"):
        setattr(_StandIn, _operator, _StandIn._value)
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "getitem", "reversed", "contains", "int"):
    setattr(_StandIn, f"__{_name}__", _StandIn._value)


def has_stand_ins(namespace: Mapping[str, Any]) -> bool:
    """Whether something in a namespace is of a module that is missing.

    >>> has_stand_ins({"x": 1}), has_stand_ins({"draw": _StandIn("graphviz", StandIns(Path())).Digraph})
    (False, True)
    """
    return any(isinstance(x, _StandIn) for x in list(namespace.values()))
