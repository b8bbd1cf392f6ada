"""What stands where, along the way to the root and across it: columns of boxes, and of bends where lines pass.

A line that passes a column does so through a bend, which has a place of its own there, so no line ever runs over a
box. Lines that leave the same box share their bends: one trunk with branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gradwalk.drawing import cards
from gradwalk.drawing.ordering import ordered
from gradwalk.drawing.placing import placed
from gradwalk.drawing.ranks import ranks
from gradwalk.drawing.scene import Line, Scene

__all__ = ["BEND", "TWIN", "Arrangement", "Trunk"]

BOX_GAP, BEND_GAP = 18.0, 9.0  # across, to the next one
BEND = 2.0
LEAST_GAP, MOST_GAP = 46.0, 200.0  # along, between columns
STEEP = 0.22  # of the longest way across that a line goes between two columns: the gap it gets
TWIN = 14.0  # how far apart two lines between the same two boxes run


@dataclass
class Trunk:
    """The way of all lines that leave a box together: the box itself and its bends, by column.

    >>> from gradwalk.drawing.arrangement import Trunk
    >>> Trunk({0: 7}).lines
    []
    """

    vertices: dict[int, int]  # column -> vertex
    lines: list[int] = field(default_factory=list)


class Arrangement:
    """Columns of boxes and bends, and where each is along and across.

    >>> from gradwalk import Value
    >>> from gradwalk.drawing.arrangement import Arrangement
    >>> from gradwalk.drawing.by_node import read
    >>> a = Value(2.0)
    >>> found = Arrangement(read([(a + 1).exp() * a]), flat=True)
    >>> found.boxes, len(found.rank), len(found.columns)  # a's line passes two columns
    (5, 7, 4)
    """

    def __init__(self, scene: Scene, flat: bool) -> None:
        self.lines = scene.lines
        self.flat = flat
        self.boxes = len(scene.boxes)
        self.sizes = [cards.size(box) for box in scene.boxes]
        self.rank = ranks(self.boxes, [(line.source, line.target) for line in self.lines])
        self.repeat = _repeats(self.lines)
        self.trunks = self._trunks()
        self.columns = self._order()
        self._even_widths(scene)
        self.across = self._places_across()
        self.start, self.lead, self.end = self._places_along()
        self.exits = self._exits()

    def _trunks(self) -> dict[tuple[int, int], Trunk]:
        """The trunks by box, and by how often the box is used by one and the same other box."""
        farthest: dict[tuple[int, int], int] = {}
        trunks: dict[tuple[int, int], Trunk] = {}
        for i, line in enumerate(self.lines):
            key = line.source, self.repeat[i][0]
            farthest[key] = max(farthest.get(key, 0), self.rank[line.target])
            trunks.setdefault(key, Trunk({self.rank[line.source]: line.source})).lines.append(i)
        for key, trunk in trunks.items():
            for column in range(self.rank[key[0]] + 1, farthest[key]):
                trunk.vertices[column] = len(self.rank)
                self.rank.append(column)
        return trunks

    def _order(self) -> list[list[int]]:
        edges: dict[tuple[int, int], None] = {}
        for trunk in self.trunks.values():
            chain = list(trunk.vertices.values())
            edges.update(dict.fromkeys(pairwise(chain)))
        for i, line in enumerate(self.lines):  # in the order of operands
            edges[self.before(i), line.target] = None
        self.edges = list(edges)
        return ordered(self.rank, self.edges)

    def before(self, i: int) -> int:
        """The vertex in the column before a line's target: where its branch begins.

        >>> from gradwalk import Value
        >>> from gradwalk.drawing.arrangement import Arrangement
        >>> from gradwalk.drawing.by_node import read
        >>> Arrangement(read([Value(2.0).exp()]), flat=True).before(0)
        0
        """
        line = self.lines[i]
        return self.trunks[line.source, self.repeat[i][0]].vertices[self.rank[line.target] - 1]

    def _even_widths(self, scene: Scene) -> None:
        """Cards that stand above each other are equally wide."""
        if not self.flat:
            return
        for column in self.columns:
            cards_in_it = [v for v in column if v < self.boxes and scene.boxes[v].kind != "constant"]
            widest = max((self.sizes[v].width for v in cards_in_it), default=0)
            for v in cards_in_it:
                self.sizes[v] = cards.Size(widest, self.sizes[v].height, self.sizes[v].op)

    def _places_across(self) -> list[float]:
        before: list[list[int]] = [[] for _ in self.rank]
        after: list[list[int]] = [[] for _ in self.rank]
        for u, v in self.edges:
            after[u].append(v)
            before[v].append(u)
        bends = len(self.rank) - self.boxes
        sizes = [s.height if self.flat else max(s.width, s.op) for s in self.sizes] + [BEND] * bends
        return placed(self.columns, before, after, sizes, [BOX_GAP] * self.boxes + [BEND_GAP] * bends, self.boxes)

    def _places_along(self) -> tuple[list[float], list[float], list[float]]:
        """For each column where it begins, where its cards begin, and where it ends."""
        longest = [0.0] * len(self.columns)  # way across, and widest chip, between a column and the next
        chips = [0.0] * len(self.columns)
        for u, v in self.edges:
            longest[self.rank[u]] = max(longest[self.rank[u]], abs(self.across[u] - self.across[v]))
        for line in self.lines:
            room = (cards.chip_width(line.text) + 44 if self.flat else cards.CHIP_HEIGHT + 50) if line.text else 0.0
            chips[self.rank[line.target] - 1] = max(chips[self.rank[line.target] - 1], room)
        start, lead, end, x = [], [], [], 0.0
        for c, column in enumerate(self.columns):
            here = [self.sizes[v] for v in column if v < self.boxes]
            op = max((s.op if self.flat else cards.OP for s in here if s.op), default=0.0)
            start.append(x)
            lead.append(x + (op + cards.STUB if op else 0.0))
            end.append(lead[-1] + max((s.width if self.flat else s.height for s in here), default=0.0))
            x = end[-1] + max(LEAST_GAP, min(MOST_GAP, STEEP * longest[c]), chips[c])
        return start, lead, end

    def _exits(self) -> dict[tuple[int, int], float]:
        """How far from the middle of a box its line to another vertex leaves, if two lines lead to the same one.

        Then all its lines leave side by side, in the order of where they go, so that they do not cross at once.
        """
        leaving: dict[int, list[tuple[float, int, int]]] = {}  # where to, and the vertex and which line to it
        for i, line in enumerate(self.lines):
            if self.repeat[i][1] > 1:
                leaving[line.source] = []
        for (source, nth), trunk in self.trunks.items():
            if source in leaving:
                on = [v for v in trunk.vertices.values() if v >= self.boxes][:1]
                near = {self.lines[i].target for i in trunk.lines if self.before(i) == source}
                leaving[source] += [(self.across[v], v, nth) for v in (*on, *near)]
        exits = {}
        for source, ways in leaving.items():
            step = min(TWIN, (self.sizes[source].height if self.flat else self.sizes[source].width) / (len(ways) + 1))
            for k, (_, v, nth) in enumerate(sorted(ways)):
                exits[v, nth] = (k - (len(ways) - 1) / 2) * step
        return exits


def _repeats(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """For each line: the how-manyth between its two boxes it is, counting from 0, and of how many."""
    seen: dict[tuple[int, int], int] = {}
    which = []
    for line in lines:
        pair = line.source, line.target
        which.append(seen.get(pair, 0))
        seen[pair] = which[-1] + 1
    return [(nth, seen[line.source, line.target]) for nth, line in zip(which, lines, strict=True)]
