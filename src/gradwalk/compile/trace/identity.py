"""Whether code asks `is True` or `is False`, which nothing that stands for a truth can answer."""

from __future__ import annotations

import dis
import sys
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
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        return False
    inside: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not set yet
            inside[name] = cell.cell_contents
    return _asks_here(function.__code__, function.__globals__, inside)


def is_asked_for_identity(known: dict[CodeType, bool]) -> bool:
    """Whether one of the user's functions that are running does so; `known` remembers what was found.

    >>> def f(x):
    ...     return is_asked_for_identity({}) is True
    >>> f(1)
    True
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if is_users(code.co_filename):
            asks = known.get(code)
            if asks is None:
                asks = known[code] = _asks_here(code, frame.f_globals, frame.f_locals)
            if asks:
                return True
        elif code.co_name == "_called":  # where the trace began
            return False
        frame = frame.f_back
    return False


def _asks_here(code: CodeType, outside: dict[str, Any], inside: Any) -> bool:
    named = [outside.get(name) for name in code.co_names] + [inside.get(name) for name in code.co_freevars]
    return any(map(_asks, [code, *[x.__code__ for x in named if isinstance(x, FunctionType)]]))


@lru_cache(maxsize=1000)
def _asks(code: CodeType) -> bool:
    if not any(constant is True or constant is False for constant in code.co_consts):
        return False
    return any(step.opname == "IS_OP" for step in dis.get_instructions(code))
