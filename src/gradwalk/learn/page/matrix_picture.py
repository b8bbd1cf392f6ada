"""Which node reads which, as a small picture: a matrix with a dot where the node of a row reads the node of a column.

Large graphs are drawn in shades: each cell stands for many rows and columns, and is darker the more dots fall into it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

__all__ = ["SHADES", "SIDE", "MatrixPicture", "matrix_picture"]

SIDE = 96  # cells, at most
SHADES = 4
MOST_CUTS = 64


class MatrixPicture(TypedDict):
    """`rows` of letters, one a cell: "." for nothing, 1 to 4 from light to dark; `cuts` are where a group begins.

    >>> matrix_picture(1, [[0], [1, 0]], [1, 2])
    {'side': 3, 'rows': ['...', '4..', '44.'], 'cuts': [1, 2]}
    """

    side: int
    rows: list[str]
    cuts: list[int]


def matrix_picture(leaves: int, reads: Sequence[Sequence[int]], groups: Sequence[int]) -> MatrixPicture:
    """The picture of a graph with its rows sorted by group; `reads` are the ids each row reads, leaves first.

    >>> matrix_picture(1, [[0], [0], [1]], [2, 1, 2])["rows"]
    ['....', '4...', '4...', '..4.']
    """
    order = sorted(range(len(reads)), key=lambda row: groups[row])  # rows of a group stay in their order
    place = list(range(leaves)) + [0] * len(reads)
    for position, row in enumerate(order):
        place[leaves + row] = leaves + position
    nodes = leaves + len(reads)
    side = min(nodes, SIDE)
    counts: Counter[tuple[int, int]] = Counter()
    for row, read in enumerate(reads):
        down = place[leaves + row] * side // nodes
        counts.update((down, place[x] * side // nodes) for x in read)
    most = max(counts.values(), default=1)
    cells = [["."] * side for _ in range(side)]
    for (down, across), n in counts.items():
        cells[down][across] = str(_shade(n, most))
    begins = [at for at, row in enumerate(order) if at == 0 or groups[row] != groups[order[at - 1]]]
    cuts = sorted({(leaves + at) * side // nodes for at in begins})
    return MatrixPicture(side=side, rows=["".join(row) for row in cells], cuts=cuts if len(cuts) <= MOST_CUTS else [])


def _shade(n: int, most: int) -> int:
    """Each shade is for twice to several times as many as the one before; one alone is dark where no cell has more."""
    if most == 1:
        return SHADES
    shade = SHADES
    while shade > 1 and n * (4.0 ** (SHADES - shade + 1)) < most * 2:
        shade -= 1
    return shade
