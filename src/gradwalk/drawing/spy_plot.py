"""A graph as a matrix: a dot where the node of a row reads the node of a column. For graphs too large to draw.

Leaves come first, then every computed node after all that it reads, so dots lie below the diagonal. A computation that
is repeated shows as a pattern that is repeated; a strip at the left edge is a reading of the parameters.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from typing import Any, ClassVar

from gradwalk.drawing.drawn_graph import checked_roots, nodes_below
from gradwalk.drawing.picture import Picture
from gradwalk.drawing.svg import frame, images
from gradwalk.drawing.text import xml
from gradwalk.drawing.theme import SHADES, shades
from gradwalk.files import checked_theme
from gradwalk.ieee import whole
from gradwalk.messages import counted
from gradwalk.walk import stable_operands

__all__ = ["Spy", "spy"]

TOP, LEFT, RIGHT, BOTTOM = 58, 84, 40, 76  # around the matrix
SMALLEST, LARGEST = 50, 4000  # pixels a side
LEAST_WIDTH = 540  # of the whole, so that the words around the matrix have room


class Spy(Picture):
    """The matrix of a graph; it shows itself in a notebook, and `save` writes it to a file.

    >>> a = Value(2.0)
    >>> matrix = spy(a * a + 1)
    >>> matrix
    Spy plot of 4 nodes, 4 edges; in a notebook it shows itself, .save("graph.png") keeps it
    >>> [list(row) for row in matrix.rows]
    [[0, 0, 0, 0], [0, 0, 0, 0], [6, 0, 0, 0], [0, 5, 5, 0]]
    """

    formats: ClassVar[tuple[str, ...]] = ("png", "svg", "html")
    noun: ClassVar[str] = "a spy plot"
    format = "png"

    def __init__(self, nodes: int, leaves: int, edges: int, counts: dict[int, int], pixels: int, dot: int, theme: str):
        self.nodes = nodes
        self.leaves = leaves
        self.edges = edges
        self.theme = theme
        self.pixels = pixels  # dots of the matrix, a side: as many as there are nodes, or fewer
        self.dot = dot  # how large a dot is shown, a side
        self.side = pixels * dot
        self.most = max(counts.values(), default=1)
        begins = {math.ceil((self.most + 1) ** (k / SHADES) - 1e-9) for k in range(SHADES)}
        self.begins = sorted(n for n in begins if n <= self.most)  # the least number of edges of each shade
        self.lightest = SHADES - len(self.begins)  # few shades are the dark ones
        rows = [bytearray(pixels) for _ in range(pixels)]
        for place, n in counts.items():
            rows[place // pixels][place % pixels] = self.lightest + bisect_right(self.begins, n)
        self.rows = [bytes(row) for row in rows]

    @property
    def summary(self) -> str:
        """What is shown, in a few words.

        >>> spy(Value(2.0) * 3).summary
        '3 nodes, 2 edges'
        """
        return f"{counted(self.nodes, 'node')}, {counted(self.edges, 'edge')}"

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels.

        >>> spy(Value(2.0) * 3, size=600).size
        (724, 734)
        """
        return max(LEFT + self.side + RIGHT, LEAST_WIDTH), TOP + self.side + BOTTOM

    def __repr__(self) -> str:
        return f'Spy plot of {self.summary}; in a notebook it shows itself, .save("graph.png") keeps it'

    def _svg(self, theme: str, *, notebook: bool = False) -> str:
        words, across = f"{self.summary}; {self.leaves:,} leaves first", self.nodes / self.pixels
        if across > 1:
            words += f"; a dot stands for {across:.3g} × {across:.3g} nodes"
        dots = [b"".join(bytes([shade]) * self.dot for shade in row) for row in self.rows for _ in range(self.dot)]
        place = f'x="{LEFT}" y="{TOP}" width="{self.side}" height="{self.side}"'
        parts = [
            f'<text class="gw-label" x="{LEFT}" y="26">Which node reads which</text>',
            f'<text class="gw-note" x="{LEFT}" y="45">{xml(words)}</text>',
            *self._axes(),
            images(dots, lambda palette: [palette["surface"], *shades(palette)], place, theme),
            *self._legend(),
        ]
        return frame("".join(parts), *self.size, self.summary, theme=theme, notebook=notebook)

    def _axes(self) -> list[str]:
        parts = [f'<rect class="gw-frame" x="{LEFT}" y="{TOP}" width="{self.side}" height="{self.side}"/>']
        for n in _ticks(self.nodes):
            at = round(n * self.side / self.nodes, 1)
            parts.append(f'<text class="gw-tick" x="{LEFT - 8}" y="{TOP + at + 4:.1f}">{n:,}</text>')
            parts.append(
                f'<path class="gw-rule" d="M{LEFT - 4} {TOP + at:.1f}h4M{LEFT + at:.1f} {TOP + self.side}v4"/>'
            )
            parts.append(f'<text class="gw-middle" x="{LEFT + at:.1f}" y="{TOP + self.side + 17}">{n:,}</text>')
        first = round(self.leaves * self.side / self.nodes, 1)  # where computed nodes begin
        if 6 < first < self.side - 6:
            down, across = f"M{LEFT + first:.1f} {TOP}v{self.side}", f"M{LEFT} {TOP + first:.1f}h{self.side}"
            parts.append(f'<path class="gw-rule" d="{down}{across}"/>')
        middle = TOP + self.side / 2
        parts.append(
            f'<text class="gw-middle" transform="translate(18 {middle:g}) rotate(-90)">the node that reads</text>'
        )
        parts.append(
            f'<text class="gw-middle" x="{LEFT + self.side / 2:g}" y="{TOP + self.side + 38}">the node it reads</text>'
        )
        return parts

    def _legend(self) -> list[str]:
        """Shades, and how many edges a dot of each stands for; none if every dot is one edge."""
        if self.most == 1:
            return []
        x, y = LEFT + 96, TOP + self.side + 50
        parts = [f'<text class="gw-note" x="{LEFT}" y="{y + 11}">edges in a dot</text>']
        ends = [n - 1 for n in self.begins[1:]] + [self.most]
        for shade, (fewest, most) in enumerate(zip(self.begins, ends, strict=True), start=self.lightest + 1):
            span = f"{fewest:,}" if fewest == most else f"{fewest:,}–{most:,}"
            parts.append(f'<rect class="gw-shade{shade}" x="{x}" y="{y}" width="14" height="14"/>')
            parts.append(f'<text class="gw-note" x="{x + 19}" y="{y + 11}">{span}</text>')
            x += 38 + 7 * len(span)
        return parts


def spy(root: Any, *, size: int = 720, theme: str = "auto") -> Spy:
    """The matrix of the graph below a node, or below several: a dot where the node of a row reads that of a column.

    `size` is the side of the matrix in pixels, about; a graph of more nodes than that has many nodes to a dot.

    >>> x = Value(1.0)
    >>> for _ in range(5000):
    ...     x = x * 1.0001 + 0.5
    >>> spy(x).summary
    '20,001 nodes, 20,000 edges'
    """
    size, theme = whole("size, in pixels,", size, SMALLEST, LARGEST), checked_theme(theme)
    nodes = nodes_below(checked_roots(root))
    reads = [stable_operands(node) for node in nodes]
    place: dict[int, int] = {}
    for node, before in zip(nodes, reads, strict=True):
        if not before:
            place[id(node)] = len(place)
    leaves = len(place)
    for node, before in zip(nodes, reads, strict=True):
        if before:
            place[id(node)] = len(place)
    n, pixels = len(nodes), min(size, len(nodes))
    counts: Counter[int] = Counter()  # how many edges fall on each pixel, by row × pixels + column
    for node, before in zip(nodes, reads, strict=True):
        row = place[id(node)] * pixels // n * pixels
        counts.update(row + place[id(x)] * pixels // n for x in before)
    return Spy(len(nodes), leaves, sum(map(len, reads)), counts, pixels, size // pixels, theme)


def _ticks(n: int) -> list[int]:
    """Round numbers of nodes, about six of them, from 0 to at most `n`."""
    step = 10 ** math.floor(math.log10(max(n / 4, 1)))
    step = next(step * k for k in (1, 2, 5, 10) if n / (step * k) <= 7)
    return list(range(0, n + 1, max(1, step)))
