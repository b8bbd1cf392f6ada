"""The order within each column, with few crossings between neighbouring columns.

It begins as a search from the root comes to the boxes, operand by operand, which is how a person would write the graph
down, and is improved by sweeps: every box moves to the middle of its neighbours, then neighbours change places where
that removes crossings. Where lines still cross, other beginnings are tried (sweeps from the other end, a search from
the leaves), and one that leaves fewer crossings is taken.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from gradwalk.layout.ranks import Edge, neighbours

__all__ = ["ordered"]

Columns = list[list[int]]

MOST_SWEEPS, LEAST_SWEEPS = 12, 2
WORK = 20_000  # vertices × sweeps: about half a second
PATIENCE = 4  # sweeps without any gain after which there is little hope
LARGEST = 600  # vertices up to which other beginnings are tried, and neighbours change places again and again
SWAPS = 4  # times that neighbours may change places in a sweep


def ordered(rank: Sequence[int], edges: Sequence[Edge]) -> Columns:
    """Columns of vertices, ordered; every edge leads from one column to the next.

    >>> ordered([0, 0, 1, 1], [(0, 3), (1, 2)])
    [[0, 1], [3, 2]]
    """
    web = Web(rank, edges)
    sweeps = max(LEAST_SWEEPS, min(MOST_SWEEPS, WORK // len(rank)))
    crossings, columns = web.improved(web.searched(), sweeps, forth=True)
    for from_root, forth in ((True, False), (False, True), (False, False)):
        if crossings and len(rank) <= LARGEST:
            others, other = web.improved(web.searched(from_root=from_root), sweeps, forth=forth)
            if others < crossings:  # of equals the first is better: it reads as the program does
                crossings, columns = others, other
    return columns


class Web:
    """Vertices in columns and the edges between neighbouring columns."""

    def __init__(self, rank: Sequence[int], edges: Sequence[Edge]) -> None:
        self.rank = rank
        self.before, self.after = neighbours(len(rank), edges)

    def searched(self, *, from_root: bool = True) -> Columns:
        """The columns as a depth-first search meets them, from the last vertices or from the first."""
        columns: Columns = [[] for _ in range(max(self.rank) + 1)]
        seen = [False] * len(self.rank)
        behind, onwards = (self.after, self.before) if from_root else (self.before, self.after)
        ahead = [v for v in range(len(self.rank)) if not behind[v]]
        if not from_root:
            ahead.reverse()
        while ahead:
            v = ahead.pop()
            if not seen[v]:
                seen[v] = True
                columns[self.rank[v]].append(v)
                ahead += reversed(onwards[v])
        return columns

    def improved(self, columns: Columns, sweeps: int, *, forth: bool) -> tuple[int, Columns]:
        """The fewest crossings found in so many sweeps, and the columns that have them."""
        place = [0] * len(self.rank)
        for column in columns:
            for i, v in enumerate(column):
                place[v] = i
        best = self.crossings(columns, place), [list(column) for column in columns]
        last = 0  # the sweep that gained something
        for sweep in range(sweeps):
            if not best[0] or sweep - last > PATIENCE:
                break
            for column in columns if forth else reversed(columns):
                _to_the_middle(column, self.before if forth else self.after, place)
            forth = not forth
            for _ in range(SWAPS if len(self.rank) <= LARGEST else 1):
                if not self._swap_neighbours(columns, place):
                    break
            crossings = self.crossings(columns, place)
            if crossings < best[0]:
                best, last = (crossings, [list(column) for column in columns]), sweep
        return best

    def crossings(self, columns: Columns, place: list[int]) -> int:
        """How many pairs of edges cross."""
        total = 0
        for column in columns:
            ends: list[int] = []
            for u in column:
                for end in sorted(place[w] for w in self.after[u]):
                    total += len(ends) - bisect_right(ends, end)
                    insort(ends, end)
        return total

    def _swap_neighbours(self, columns: Columns, place: list[int]) -> bool:
        """Let neighbours change places where that removes crossings; whether any did."""
        swapped = False
        for column in columns:
            for i in range(len(column) - 1):
                v, w = column[i], column[i + 1]
                if _gain(self.before[v], self.before[w], place) + _gain(self.after[v], self.after[w], place) > 0:
                    column[i], column[i + 1] = w, v
                    place[v], place[w] = i + 1, i
                    swapped = True
        return swapped


def _gain(ends: list[int], others: list[int], place: list[int]) -> int:
    """How many crossings go, of edges to these ends and to the others, if the two vertices change places."""
    gain = 0
    for x in ends:
        at = place[x]
        for y in others:
            if at > place[y]:
                gain += 1
            elif at < place[y]:
                gain -= 1
    return gain


def _to_the_middle(column: list[int], neighbours: list[list[int]], place: list[int]) -> None:
    """Sort a column by the mean place of each vertex's neighbours; a vertex without any keeps its place."""
    free = [v for v in column if neighbours[v]]
    middle = {v: sum(place[x] for x in neighbours[v]) / len(neighbours[v]) for v in free}
    free.sort(key=middle.__getitem__)
    if len(free) == len(column):
        column[:] = free
    else:
        following = iter(free)
        column[:] = [next(following) if neighbours[v] else v for v in column]
    for i, v in enumerate(column):
        place[v] = i
