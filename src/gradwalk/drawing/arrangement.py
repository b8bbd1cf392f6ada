"""What stands where in a drawing, along the way to the root and across it: columns of boxes, and of bends.

Lines that leave the same box share their bends: one trunk with branches.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradwalk.drawing import cards
from gradwalk.drawing.scene import Line, Scene
from gradwalk.layout import in_columns

__all__ = ["BEND", "TWIN", "Arrangement"]

BOX_GAP, BEND_GAP = 18.0, 9.0  # across, to the next one
BEND = 2.0
LEAST_GAP, MOST_GAP = 46.0, 200.0  # along, between columns
STEEP = 0.22  # of the longest way across that a line goes between two columns: the gap it gets
TWIN = 14.0  # how far apart two lines between the same two boxes run


class Arrangement:
    """Columns of boxes and bends, and where each is along and across.

    >>> a = Value(2.0)
    >>> found = Arrangement(scene_by_node([(a + 1).exp() * a]), flat=True)
    >>> found.boxes, len(found.rank), len(found.columns)  # a's line passes two columns
    (5, 7, 4)
    """

    def __init__(self, scene: Scene, flat: bool) -> None:
        self.lines = scene.lines
        self.flat = flat
        self.boxes = len(scene.boxes)
        self.sizes = [cards.size(box) for box in scene.boxes]
        self.repeat = _repeats(self.lines)
        #: The lines of each trunk, by box, and by how often the box is used by one and the same other box.
        self.trunks: dict[tuple[int, int], list[int]] = {}
        for i, line in enumerate(self.lines):
            self.trunks.setdefault((line.source, self.repeat[i][0]), []).append(i)
        found = in_columns(
            self.boxes,
            [(line.source, line.target) for line in self.lines],
            [(line.source, nth) for line, (nth, _) in zip(self.lines, self.repeat, strict=True)],
        )
        self.rank, self.ways, self.edges, self.columns = found.rank, found.ways, found.edges, found.order
        if flat:
            self._even_widths(scene)
        bends = len(self.rank) - self.boxes
        half = [(s.height if flat else max(s.width, s.op)) / 2 for s in self.sizes] + [BEND / 2] * bends
        self.across = found.across(half, half, [BOX_GAP] * self.boxes + [BEND_GAP] * bends)
        self.start, self.lead, self.end = self._places_along()
        self.exits = self._exits()

    def chain(self, trunk: list[int]) -> tuple[int, ...]:
        """The vertices of a trunk: the box its lines leave, and their bends.

        >>> Arrangement(scene_by_node([Value(2.0).exp()]), flat=True).chain([0])
        (0,)
        """
        return max((self.ways[i][:-1] for i in trunk), key=len)

    def _even_widths(self, scene: Scene) -> None:
        """Cards that stand above each other are equally wide."""
        for column in self.columns:
            cards_in_it = [v for v in column if v < self.boxes and scene.boxes[v].kind != "constant"]
            widest = max((self.sizes[v].width for v in cards_in_it), default=0)
            for v in cards_in_it:
                self.sizes[v] = cards.Size(widest, self.sizes[v].height, self.sizes[v].op)

    def _places_along(self) -> tuple[list[float], list[float], list[float]]:
        """For each column where it begins, where its cards begin, and where it ends."""
        longest = [0.0] * len(self.columns)  # way across, and widest chip, between a column and the next
        chips = [0.0] * len(self.columns)
        for u, v in self.edges:
            longest[self.rank[u]] = max(longest[self.rank[u]], abs(self.across[u] - self.across[v]))
        for line in self.lines:
            room = (
                (cards.chip_width(line.text, line.spread) + 44 if self.flat else cards.CHIP_HEIGHT + 50)
                if line.text
                else 0.0
            )
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
        leaving: dict[int, set[tuple[float, int, int]]] = {}  # where to, and the vertex and which line to it
        for (source, nth), trunk in self.trunks.items():
            ways = {(self.across[v], v, nth) for v in (self.ways[i][1] for i in trunk)}
            leaving.setdefault(source, set()).update(ways)
        twins = {line.source for line, (_, many) in zip(self.lines, self.repeat, strict=True) if many > 1}
        exits = {}
        for source in twins:
            ways = leaving[source]
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
