"""A graph computed again from its leaves, without the program that made it: what if other numbers stood there?

The doctor asks what an update did to the loss on the same data, `check_graph` nudges a leaf, and a notebook's widget
drags one. Each gives the nodes in order, operands first, the root last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwalk import ops

__all__ = ["Replay", "reason_not_to", "recompute", "write_back"]

Node = Any
Computed = tuple[Callable[..., float], Sequence[Any]]  # what a node computes, and of what: nodes and constants
Recomputed = list[tuple[float, tuple[float | None, ...]]]  # for each node its number and its slopes

_BUILTIN = frozenset(ops.TABLE.values())
_ONLY, _ALL = -1, -2  # in the place of a second operand: there is none, and: look them all up


class Replay:
    """The arithmetic of a graph as a list of steps. `unknown` is the place of the first node that cannot be computed.

    Leaves are read when it runs, so after an update it gives the loss on the same data with the new parameters. Of the
    nodes none but the leaves are kept. `function_of` tells of a node that no op made what it computes, None if it
    cannot; a leaf computes nothing, `(None, ())`.

    >>> w = Value(2.0)
    >>> again = Replay(list(walk.topological(w * w + 1)))
    >>> w.data = 3.0
    >>> again(), again({id(w): 4.0})
    (10.0, 17.0)
    """

    def __init__(
        self,
        order: Sequence[Node],
        function_of: Callable[[Node], Computed | tuple[None, tuple[()]] | None] | None = None,
    ) -> None:
        self.unknown: int | None = None
        self._leaves: list[tuple[int, Node]] = []
        self._size = len(order)
        self._constants: list[float] = []  # they stand behind the nodes
        # Of each step its place, function, and the places of two operands: four lists, as tuples would keep the
        # collector busy.
        self._places: list[int] = []
        self._functions: list[Callable[..., float]] = []
        self._firsts: list[int] = []
        self._seconds: list[int] = []
        self._long: dict[int, list[int]] = {}  # the places of all operands, where they are more than two
        step, compute = self._places.append, self._functions.append
        first, second, constant = self._firsts.append, self._seconds.append, self._constants.append
        size, places = self._size, {}
        for place, v in enumerate(order):
            op = getattr(v, "primitive", None)
            if op is not None:
                function, operands = op.value if op in _BUILTIN else op.forward, v.inputs
            else:
                known = function_of(v) if function_of else (None, ()) if v.is_leaf else None
                if known is None:
                    self.unknown = place
                    return
                function, operands = known
            places[id(v)] = place
            if function is None:
                self._leaves.append((place, v))
                continue
            step(place)
            compute(function)
            found = []
            for x in operands:
                at = places.get(id(x), -1)
                if at < 0:
                    at, size = size, size + 1
                    constant(x if x.__class__ is float else float(getattr(x, "data", x)))
                found.append(at)
            if len(found) == 2:  # nearly all
                first(found[0])
                second(found[1])
            elif len(found) == 1:
                first(found[0])
                second(_ONLY)
            else:
                self._long[place] = found
                first(_ALL)
                second(_ALL)

    def numbers(self, moved: Mapping[int, float] | None = None) -> list[float]:
        """What every node would hold; `moved` holds other numbers for some leaves, by their ids.

        >>> w = Value(2.0)
        >>> Replay([w, w * w]).numbers({id(w): 5.0})
        [5.0, 25.0]
        """
        numbers = [0.0] * self._size + self._constants
        for place, v in self._leaves:
            numbers[place] = v.data if moved is None or id(v) not in moved else moved[id(v)]
        for place, function, i, j in zip(self._places, self._functions, self._firsts, self._seconds, strict=True):
            if j >= 0:
                numbers[place] = function(numbers[i], numbers[j])
            elif j == _ONLY:
                numbers[place] = function(numbers[i])
            else:
                numbers[place] = function(*[numbers[i] for i in self._long[place]])
        return numbers[: self._size]

    def __call__(self, moved: Mapping[int, float] | None = None) -> float:
        """The root's number."""
        return self.numbers(moved)[-1]


def reason_not_to(order: Sequence[Node]) -> str:
    """Why a graph cannot be computed anew in place: a node that is not ours, or that no op made; empty if it can.

    >>> a = Value(2.0)
    >>> reason_not_to([a, a * 3]), reason_not_to([a, Value(4.0, (a,), "double", label="out")])
    ('', 'out was made by hand')
    """
    for place, v in enumerate(order):
        if not hasattr(v, "primitive"):
            return f"node {place} is of another engine ({type(v).__module__})"
        if not v.is_leaf and (v.closure is not None or v.primitive is None):
            return f"{v.label or f'node {place}'} was made by hand"
    return ""


def recompute(order: Sequence[Node], moved: Mapping[int, float]) -> Recomputed:
    """What every node of a graph made by ops would hold, with some leaves changed; no node is touched.

    >>> a = Value(2.0)
    >>> recompute([a, a * a], {id(a): 5.0})
    [(5.0, ()), (25.0, (5.0, 5.0))]
    """
    numbers = Replay(order).numbers(moved)
    at = {id(v): x for v, x in zip(order, numbers, strict=True)}
    found: Recomputed = []
    for v, number in zip(order, numbers, strict=True):
        point = [at[id(x)] if id(x) in at else float(getattr(x, "data", x)) for x in v.inputs]
        local = v.primitive.local(*point, number) if point else ()
        found.append((number, tuple(None if was is None else now for was, now in zip(v.slopes, local, strict=True))))
    return found


def write_back(order: Sequence[Node], found: Recomputed) -> None:
    """Give every node its new number and slopes; gradients stay, for they belong to an earlier walk.

    >>> a = Value(2.0)
    >>> b = a * a
    >>> write_back([a, b], recompute([a, b], {id(a): 5.0}))
    >>> b.backward()
    >>> b.data, a.grad
    (25.0, 10.0)
    """
    for v, (number, slopes) in zip(order, found, strict=True):
        v.data = number
        if slopes:
            v.slopes = slopes
