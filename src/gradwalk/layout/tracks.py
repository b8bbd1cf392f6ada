"""A recorded graph as the page and the notebooks draw it: ranks along the walk, tracks across it.

A track is as wide as a card and the gap beside it, so one layout serves left to right and top to bottom, and every
width of a page. Constants have no card: they stand in the sign of the op that uses them. A constant tensor has too many
numbers for that, and has one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

from gradwalk.layout.columns import in_columns

if TYPE_CHECKING:
    from gradwalk.walk import Graph

__all__ = ["Layout", "layout_of"]

CARD, GAP = 0.8, 0.2  # of a track


class Layout(TypedDict):
    """Where each card stands, as [rank, track] by its id, and where lines that pass ranks bend, by "from>to".

    >>> sorted(layout_of(walk.graph_of(Value(2.0))))
    ['bends', 'spots']
    """

    spots: dict[str, list[float]]
    bends: dict[str, list[list[float]]]


def layout_of(graph: Graph) -> Layout:
    """The layout of a recorded graph.

    >>> a = Value(2.0)
    >>> found = layout_of(walk.graph_of((a.exp() + 1).log() * a))
    >>> found["spots"]["0"], found["bends"]
    ([0, 0.3], {'0>5': [[1, 0.6], [2, 0.6], [3, 0.6]]})
    """
    in_sign = (node.constant and not getattr(node.data, "shape", ()) for node in graph.nodes)
    return _layout(tuple(None if hidden else node.operands for hidden, node in zip(in_sign, graph.nodes, strict=True)))


@lru_cache(maxsize=16)
def _layout(operands: tuple[tuple[int, ...] | None, ...]) -> Layout:
    """By the operands of each node, None for a constant: a graph with other numbers keeps its places, and at once."""
    ids = [node for node, below in enumerate(operands) if below is not None]
    place = {node: i for i, node in enumerate(ids)}
    uses = ((place[x], place[node]) for node in ids for x in operands[node] or () if x in place)
    found = in_columns(len(ids), list(dict.fromkeys(uses)))
    half = [CARD / 2] * len(ids) + [0.0] * (len(found.rank) - len(ids))
    track = found.across(half, half, [GAP] * len(half), straight=1.0)  # lines curve; cards stand in the middle instead
    first = min(track)
    spots: list[list[float]] = [[rank, round(x - first, 3)] for rank, x in zip(found.rank, track, strict=True)]
    bends = {f"{ids[way[0]]}>{ids[way[-1]]}": [spots[bend] for bend in way[1:-1]] for way in found.ways if way[2:]}
    return Layout(spots={str(node): spots[i] for i, node in enumerate(ids)}, bends=bends)
