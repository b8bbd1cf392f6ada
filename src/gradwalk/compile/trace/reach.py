"""Which Values can be reached: by a function, in its closure, globals and arguments, and by what it left behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gradwalk.engine import Value

__all__ = ["names_read_by", "values_reached_from"]

PLAIN = (float, int, str, bool, bytes, complex, type(None))  # nothing is inside these
MOST = 2_000_000  # things to look at


def values_reached_from(roots: Sequence[Any]) -> list[Value]:
    """Every Value in what the roots hold: containers, attributes, and what functions read from outside.

    >>> model = nn.MLP(2, [3, 1])
    >>> len(values_reached_from([lambda x: model(x)])) == len(model.parameters())
    True
    """
    seen: dict[int, Any] = {}  # holds what it has seen, so that no id is used again
    found: list[Value] = []
    ahead = list(roots)
    while ahead and len(seen) < MOST:
        thing = ahead.pop()
        if thing.__class__ in PLAIN or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(thing, Value):
            found.append(thing)
            continue
        ahead.extend(_inside(thing))
    return found


def _inside(thing: Any) -> Iterator[Any]:
    if isinstance(thing, (list, tuple)):
        if not (thing and thing[0].__class__ in PLAIN and thing[-1].__class__ in PLAIN):  # data, as a rule long
            yield from thing
    elif isinstance(thing, dict):
        yield from thing.values()
    elif isinstance(thing, (set, frozenset)):
        yield from thing
    elif isinstance(thing, MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, FunctionType):
        if not _is_library(thing.__module__):
            yield from (cell.cell_contents for cell in thing.__closure__ or () if _is_filled(cell))
            yield from thing.__defaults__ or ()
            yield from (thing.__kwdefaults__ or {}).values()
            yield from (thing.__globals__[name] for name in names_read_by(thing) if name in thing.__globals__)
            if hasattr(thing, "__wrapped__"):
                yield thing.__wrapped__
    elif isinstance(thing, type):
        if not _is_library(thing.__module__):
            yield from list(vars(thing).values())
    elif not isinstance(thing, ModuleType) and not _is_library(type(thing).__module__):
        yield type(thing)
        held = getattr(thing, "__dict__", None)
        yield from held.values() if isinstance(held, dict) else ()


def _is_library(module: str | None) -> bool:
    """Whether a module cannot hold Values of the user's: the standard library, NumPy and the like."""
    top = (module or "").split(".")[0]
    return top in sys.stdlib_module_names - {"__main__"} or top in ("numpy", "numba", "torch", "jax", "matplotlib")


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def names_read_by(function: FunctionType) -> list[str]:
    """The global names in a function's code, those of functions written inside it included.

    >>> names_read_by(lambda x: abs(x) + max(x, 0))
    ['abs', 'max']
    """
    names: dict[str, None] = {}
    ahead = [function.__code__]
    while ahead:
        code = ahead.pop()
        names.update(dict.fromkeys(code.co_names))
        ahead.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return list(names)
