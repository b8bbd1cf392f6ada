"""A graph computed anew on other leaves, in place: the same Values, the same ops, other numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradwalk.engine import Value

__all__ = ["compute", "put", "reason_not_to"]

Result = list[tuple[float, tuple[float | None, ...]]]  # for each node its data and its slopes


def reason_not_to(nodes: Sequence[Any]) -> str:
    """Why a graph cannot be computed anew: the first node that is not ours, or that no op made; empty if it can.

    >>> from gradwalk import Value
    >>> from gradwalk.notebook.recompute import reason_not_to
    >>> a = Value(2.0)
    >>> reason_not_to([a, a * 3]), reason_not_to([a, Value(4.0, (a,), "double", label="out")])
    ('', 'out was made by hand')
    """
    for place, node in enumerate(nodes):
        if not isinstance(node, Value):
            return f"node {place} is of another engine ({type(node).__module__})"
        closure = getattr(node, "closure", None)
        if node.operands and (closure is not None or node.primitive is None):
            return f"{node.label or f'node {place}'} was made by hand"
    return ""


def compute(nodes: Sequence[Any], leaves: Mapping[int, float]) -> Result:
    """What every node would hold, in topological order, with some leaves changed, by place; no node is touched.

    >>> from gradwalk import Value
    >>> from gradwalk.notebook.recompute import compute
    >>> a = Value(2.0)
    >>> compute([a, a * a], {0: 5.0})
    [(5.0, ()), (25.0, (5.0, 5.0))]
    """
    data: dict[int, float] = {}
    found: Result = []
    for place, node in enumerate(nodes):
        if not node.operands:
            found.append((leaves.get(place, node.data), ()))
        else:
            numbers = [data[id(x)] if id(x) in data else float(getattr(x, "data", x)) for x in node.inputs]
            out = node.primitive.forward(*numbers)
            local = node.primitive.local(*numbers, out)
            slopes = (None if was is None else now for was, now in zip(node.slopes, local, strict=True))
            found.append((out, tuple(slopes)))
        data[id(node)] = found[-1][0]
    return found


def put(nodes: Sequence[Any], found: Result) -> None:
    """Give every node its new data and slopes; gradients stay, for they belong to an earlier walk.

    >>> from gradwalk import Value
    >>> from gradwalk.notebook.recompute import compute, put
    >>> a = Value(2.0)
    >>> b = a * a
    >>> put([a, b], compute([a, b], {0: 5.0}))
    >>> b.backward()
    >>> b.data, a.grad
    (25.0, 10.0)
    """
    for node, (data, slopes) in zip(nodes, found, strict=True):
        node.data = data
        if not slopes:
            continue
        if isinstance(node._a, tuple):
            node._more.slopes = slopes
        else:
            node._da, node._db = slopes if len(slopes) == 2 else (slopes[0], None)
