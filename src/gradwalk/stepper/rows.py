"""The layout in rows of characters: the columns that all drawings have, each card and lane at a row of its own.

Operands stand left of what uses them. An edge that jumps over columns gets a lane in each, so that it never runs
through a card.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from gradwalk.layout import in_columns
from gradwalk.walk import Graph

__all__ = ["edges_among", "in_rows", "ports"]


@dataclass(frozen=True)
class Edge:
    """From operand to node, as data flows; `position` tells a·a's two edges apart."""

    operand: int
    node: int
    position: int

    @property
    def key(self) -> tuple[int, int]:
        """What the edge is known by."""
        return self.node, self.position


@dataclass(eq=False)
class Item:
    """Something in a column: a card, or a lane for the edges of `node` that go further."""

    node: int
    level: int
    lane: bool
    height: int
    y: int = 0
    right: list[Item] = field(default_factory=list)  # what its edges lead to in the next column

    @property
    def exit(self) -> int:
        """The row at which edges leave, from its top."""
        return 1 if self.height > 1 else 0


def ports(count: int) -> list[int]:
    """The rows, from a card's top, at which its operands' edges arrive.

    >>> ports(1), ports(2), ports(3)
    ([1], [1, 2], [0, 1, 2])
    """
    return {1: [1], 2: [1, 2]}.get(count, [min(k, 2) for k in range(count)])


def edges_among(graph: Graph, places: Iterable[int]) -> list[Edge]:
    """The edges between some nodes of a graph.

    >>> a = Value(3.0)
    >>> edges_among(walk.graph_of(a * a), [0, 1])
    [Edge(operand=0, node=1, position=0), Edge(operand=0, node=1, position=1)]
    """
    here = set(places)
    return [
        Edge(operand, place, position)
        for place in sorted(here)
        for position, operand in enumerate(graph.nodes[place].operands)
        if operand in here
    ]


def in_rows(graph: Graph, places: Iterable[int], height: Callable[[int], int]) -> list[list[Item]]:
    """Cards and lanes by column, from the top down, each with its row; none lies on another.

    >>> a, b = Value(2.0), Value(3.0)
    >>> c = a * b
    >>> columns = in_rows(walk.graph_of(c + a), [0, 1, 2, 3], lambda place: 3)
    >>> [[(item.node, item.lane, item.y) for item in column] for column in columns]
    [[(0, False, 0), (1, False, 3)], [(0, True, 1), (2, False, 2)], [(3, False, 1)]]
    """
    places = sorted(places)
    place = {node: i for i, node in enumerate(places)}
    edges = edges_among(graph, places)
    found = in_columns(
        len(places), [(place[edge.operand], place[edge.node]) for edge in edges], [edge.operand for edge in edges]
    )
    items = {v: Item(node, found.rank[v], False, height(node)) for node, v in place.items()}
    for edge, way in zip(edges, found.ways, strict=True):
        items |= {v: Item(edge.operand, found.rank[v], True, 1) for v in way[1:-1] if v not in items}
    for u, v in found.edges:
        items[u].right.append(items[v])
    columns = [[items[v] for v in column] for column in found.order]
    for item, below in (pair for column in columns for pair in pairwise(column)):
        # A card's lower border may be the upper one of the card below; above a lane or a constant it needs its own.
        if item.height == 3 and (below.lane or graph.nodes[below.node].constant):
            item.height = 4
    up = [items[v].exit + 0.5 for v in range(len(items))]  # lines meet a card in the middle of a row
    down = [items[v].height - x for v, x in enumerate(up)]
    room = max(sum(item.height for item in column) for column in columns)
    at = found.across(up, down, [0.0] * len(items), room)
    for column, vertices in zip(columns, found.order, strict=True):
        top, left = 0, sum(item.height for item in column)
        for item, v in zip(column, vertices, strict=True):
            item.y = min(max(top, math.floor(at[v] - up[v] + 0.5)), room - left)
            top, left = item.y + item.height, left - item.height
    return columns
