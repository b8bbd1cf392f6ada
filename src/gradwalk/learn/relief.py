"""The course's one ornament: the contour lines of a landscape, and a walk down it along gradwalk's own gradients.

Both are real. The height is a function of two numbers; the lines join points of equal height; each dot of the walk is a
step against the gradient that `backward()` gave. The walk says "done" where the ground is flat.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from gradwalk import Value, ops

__all__ = ["contours", "height", "material", "walk_down"]

WIDTH, HEIGHT, CELL = 1240, 600, 10  # the map's size and the grid that lines are found on, in points
SCALE = 200.0  # points for one unit of the landscape
LEVELS = [math.sinh(0.105 * step) / 1.5 for step in range(-16, 17)]  # closer where the ground is nearly flat

#: Hills and hollows: centre, depth, and how wide along each axis.
HILLS = (
    (3.45, 2.25, -1.55, 1.25, 0.85),
    (3.05, 0.25, 1.05, 0.85, 0.6),
    (0.95, 2.5, 0.75, 0.7, 0.75),
    (5.45, 2.65, 0.72, 0.8, 0.6),
    (0.65, 0.35, 0.62, 0.65, 0.5),
    (5.6, 0.35, 0.55, 0.5, 0.55),
)
#: Where the walks begin: one for each lesson in turn.
STARTS = (
    (3.62, 0.38), (5.1, 0.62), (2.42, 0.5), (4.45, 0.62), (5.35, 1.55),
    (1.85, 0.95), (2.05, 1.2), (4.85, 2.15), (3.1, 0.85),
)  # fmt: skip


def height(x: Any, y: Any) -> Any:
    """The height of the landscape at a point, for floats and for Values alike.

    >>> round(height(3.45, 2.25), 2) < round(height(3.05, 0.25), 2)
    True
    """
    total: Any = 0.05 * ((x - 3.4) ** 2 / 3 + (y - 2.0) ** 2) - 0.1  # a wide bowl, so that no ground is level
    for cx, cy, size, wide, tall in HILLS:
        distance = ((x - cx) / wide) ** 2 + ((y - cy) / tall) ** 2
        total = total + size * ops.exp(-distance)
    return total


def walk_down(x: float, y: float, *, rate: float = 0.11, most: int = 40) -> list[tuple[float, float]]:
    """Steps against the gradient from a point, until the ground is nearly flat; none is longer than a fifth of a unit.

    >>> path = walk_down(3.62, 0.38)
    >>> height(*path[-1]) < height(*path[0])
    True
    """
    path = [(x, y)]
    for _ in range(most):
        here = Value(x), Value(y)
        height(*here).backward()
        dx, dy = (-rate * value.grad for value in here)
        length = math.hypot(dx, dy)
        if length < 0.02:
            break
        shorter = min(1.0, 0.2 / length)
        x, y = x + dx * shorter, y + dy * shorter
        path.append((x, y))
    return path


def contours(level: float) -> list[list[tuple[int, int]]]:
    """The lines of one height, each a chain of points of the map, closed ones with the first point again at their end.

    >>> lines = contours(-1.2)
    >>> len(lines), lines[0][0] == lines[0][-1]
    (1, True)
    """
    return list(_chained(_crossings(level)))


def _crossings(level: float) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The short pieces in which a line crosses the cells of the grid."""
    columns, rows = WIDTH // CELL, HEIGHT // CELL
    grid = [[height(i * CELL / SCALE, j * CELL / SCALE) - level for i in range(columns + 1)] for j in range(rows + 1)]
    for j in range(rows):
        for i in range(columns):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            points = []
            for (i0, j0), (i1, j1) in zip(corners, [*corners[1:], corners[0]], strict=True):
                a, b = grid[j0][i0], grid[j1][i1]
                if (a < 0) != (b < 0):  # the line passes between these two corners: where, in proportion
                    t = a / (a - b)
                    points.append((round((i0 + t * (i1 - i0)) * CELL), round((j0 + t * (j1 - j0)) * CELL)))
            for first, second in zip(points[::2], points[1::2], strict=True):
                if first != second:
                    yield first, second


def _chained(pieces: Iterator[tuple[tuple[int, int], tuple[int, int]]]) -> Iterator[list[tuple[int, int]]]:
    """The pieces joined end to end."""
    joined: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for a, b in dict.fromkeys(pieces):
        joined[a].append(b)
        joined[b].append(a)
    loose = sorted(point for point, others in joined.items() if len(others) == 1)
    for start in [*loose, *sorted(joined)]:
        chain = [start]
        while joined[chain[-1]]:
            last = chain[-1]
            following = joined[last].pop()
            joined[following].remove(last)
            chain.append(following)
        if len(chain) > 2:
            yield chain


def material() -> dict[str, Any]:
    """The whole ornament for the site's build: one path for all lines, and the points of each walk.

    >>> found = material()
    >>> found["lines"].startswith("M"), len(found["walks"]) > 5
    (True, True)
    """
    lines = "".join(_drawn(chain) for level in LEVELS for chain in contours(level))
    walks = [[[round(x * SCALE), round(y * SCALE)] for x, y in walk_down(*start)] for start in STARTS]
    return {"width": WIDTH, "height": HEIGHT, "lines": lines, "walks": walks}


def _drawn(chain: list[tuple[int, int]]) -> str:
    """A chain as SVG: the first point, then steps from each to the next, without those that lie on the way."""
    middle = [
        b
        for a, b, c in zip(chain, chain[1:], chain[2:], strict=False)
        if (b[0] - a[0]) * (c[1] - b[1]) != (b[1] - a[1]) * (c[0] - b[0])
    ]
    kept = [chain[0], *middle, chain[-1]]
    steps = " ".join(f"{b[0] - a[0]} {b[1] - a[1]}" for a, b in pairwise(kept))
    return f"M{kept[0][0]} {kept[0][1]}l{steps}".replace(" -", "-")
