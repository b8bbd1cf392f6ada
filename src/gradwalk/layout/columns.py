"""Boxes in columns, with a bend wherever a line passes a column, so that no line ever runs over a box."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gradwalk.layout.ordering import ordered
from gradwalk.layout.placing import STRAIGHT, placed
from gradwalk.layout.ranks import neighbours, ranks

__all__ = ["Columns", "in_columns"]


@dataclass(frozen=True)
class Columns:
    """Vertices in columns: boxes first, then the bends of lines.

    `ways` has for each line the vertices it goes through, from one box to the other.

    >>> found = in_columns(3, [(0, 1), (1, 2), (0, 2)])
    >>> found.order, found.ways[2]
    ([[0], [1, 3], [2]], (0, 3, 2))
    """

    boxes: int
    rank: list[int]  # the column of each vertex
    ways: list[tuple[int, ...]]
    edges: list[tuple[int, int]]  # between neighbouring columns, each once
    order: list[list[int]]

    def across(
        self,
        up: Sequence[float],
        down: Sequence[float],
        gap: Sequence[float],
        room: float = math.inf,
        straight: float = STRAIGHT,
    ) -> list[float]:
        """Where each vertex stands across its column, given how far it reaches up and down and its gap to the next.

        >>> found = in_columns(3, [(0, 2), (1, 2)])
        >>> found.across([5, 5, 5], [5, 5, 5], [2, 2, 2])
        [5.0, 17.0, 11.0]
        """
        before, after = neighbours(len(self.rank), self.edges)
        return placed(self.order, before, after, up, down, gap, self.boxes, room, straight)


def in_columns(boxes: int, lines: Sequence[tuple[int, int]], trunks: Sequence[Hashable] | None = None) -> Columns:
    """Columns for boxes that are numbered in topological order, and for the lines between them, in reading order.

    Lines from a box that have the same trunk share their bends: one trunk with branches. Without `trunks`, each
    line between two boxes has bends of its own.

    >>> lines = [(0, 1), (1, 2), (2, 3), (0, 2), (0, 3)]
    >>> len(in_columns(4, lines).rank), len(in_columns(4, lines, [line[0] for line in lines]).rank)
    (7, 6)
    """
    trunks = lines if trunks is None else trunks
    rank = ranks(boxes, lines)
    farthest: dict[Hashable, int] = {}
    for (_, end), trunk in zip(lines, trunks, strict=True):
        farthest[trunk] = max(farthest.get(trunk, 0), rank[end])
    bends: dict[Hashable, list[int]] = {}
    ways = []
    for (start, end), trunk in zip(lines, trunks, strict=True):
        if trunk not in bends:
            between = range(rank[start] + 1, farthest[trunk])
            bends[trunk] = list(range(len(rank), len(rank) + len(between)))
            rank += between
        ways.append((start, *bends[trunk][: rank[end] - rank[start] - 1], end))
    edges = list(dict.fromkeys(edge for way in ways for edge in pairwise(way)))
    return Columns(boxes, rank, ways, edges, ordered(rank, edges))
