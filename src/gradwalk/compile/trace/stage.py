"""What stands around a function while it is traced: a `type` that knows what stand-ins are, an `open` that is seen."""

from __future__ import annotations

import builtins
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as np

from gradwalk.compile.trace.arrays import TracedArray
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.traced import Traced
from gradwalk.engine import Value

__all__ = ["AskedType", "files_seen", "types_answered"]


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
    asking = [names for names in namespaces if "type" not in names]
    for names in asking:
        names["type"] = AskedType
    try:
        yield
    finally:
        for names in asking:
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
    seen: list[str] = []
    thread = get_ident()
    before = builtins.open, io.open, os.open

    def watched(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if get_ident() == thread and isinstance(mode, str) and ("r" in mode or "+" in mode):
            seen.append(str(file))
        return before[0](file, mode, *args, **options)

    builtins.open = io.open = watched
    try:
        yield seen
    finally:
        builtins.open, io.open, os.open = before
