"""A graph as it is at this moment, in plain lists: gradwalk's own, micrograd's, or a learner's.

Nodes are numbered in topological order. Nothing is asked of a node but its operands; data, gradient, label, op and
local derivatives are taken where they are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradwalk import walk
from gradwalk.drawing.text import clean, cut, shown
from gradwalk.errors import GraphError
from gradwalk.ops import Op

__all__ = ["Snapshot", "checked_roots", "count", "in_order", "operands", "snapshot"]

_SYMMETRIC = (
    "+",
    "*",
)  # ops of two operands that engines which keep operands in a set know by one of them, as in a + a
_LONGEST_NAME = 40  # characters of an operand's label in the words about another node


@dataclass(frozen=True)
class Snapshot:
    """Every list is indexed by a node's number; `slopes[i]` lies beside `operands[i]`.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.snapshot import snapshot
    >>> a = Value(3.0, label="a")
    >>> taken = snapshot([a * a + 1])
    >>> taken.operands, taken.constant, taken.ops
    ([(), (0, 0), (), (1, 2)], [False, False, True, False], ['', '*', '', '+'])
    """

    nodes: list[Any]
    operands: list[tuple[int, ...]]
    slopes: list[tuple[float | None, ...]]
    labels: list[str]
    ops: list[str]
    constant: list[bool]
    roots: list[int]
    walked: bool  # whether a backward pass has left any gradient

    def data(self, i: int) -> Any:
        """The number a node holds.

        >>> from gradwalk import Value
        >>> from gradwalk.drawing.snapshot import snapshot
        >>> snapshot([Value(3.0)]).data(0)
        3.0
        """
        return getattr(self.nodes[i], "data", None)

    def grad(self, i: int) -> Any:
        """A node's gradient; None where none can be or none has arrived, which is not the same as 0.

        >>> from gradwalk import Value
        >>> from gradwalk.drawing.snapshot import snapshot
        >>> a = Value(3.0)
        >>> root = a * 2
        >>> snapshot([root]).grad(0)
        >>> root.backward()
        >>> snapshot([root]).grad(0)
        2.0
        """
        return None if self.constant[i] or not self.walked else getattr(self.nodes[i], "grad", None)

    def name(self, i: int) -> str:
        """What to call a node in words: its label, or else its number.

        >>> from gradwalk import Value
        >>> from gradwalk.drawing.snapshot import snapshot
        >>> taken = snapshot([Value(3.0, label="a") * 2])
        >>> taken.name(0), taken.name(2)
        ('a', '6')
        """
        return cut(self.labels[i], _LONGEST_NAME) or shown(self.data(i))


def snapshot(roots: Sequence[Any], names: Mapping[int, str] | None = None) -> Snapshot:
    """The graph below `roots`; `names` gives names, by id, to nodes that have no label.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.snapshot import snapshot
    >>> a = Value(3.0)
    >>> snapshot([a + 1, a * 2], {id(a): "w"}).labels
    ['w', '', '', '', '']
    """
    names = names or {}
    nodes = in_order(roots)
    places = {id(node): i for i, node in enumerate(nodes)}
    below = [tuple(places[id(x)] for x in operands(node)) for node in nodes]
    known = [_slopes(node, len(ids)) for node, ids in zip(nodes, below, strict=True)]
    reached = {places[id(root)] for root in roots}  # where some gradient may arrive: everywhere but at constants
    for ids, slopes in zip(below, known, strict=True):
        reached.update(ids if slopes is None else (x for x, s in zip(ids, slopes, strict=True) if s is not None))
    return Snapshot(
        nodes,
        below,
        [(None,) * len(ids) if slopes is None else slopes for ids, slopes in zip(below, known, strict=True)],
        [clean(getattr(node, "label", "") or names.get(id(node), "")) for node in nodes],
        [
            clean(getattr(node, "_op", "") or type(node).__name__) if ids else ""
            for node, ids in zip(nodes, below, strict=True)
        ],
        [not ids and i not in reached for i, ids in enumerate(below)],
        [places[id(root)] for root in roots],
        any(_not_zero(getattr(node, "grad", None)) for node in nodes),
    )


def _slopes(node: Any, count: int) -> tuple[float | None, ...] | None:
    """The local derivatives; None for a node whose `_backward` alone knows them."""
    if not count:
        return ()
    known = getattr(node, "local_derivatives", None)
    closure = getattr(node, "closure", None)
    if known is None or closure is not None or not isinstance(getattr(node, "_kind", None), Op):
        return None
    return tuple(known)


def _not_zero(gradient: Any) -> bool:
    gradient = getattr(gradient, "data", gradient)
    try:
        return gradient is not None and bool(gradient != 0)
    except Exception:  # a class of someone's own whose comparison raises or gives no truth
        return True


# --- finding the nodes -------------------------------------------------------------------------------------------


def operands(node: Any) -> Sequence[Any]:
    """What a node was computed from, in the same order every time.

    micrograd keeps operands in a set: their order is put right here, and a + a, which a set knows by one operand, has
    its two again.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.snapshot import operands
    >>> [x.data for x in operands(Value(2.0) * 3)]
    [2.0, 3.0]
    """
    found = walk.operands(node)
    if not found or not _keeps_a_set(node):
        return found
    if len(found) == 1:
        return found * 2 if getattr(node, "_op", "") in _SYMMETRIC else found
    return sorted(found, key=_looks)


def _keeps_a_set(node: Any) -> bool:
    for field in walk.OPERAND_FIELDS:
        found = getattr(node, field, None)
        if found is not None:
            return isinstance(found, (set, frozenset))
    return False


def _looks(node: Any) -> tuple[str, str, str]:
    return str(getattr(node, "label", "")), str(getattr(node, "_op", "")), repr(getattr(node, "data", ""))


def in_order(roots: Sequence[Any]) -> list[Any]:
    """Every node below `roots`, operands first.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.snapshot import in_order
    >>> a = Value(2.0)
    >>> [node.data for node in in_order([a + 1, a * 5])]
    [2.0, 1.0, 3.0, 5.0, 10.0]
    """
    if len(roots) == 1:
        return list(walk.topological(roots[0], operands))
    above = object()  # stands for a node that reads all the roots
    return list(walk.topological(above, lambda node: roots if node is above else operands(node)))[:-1]


def count(roots: Sequence[Any], enough: int) -> int:
    """How many nodes there are below `roots`; counting stops at `enough`.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.snapshot import count
    >>> a = Value(2.0)
    >>> count([a * a + 1], 1000), count([a * a + 1], 2)
    (4, 2)
    """
    seen = {id(root): root for root in roots}  # holds what it has seen, so that no id is used again
    ahead = list(seen.values())
    while ahead and len(seen) < enough:
        for x in walk.operands(ahead.pop()):
            if id(x) not in seen:
                seen[id(x)] = x
                ahead.append(x)
    return min(len(seen), enough)


def checked_roots(thing: Any) -> list[Any]:
    """One node, or the nodes of a list or tuple, as a list; anything else is an error.

    >>> from gradwalk.drawing.snapshot import checked_roots
    >>> checked_roots(3.0)
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: a drawing is of a Value, a list of Values or a model, not of float: 3.0
    """
    things = list(thing) if isinstance(thing, (list, tuple)) else [thing]
    for node in things:
        if not any(hasattr(node, field) for field in walk.OPERAND_FIELDS):
            kind = type(node).__name__
            raise GraphError(f"a drawing is of a Value, a list of Values or a model, not of {kind}: {node!r:.60}")
    if not things:
        raise GraphError("a drawing is of a Value, a list of Values or a model; the list is empty")
    return list({id(node): node for node in things}.values())
