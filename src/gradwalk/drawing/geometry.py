"""From a scene to places and paths. Only here is it known whether the root is to the right or below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from gradwalk.drawing import cards
from gradwalk.drawing.arrangement import BEND, TWIN, Arrangement
from gradwalk.drawing.scene import Line, Scene
from gradwalk.drawing.text import tenths

__all__ = ["Geometry", "geometry"]

Point = tuple[float, float]  # x, y; or along, across


@dataclass(frozen=True, slots=True)
class CardPlace:
    """Where a box is: the upper left corner of its card, the size of the card, the middle of its op and its width."""

    x: float
    y: float
    width: float
    height: float
    op: Point | None
    op_width: float


@dataclass(frozen=True, slots=True)
class Wire:
    """A stretch of line: points (first one, then three for each curve or one for each straight piece), and its lines.

    A trunk stands for several lines and has no head; a branch stands for one.
    """

    path: str
    lines: tuple[int, ...]
    head: Point | None
    chip: Point | None


@dataclass(frozen=True)
class Geometry:
    """Places of all boxes, and all wires, within width and height.

    >>> found = geometry(scene_by_node([Value(2.0) * 3]), "LR")
    >>> len(found.places), len(found.wires)
    (3, 2)
    """

    places: tuple[CardPlace, ...]
    wires: tuple[Wire, ...]
    width: float
    height: float


def geometry(scene: Scene, rankdir: str) -> Geometry:
    """A place for everything, the root to the right ("LR") or below ("TB").

    >>> flat, tall = (geometry(scene_by_node([Value(2.0).tanh().exp()]), way) for way in ("LR", "TB"))
    >>> flat.width > flat.height, tall.height > tall.width
    (True, True)
    """
    return Drafter(Arrangement(scene, rankdir == "LR")).drafted()


class Drafter:
    """Puts an arrangement down."""

    def __init__(self, arrangement: Arrangement) -> None:
        self.a = arrangement
        self.taken: dict[tuple[int, int], list[tuple[float, float, float]]] = {}  # chips so far, by neighbourhood

    def drafted(self) -> Geometry:
        places = tuple(map(self._place, range(self.a.boxes)))
        trunks = [self._trunk(lines) for lines in self.a.trunks.values() if len(self.a.chain(lines)) > 1]
        branches = [self._branch(i) for i in range(len(self.a.lines))]
        across = max((p.y + p.height if self.a.flat else p.x + p.width for p in places), default=0.0)
        across = max([across, *(self.a.across[v] + BEND for v in range(self.a.boxes, len(self.a.rank)))])
        size = (self.a.end[-1], across) if self.a.flat else (across, self.a.end[-1])
        return Geometry(places, (*trunks, *branches), *size)

    def _point(self, along: float, across: float) -> Point:
        return (along, across) if self.a.flat else (across, along)

    def _place(self, v: int) -> CardPlace:
        size, across, along = self.a.sizes[v], self.a.across[v], self.a.lead[self.a.rank[v]]
        x, y = (along, across - size.height / 2) if self.a.flat else (across - size.width / 2, along)
        op = None
        if size.op:
            op = self._point(along - cards.STUB - (size.op if self.a.flat else cards.OP) / 2, across)
        return CardPlace(x, y, size.width, size.height, op, size.op)

    def _leaves_at(self, v: int) -> float:
        """Along: where lines leave a vertex."""
        if v >= self.a.boxes:
            return self.a.end[self.a.rank[v]]
        size = self.a.sizes[v]
        return self.a.lead[self.a.rank[v]] + (size.width if self.a.flat else size.height)

    def _trunk(self, lines: list[int]) -> Wire:
        chain = self.a.chain(lines)
        aside = self.a.exits.get((chain[1], self.a.repeat[lines[0]][0]), 0.0)
        path = self._move(self._leaves_at(chain[0]), self.a.across[chain[0]] + aside)
        for u, v in pairwise(chain):
            path += self._hop(u, v, aside if u == chain[0] else 0.0) + self._line(self.a.end[self.a.rank[v]])
        return Wire(path, tuple(lines), None, None)

    def _branch(self, i: int) -> Wire:
        u, v = self.a.ways[i][-2:]
        which, many = self.a.repeat[i]
        exit = self.a.exits.get((v, which), 0.0) if u < self.a.boxes else 0.0
        entry = (which - (many - 1) / 2) * TWIN if u < self.a.boxes else 0.0
        path = self._move(self._leaves_at(u), self.a.across[u] + exit) + self._hop(u, v, exit, entry)
        reach, size = self.a.lead[self.a.rank[v]], self.a.sizes[v]
        if size.op:
            reach -= (size.op if self.a.flat else cards.OP) + cards.STUB
        aside = abs(entry) - (0.0 if self.a.flat else (size.op - cards.OP) / 2)
        if aside > 0 and size.op:  # as far as the round side of the op
            reach += cards.OP / 2 - math.sqrt(max(0.0, (cards.OP / 2) ** 2 - aside**2))
        if reach > self.a.start[self.a.rank[v]]:
            path += self._line(reach)
        chip = self._chip(u, v, exit, entry, self.a.lines[i]) if self.a.lines[i].text else None
        return Wire(path, (i,), self._point(reach, self.a.across[v] + entry), chip)

    def _hop(self, u: int, v: int, exit: float = 0.0, entry: float = 0.0) -> str:
        """From the end of one column to the start of the next, after a straight piece to that end."""
        a, b, p, q = self._ends(u, v, exit, entry)
        text = self._line(a) if a > self._leaves_at(u) else ""
        if abs(p - q) < 0.05:
            return text + self._line(b)
        points = (self._point((a + b) / 2, p), self._point((a + b) / 2, q), self._point(b, q))
        return text + "C" + " ".join(f"{tenths(x)} {tenths(y)}" for x, y in points)

    def _ends(self, u: int, v: int, exit: float, entry: float) -> tuple[float, float, float, float]:
        """Along: the end of the one column and the start of the next; across: where the hop begins and ends."""
        return (
            self.a.end[self.a.rank[u]],
            self.a.start[self.a.rank[v]],
            self.a.across[u] + exit,
            self.a.across[v] + entry,
        )

    def _move(self, along: float, across: float) -> str:
        x, y = self._point(along, across)
        return f"M{tenths(x)} {tenths(y)}"

    def _line(self, along: float) -> str:
        return f"{'H' if self.a.flat else 'V'}{tenths(along)}"

    def _chip(self, u: int, v: int, exit: float, entry: float, line: Line) -> Point:
        """A spot on the hop that no other chip covers; the middle if all are covered."""
        a, b, p, q = self._ends(u, v, exit, entry)
        wide = cards.chip_width(line.text, line.spread)
        aside = (cards.CHIP_HEIGHT if self.a.flat else wide) / 2  # chips of two lines side by side stand outside them
        spots = []
        for t in (0.5, 0.35, 0.65, 0.2, 0.8):
            s = 1 - t  # the point of the hop's curve at t
            along = s**3 * a + 3 * s * t * (a + b) / 2 + t**3 * b
            across = (s**3 + 3 * s * s * t) * p + (t**3 + 3 * s * t * t) * q
            spots.append(self._point(along, across + math.copysign(aside, entry) if entry else across))
        spot = next((spot for spot in spots if self._is_free(spot, wide)), spots[0])
        self.taken.setdefault((int(spot[0] // 160), int(spot[1] // 80)), []).append((*spot, wide))
        return spot

    def _is_free(self, spot: Point, wide: float) -> bool:
        column, row = int(spot[0] // 160), int(spot[1] // 80)
        near = ((column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1))
        return not any(
            abs(x - spot[0]) < (wide + w) / 2 + 6 and abs(y - spot[1]) < cards.CHIP_HEIGHT
            for cell in near
            for x, y, w in self.taken.get(cell, ())
        )
