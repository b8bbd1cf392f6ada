"""Which Values a function can reach by itself, and a watch over them while it is traced.

A parameter keeps its number during a trace, so `p.data` inside the function would read it once and for all. The Values
that are found in the function's closure, its globals and its arguments get a class for that time which says so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gradwalk import modes
from gradwalk.compile.trace.limits import frozen
from gradwalk.engine import Value

__all__ = ["Watched", "names_read_by", "unwatched", "values_reached_from", "watched"]

PLAIN = (float, int, str, bool, bytes, complex, type(None))  # nothing is inside these
MOST = 2_000_000  # things to look at; beyond that a Value is simply not watched

_data, _grad = vars(Value.__mro__[1])["data"], vars(Value.__mro__[1])["grad"]  # the fields themselves


class Watched(Value):
    """A parameter while a function is traced: reading or setting its number is allowed, and said to be frozen.

    >>> from gradwalk import Value
    >>> from gradwalk.compile.trace.reach import Watched, unwatched, watched
    >>> w = Value(2.0)
    >>> found = watched([[w]])
    >>> type(w) is Watched, w.data
    (True, 2.0)
    >>> unwatched(found)
    >>> type(w) is Value
    True
    """

    __slots__ = ()

    @property
    def data(self) -> Any:
        """The number, with a warning while a function is traced.

        >>> import warnings
        >>> from gradwalk import Value
        >>> from gradwalk.compile.trace.tracer import trace
        >>> w = Value(2.0)
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     found = trace(lambda x: x * w.data, [1.0])
        >>> str(caught[0].message)[:36], found.parameters
        ('the number of a parameter was read (', [])
        """
        _say("the number of a parameter was read (.data, or a comparison)")
        return _data.__get__(self)

    @data.setter
    def data(self, data: Any) -> None:
        _say("the number of a parameter was set")
        _data.__set__(self, data)

    @property
    def grad(self) -> Any:
        """The gradient, with a warning while a function is traced.

        >>> import warnings
        >>> from gradwalk import Value
        >>> from gradwalk.compile.trace.tracer import trace
        >>> w = Value(2.0)
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     found = trace(lambda x: x * w.grad, [1.0])
        >>> str(caught[0].message)[:36]
        'the gradient of a parameter was read'
        """
        _say("the gradient of a parameter was read")
        return _grad.__get__(self)

    @grad.setter
    def grad(self, grad: Any) -> None:
        _say("the gradient of a parameter was set")
        _grad.__set__(self, grad)


def _say(what: str) -> None:
    if modes.active and modes.tracer() is not None:
        frozen(
            f"{what} while the function was traced: that happens once, and replays go by the number it was then",
            "compute with the Value itself, or do this outside the compiled function",
        )


def watched(roots: Sequence[Any]) -> list[Value]:
    """Put the Values that can be reached from `roots` under watch; gives them.

    >>> from gradwalk import Value
    >>> from gradwalk.compile.trace.reach import unwatched, watched
    >>> w = Value(1.0)
    >>> found = watched([lambda x: w * x])
    >>> len(found)
    1
    >>> unwatched(found)
    """
    found = [v for v in values_reached_from(roots) if not isinstance(v, Watched) and not v._a]
    for v in found:
        v.data  # noqa: B018 (one that native code owns is handed back)
        if v.__class__ is Value:
            v.__class__ = Watched
    return found


def unwatched(found: Sequence[Value]) -> None:
    """Let them go again.

    >>> from gradwalk.compile.trace.reach import unwatched
    >>> unwatched([])
    """
    for v in found:
        if type(v) is Watched:
            v.__class__ = Value  # type: ignore[assignment]


def values_reached_from(roots: Sequence[Any]) -> list[Value]:
    """Every Value in what the roots hold: containers, attributes, and what functions read from outside.

    >>> from gradwalk import nn
    >>> from gradwalk.compile.trace.reach import values_reached_from
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
    elif not isinstance(thing, (type, ModuleType)) and not _is_library(type(thing).__module__):
        yield from getattr(thing, "__dict__", {}).values()


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

    >>> from gradwalk.compile.trace.reach import names_read_by
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
