"""A graph computed again from its leaves, without the program that made it: what would the loss be over there?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradwalk import ops
from gradwalk.check.nodes import local
from gradwalk.doctor.order import has_closure
from gradwalk.engine import Value
from gradwalk.errors import GradwalkError
from gradwalk.ops import Op

__all__ = ["Replay"]

_BUILTIN = frozenset(ops.TABLE.values())
ONLY, ALL = -1, -2  # in the place of a second operand: there is none, and: look them all up


class Replay:
    """The arithmetic of a graph as a list of steps. `possible` is false where some node's function is not known.

    Leaves are read when it runs, so after an update it gives the loss on the same data with the new parameters.

    >>> from gradwalk import Value
    >>> from gradwalk.doctor.order import ordered
    >>> from gradwalk.doctor.replay import Replay
    >>> w = Value(2.0)
    >>> again = Replay(ordered(w * w + 1))
    >>> w.data = 3.0
    >>> again(), again({id(w): 4.0})
    (10.0, 17.0)
    """

    def __init__(self, order: Iterable[Value]) -> None:
        self.possible = True
        self._leaves: list[tuple[int, Value]] = []
        self._start: list[float] = []  # the numbers that do not move: constants; 0 for all else
        self._steps: list[tuple[int, Callable[..., float], int, int]] = []  # place, function, places of two operands
        self._long: dict[int, tuple[int, ...]] = {}  # the places of all operands, where they are more than two
        places: dict[int, int] = {}
        start, step = self._start.append, self._steps.append
        size = 0
        for v in order:
            a, b, kind = v._a, v._b, v.primitive
            if a is None:
                self._leaves.append((size, v))
            elif a.__class__ is not tuple and kind in _BUILTIN:
                i = places.get(id(a), -1)
                if i < 0:  # a constant
                    i, size = size, size + 1
                    start(a.data if isinstance(a, Value) else a)
                if b is None:
                    step((size, kind.value, i, ONLY))
                else:
                    j = places.get(id(b), -1)
                    if j < 0:
                        j, size = size, size + 1
                        start(b.data if isinstance(b, Value) else b)
                    step((size, kind.value, i, j))
            else:
                made = _function(v)
                if made is None:
                    self.possible = False
                    return
                function, arguments = made
                found = []
                for x in arguments:
                    known = places.get(id(x), -1)
                    if known < 0:
                        known, size = size, size + 1
                        start(x.data if isinstance(x, Value) else x)
                    found.append(known)
                self._long[size] = tuple(found)
                step((size, function, ALL, ALL))
            places[id(v)] = size
            start(0.0)
            size += 1

    def __call__(self, moved: Mapping[int, float] | None = None) -> float:
        """The root's number; `moved` holds other numbers for some leaves, by their ids."""
        numbers = self._start.copy()
        for place, v in self._leaves:
            numbers[place] = v.data if moved is None else moved.get(id(v), v.data)
        for place, function, i, j in self._steps:
            if j >= 0:
                numbers[place] = function(numbers[i], numbers[j])
            elif j == ONLY:
                numbers[place] = function(numbers[i])
            else:
                numbers[place] = function(*[numbers[i] for i in self._long[place]])
        return numbers[-1]


def _function(v: Value) -> tuple[Callable[..., float], tuple[Any, ...]] | None:
    """What a node computes and of what, if that can be known."""
    kind = v.primitive
    if isinstance(kind, Op):
        return (kind.value if kind in _BUILTIN else kind.forward), v.inputs
    if not has_closure(v):
        return None
    try:
        here = local(v)
    except GradwalkError:
        return None
    if here.function is None:
        return None
    arguments = tuple(here.operands[x] if isinstance(x, int) else x for x in here.arguments)
    return here.function.forward, arguments
