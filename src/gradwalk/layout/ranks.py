"""Which column a box stands in: every box after all of its operands, and the lines between them short.

Each box first goes as far towards the root as it can. Then whole pieces move back: a piece is a box with everything
that reaches the root only through it. Moving a piece shortens the lines that enter it and lengthens those that leave,
so it pays if more enter. This is near the least total length that network simplex finds (a test compares the two) and
takes milliseconds where that takes minutes.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["neighbours", "ranks"]

Edge = tuple[int, int]
SWEEPS = 6  # more changes nothing on any graph that was tried


def neighbours(n: int, edges: Sequence[Edge]) -> tuple[list[list[int]], list[list[int]]]:
    """For each of `n` vertices where edges to it come from, and where edges from it lead.

    >>> neighbours(3, [(0, 2), (1, 2)])
    ([[], [], [0, 1]], [[2], [2], []])
    """
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        after[u].append(v)
        before[v].append(u)
    return before, after


def ranks(n: int, edges: Sequence[Edge]) -> list[int]:
    """The column of each of `n` boxes, from 0 up; they are numbered in topological order.

    >>> ranks(4, [(0, 1), (1, 3), (2, 3)])
    [0, 1, 1, 2]
    """
    below, above = neighbours(n, edges)  # what a box uses, and who uses it
    rank = [0] * n
    for v in reversed(range(n)):
        rank[v] = min((rank[w] for w in above[v]), default=1) - 1
    tree = Pieces(n, above)
    for sweep in range(SWEEPS):
        # Leaves follow whoever uses them, so at first they hold nobody back.
        holds = [sweep > 0 or bool(below[v]) for v in range(n)]
        moved = _move_pieces(rank, edges, above, below, tree, holds)
        for v in reversed(range(n)):
            if above[v] and len(above[v]) >= len(below[v]):
                nearest = min(rank[w] for w in above[v]) - 1
                if nearest > rank[v] or not below[v]:
                    rank[v] = nearest
        if sweep and not moved:
            break
    first = min(rank, default=0)
    return [r - first for r in rank]


def _move_pieces(
    rank: list[int],
    edges: Sequence[Edge],
    above: list[list[int]],
    below: list[list[int]],
    tree: Pieces,
    holds: list[bool],
) -> bool:
    """Move every piece that gains by it back towards the leaves, as far as it can go."""
    entering = tree.entering([edge for edge in edges if holds[edge[0]]])
    moved = False
    for v in reversed(range(len(rank))):
        if entering[v] > len(above[v]):
            piece = tree.sequence[tree.start[v] : tree.end[v]]
            room = _room(rank, below, tree, holds, v, piece)
            if room > 0:
                moved = True
                for x in piece:
                    rank[x] -= room
    return moved


def _room(rank: list[int], below: list[list[int]], tree: Pieces, holds: list[bool], v: int, piece: list[int]) -> int:
    """How many columns the piece of `v` can move back before a line that enters it has no length left."""
    room = len(rank)
    start, end = tree.start[v], tree.end[v]
    for x in reversed(piece):  # what is deepest in the piece is likeliest to leave no room
        for u in below[x]:
            if holds[u] and not start <= tree.start[u] < end:
                room = min(room, rank[x] - rank[u] - 1)
                if room <= 0:
                    return 0
    return room


class Pieces:
    """For each box the piece of the graph that reaches the root only through it, as a stretch of one sequence.

    (In other words: the tree of immediate post-dominators, numbered so that a subtree is a slice.)
    """

    def __init__(self, n: int, above: list[list[int]]) -> None:
        self.gate = _gates(n, above)
        inside: list[list[int]] = [[] for _ in range(n + 1)]
        for v in range(n):
            inside[self.gate[v]].append(v)
        self.sequence: list[int] = []
        self.start, self.end = [0] * (n + 1), [0] * (n + 1)
        ahead = [n]
        while ahead:
            v = ahead.pop()
            if v < 0:
                self.end[~v] = len(self.sequence)
                continue
            self.start[v] = len(self.sequence)
            self.sequence.append(v)
            ahead.append(~v)
            ahead += inside[v]

    def entering(self, edges: list[Edge]) -> list[int]:
        """For each box, how many of the lines end in its piece and begin outside of it."""
        found = [0] * len(self.gate)
        for u, v in edges:  # the line enters the piece of v, the one around it, and so on, up to one that holds u
            found[v] += 1
            found[self.gate[u]] -= 1
        for v in range(len(self.gate) - 1):
            found[self.gate[v]] += found[v]
        return found


def _gates(n: int, above: list[list[int]]) -> list[int]:
    """For each box the first one that all its ways to the root lead through; `n` stands for a point after all."""
    gate, depth = [n] * (n + 1), [0] * (n + 1)
    for v in reversed(range(n)):
        common = above[v][0] if above[v] else n
        for w in above[v]:
            while common != w:
                if depth[common] >= depth[w]:
                    common = gate[common]
                else:
                    w = gate[w]
        gate[v] = common
        depth[v] = depth[common] + 1
    return gate
