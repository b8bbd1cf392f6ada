"""Plain numbers that a function reads from outside, by name: they are part of a trace, and a key of it."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from gradwalk.compile.trace.reach import names_read_by
from gradwalk.ops import Op

__all__ = ["as_they_are", "numbers_read_by"]

FROZEN = (float, int, bool, str)  # a global or captured name that holds one of these is part of a trace


def numbers_read_by(fn: Any) -> list[tuple[dict[str, Any], str]]:
    """Plain numbers and texts that a function reads from outside: where, and under which name.

    >>> scale = 2.0
    >>> [name for _, name in numbers_read_by(eval("lambda x: scale * x", {"scale": scale}))]
    ['scale']
    """
    found: list[tuple[dict[str, Any], str]] = []
    seen: set[int] = set()
    ahead = [getattr(fn, "__func__", fn)]
    while ahead:
        function = ahead.pop()
        if (
            not isinstance(function, FunctionType)
            or id(function) in seen
            or (function.__module__ or "").split(".")[0] == "gradwalk"
        ):
            continue
        seen.add(id(function))
        for name in names_read_by(function):
            outside = function.__globals__.get(name)
            if outside.__class__ in FROZEN and (function.__globals__, name) not in found:
                found.append((function.__globals__, name))
            ahead += _functions_in(outside)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            captured = _Cell(cell)
            inside = captured.get(name)
            if inside.__class__ in FROZEN:
                found.append((captured, name))
            ahead += _functions_in(inside)
    return found


def as_they_are(places: list[tuple[dict[str, Any], str]]) -> tuple[Any, ...]:
    """What stands in these places now.

    >>> as_they_are([({"scale": 2.0}, "scale")])
    (2.0,)
    """
    found = [namespace.get(name) for namespace, name in places]
    return tuple([x if x.__class__ in FROZEN else id(x) for x in found])


def _functions_in(x: Any) -> list[Any]:
    """The Python functions that a thing runs when it is called: itself, what it wraps, or the rules of an op."""
    if isinstance(x, Op):
        return [x.value, *x.partials]
    return [getattr(x, "__wrapped__", x)]


class _Cell(dict[str, Any]):
    """A captured variable, looked up like a global one."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:  # not set yet
            return default
