"""Edges as lines of characters: which way each one goes through the gap between two columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradwalk.stepper.rows import Item

__all__ = ["DOWN", "LEFT", "RIGHT", "UP", "lay_tracks", "line", "nets"]

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8


@dataclass(eq=False)
class Net:
    """All that leaves one card or lane for the next column: it goes down one track and branches off."""

    source: int
    row: int
    ends: dict[tuple[int, int] | None, int] = field(default_factory=dict)  # edge (None: the lane that goes on) to row
    track: int | None = None  # None: straight through

    @property
    def span(self) -> tuple[int, int]:
        """The rows that its vertical line covers."""
        reach = [self.row, *self.ends.values()]
        return min(reach), max(reach)


def nets(layer: list[Item], edges_of: dict[int, list[tuple[tuple[int, int], Item, int]]]) -> list[Net]:
    """The nets that leave a column; `edges_of` gives the edges of a node: key, target, port.

    >>> a, b = Item(0, 0, False, 3), Item(1, 1, False, 3, y=1)
    >>> a.right.append(b)
    >>> nets([a], {0: [((1, 0), b, 1)]})[0].ends
    {(1, 0): 2}
    """
    found = []
    for item in layer:
        if not item.right:
            continue
        net = Net(item.node, item.y + item.exit)
        for other in item.right:
            if other.lane:
                net.ends[None] = other.y
        for key, target, port in edges_of[item.node]:
            if target.level == item.level + 1:
                net.ends[key] = target.y + port
        found.append(net)
    return found


def lay_tracks(found: list[Net]) -> int:
    """Give each net that changes rows a track of its own, or one it can share; gives the number of tracks.

    A net that ends in the row where another begins must turn right of it, or the two lines would run into one.

    >>> up, down = Net(0, row=1, ends={(2, 0): 4}), Net(1, row=4, ends={(3, 0): 1})
    >>> lay_tracks([up, down]), up.track, down.track
    (2, 0, 1)
    """
    bent = [net for net in found if net.span[0] != net.span[1]]
    waiting = {id(net): [a for a in bent if a is not net and a.row in net.ends.values()] for net in bent}
    placed: list[Net] = []
    while len(placed) < len(bent):
        left = [net for net in bent if net.track is None]
        free = [net for net in left if all(other.track is not None for other in waiting[id(net)])]
        net = min(free or left, key=lambda net: (net.span[1] - net.span[0], net.row))  # short ones first, on the left
        least = max((other.track + 1 for other in waiting[id(net)] if other.track is not None), default=0)
        while any(other.track == least and _touch(other, net) for other in placed):
            least += 1
        net.track = least
        placed.append(net)
    return max((net.track + 1 for net in placed if net.track is not None), default=0)


def _touch(a: Net, b: Net) -> bool:
    return a.span[0] <= b.span[1] and b.span[0] <= a.span[1]


def line(cells: dict[tuple[int, int], int], start: tuple[int, int], end: tuple[int, int]) -> None:
    """Draw a straight line into `cells`: to each place, the directions in which a line leaves it.

    >>> cells = {}
    >>> line(cells, (0, 0), (2, 0)); line(cells, (2, 0), (2, 1))
    >>> cells
    {(0, 0): 8, (1, 0): 12, (2, 0): 6, (2, 1): 1}
    """
    (x, y), (to_x, to_y) = start, end
    while (x, y) != (to_x, to_y):
        if x != to_x:
            step, out, back = (1 if to_x > x else -1, 0), *((RIGHT, LEFT) if to_x > x else (LEFT, RIGHT))
        else:
            step, out, back = (0, 1 if to_y > y else -1), *((DOWN, UP) if to_y > y else (UP, DOWN))
        cells[x, y] = cells.get((x, y), 0) | out
        x, y = x + step[0], y + step[1]
        cells[x, y] = cells.get((x, y), 0) | back
