"""What stands around a function that is traced: `type` and `np.array` that know stand-ins, an `open` that is seen."""

from __future__ import annotations

import builtins
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any
from weakref import WeakSet

import numpy as np

from gradwalk.collecting import by_the_collector
from gradwalk.compile.trace.arrays import TracedArray, array_of
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.traced import Traced
from gradwalk.engine import Value
from gradwalk.turns import Turn

__all__ = ["AskedType", "arrays_made", "files_seen", "types_answered"]


class _Block:
    """A `with` block, for as long as it lasts: one that Ctrl-C breaks off may not come to say that it is over."""

    __slots__ = ("__weakref__", "files", "thread")

    def __init__(self) -> None:
        self.thread, self.files = get_ident(), list[str]()


_setting = Turn()  # what stands here is set for all threads, and put back by the last one that needs it
_asking: dict[int, WeakSet[_Block]] = {}  # namespaces that have our `type`, and who needs it
_watching: WeakSet[_Block] = WeakSet()  # who has files seen
_opens: list[Any] = []  # the `open` of builtins and of io meanwhile
_making: WeakSet[_Block] = WeakSet()  # who has arrays made
_makers: dict[str, Any] = {}  # NumPy's own functions that make arrays meanwhile, by their names


# --- types -----------------------------------------------------------------------------------------------------------


@contextmanager
def types_answered(namespaces: Iterable[dict[str, Any]]) -> Iterator[None]:
    """Let `AskedType` stand for the builtin `type` among these global names, unless they have one of their own.

    >>> names = {}
    >>> with types_answered([names]):
    ...     names["type"](3.0)
    <class 'float'>
    >>> names
    {}
    """
    asking = [names for names in namespaces if names.get("type", AskedType) is AskedType]
    block = _Block()
    try:
        with _setting:
            _answer(asking, block)
        yield
    finally:
        with _setting:  # another thread may be tracing among the same names
            _answer_no_longer(asking, block)


def _answer(asking: list[dict[str, Any]], block: _Block) -> None:
    for names in asking:
        _asking.setdefault(id(names), WeakSet()).add(block)
        names["type"] = AskedType


def _answer_no_longer(asking: list[dict[str, Any]], block: _Block) -> None:
    for names in asking:
        needing = _asking.get(id(names), WeakSet())
        needing.discard(block)
        if not needing:
            _asking.pop(id(names), None)
            names.pop("type", None)


class _AnyType(type):
    """Of `AskedType`: what is a type is one of these."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, type)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, type)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        x: Any = given[0] if len(given) == 1 and not named else None
        kind = type(x)
        if issubclass(kind, Number):
            return x._tracer.kind_asked(x)
        if issubclass(kind, Traced):
            return Value
        if getattr(kind, "many", False):
            return x.__class__
        if x is None and given != (None,):
            return type(*given, **named)
        return np.ndarray if kind is TracedArray else kind


class AskedType(metaclass=_AnyType):
    """Stands for `type` in functions that are traced: the type of a stand-in is that of what it stands for.

    >>> AskedType(3.0), isinstance(float, AskedType)
    (<class 'float'>, True)
    """


# --- files -----------------------------------------------------------------------------------------------------------


@contextmanager
def files_seen() -> Iterator[list[str]]:
    """The names of files that are opened for reading in a block, by this thread.

    >>> with files_seen() as seen:
    ...     open(__file__).close()
    >>> len(seen)
    1
    """
    block = _Block()
    try:
        with _setting:
            if builtins.open is not _watched:
                _opens[:] = builtins.open, io.open
            _watching.add(block)
            builtins.open = io.open = _watched
        yield block.files
    finally:
        with _setting:
            _watching.discard(block)
            if not _watching and builtins.open is _watched:
                builtins.open, io.open = _opens


def _watched(file: Any, mode: Any = "r", *args: Any, **options: Any) -> Any:
    if isinstance(mode, str) and ("r" in mode or "+" in mode):
        for block in list(_watching):
            if block.thread == get_ident() and not by_the_collector(sys._getframe()):
                block.files.append(str(file))
    return _opens[0](file, mode, *args, **options)


# --- arrays ----------------------------------------------------------------------------------------------------------


@contextmanager
def arrays_made() -> Iterator[None]:
    """Let `np.array`, `np.asarray` and the like make arrays of stand-ins that know their dtype, in a block."""
    block = _Block()
    try:
        with _setting:
            if np.array is not MAKING["array"]:
                _makers.update((name, getattr(np, name)) for name in MAKING)
            _making.add(block)
            vars(np).update(MAKING)
        yield
    finally:
        with _setting:
            _making.discard(block)
            if not _making and np.array is MAKING["array"]:
                vars(np).update(_makers)


def _made_by(name: str) -> Any:
    """A function of NumPy's that makes arrays, for stand-ins too."""

    def make(given: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        given = given.numpy() if getattr(type(given), "many", False) else given
        if isinstance(given, TracedArray) and given.ndim and given.is_already(dtype):
            return _makers[name](given, None, *args, **options).view(TracedArray)  # a copy where NumPy makes one
        found = array_of(given, dtype) if not args and options.keys() <= {"copy"} else None
        return _makers[name](given, dtype, *args, **options) if found is None else found

    return make


def _of_finite(given: Any, *args: Any, **options: Any) -> Any:
    """`np.asarray_chkfinite`, which does not look at objects."""
    made = MAKING["asarray"](given, *args, **options)
    if isinstance(made, TracedArray) and not np.isfinite(made).all():
        raise ValueError("array must not contain infs or NaNs")
    return made


def _full(shape: Any, given: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """`np.full` of a stand-in, which gives the array its dtype."""
    found = array_of(given, dtype) if not args and not options else None
    if found is None:
        return _makers["full"](shape, given, dtype, *args, **options)
    if isinstance(found, (Number, TracedArray)):
        return _makers["full"](shape, found.view(np.ndarray) if isinstance(found, TracedArray) else found, object).view(
            TracedArray
        )
    return _makers["full"](shape, found, dtype)


#: What stands for them meanwhile.
MAKING = {
    name: _made_by(name)
    for name in ("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require")
} | {"asarray_chkfinite": _of_finite, "full": _full}
