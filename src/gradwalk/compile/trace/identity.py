"""What nothing that stands for something else can answer: `is True` and `is False`.

Such questions are looked for in the code of the user's functions, before they are asked.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FrameType, FunctionType
from typing import Any

from gradwalk.provenance import is_users

__all__ = ["asks_identity", "is_asked_for_identity"]


def asks_identity(function: Any) -> bool:
    """Whether a function, or one that it has a name for, asks whether something is True or False.

    >>> asks_identity(lambda x: x is True), asks_identity(lambda x: x is None)
    (True, False)
    """
    return any(map(_asks, _codes_of(function)))


def is_asked_for_identity(known: dict[CodeType, bool]) -> bool:
    """Whether one of the user's functions that are running asks for True or False; `known` remembers what was found.

    >>> def f(x):
    ...     return is_asked_for_identity({}) is True
    >>> f(1)
    True
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        asks = known.get(code)
        if asks is None:
            users = is_users(code.co_filename)
            if not users and code.co_name == "_called":  # where the trace began
                return False
            named = _named_by(code, frame.f_globals.get, frame.f_locals.get) if users else ()
            asks = known[code] = any(map(_asks, named))
        if asks:
            return True
        frame = frame.f_back
    return False


def _codes_of(function: Any) -> Iterator[CodeType]:
    function = getattr(function, "__func__", function)
    if isinstance(function, FunctionType):
        inside: dict[str, Any] = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # not set yet
                inside[name] = cell.cell_contents
        yield from _named_by(function.__code__, function.__globals__.get, inside.get)


def _named_by(code: CodeType, outside: Callable[[str], Any], inside: Callable[[str], Any]) -> Iterator[CodeType]:
    """A code, what is written inside it, and that of functions that it has names for."""
    yield code
    yield from (constant for constant in code.co_consts if isinstance(constant, CodeType))
    for named in [*map(outside, code.co_names), *map(inside, code.co_freevars)]:
        if isinstance(named, FunctionType) and is_users(named.__code__.co_filename):
            yield named.__code__


@lru_cache(maxsize=1000)
def _asks(code: CodeType) -> bool:
    if not any(constant is True or constant is False for constant in code.co_consts):
        return False
    return any(step.opname == "IS_OP" for step in dis.get_instructions(code))
