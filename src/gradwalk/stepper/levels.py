"""Which column each node stands in, which order within a column, and which row: a layered drawing, step by step.

Operands stand left of what uses them. An edge that jumps over columns gets a lane in each, so that it never runs
through a card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gradwalk.walk import Graph

__all__ = ["Edge", "Item", "columns", "edges_among", "ports", "rows"]

SWEEPS = 6  # there and back; more change nothing on graphs that fit a terminal


@dataclass(frozen=True)
class Edge:
    """From operand to node, as data flows; `position` tells a·a's two edges apart.

    >>> from gradwalk.stepper.levels import Edge
    >>> Edge(0, 2, 1).key
    (2, 1)
    """

    operand: int
    node: int
    position: int

    @property
    def key(self) -> tuple[int, int]:
        """What the edge is known by.

        >>> from gradwalk.stepper.levels import Edge
        >>> Edge(operand=0, node=2, position=1).key
        (2, 1)
        """
        return self.node, self.position


@dataclass(eq=False)
class Item:
    """Something in a column: a card, or a lane for the edges of `node` that go further.

    >>> from gradwalk.stepper.levels import Item
    >>> Item(3, level=1, lane=True, height=1).exit
    0
    """

    node: int
    level: int
    lane: bool
    height: int
    y: int = 0
    left: list[tuple[Item, int, int]] = field(default_factory=list)  # who, their row offset, ours
    right: list[tuple[Item, int, int]] = field(default_factory=list)

    @property
    def exit(self) -> int:
        """The row at which edges leave, from its top.

        >>> from gradwalk.stepper.levels import Item
        >>> Item(3, level=1, lane=False, height=3).exit
        1
        """
        return 1 if self.height > 1 else 0


def ports(count: int) -> list[int]:
    """The rows, from a card's top, at which its operands' edges arrive.

    >>> from gradwalk.stepper.levels import ports
    >>> ports(1), ports(2), ports(3)
    ([1], [1, 2], [0, 1, 2])
    """
    return {1: [1], 2: [1, 2]}.get(count, [min(k, 2) for k in range(count)])


def edges_among(graph: Graph, places: Iterable[int]) -> list[Edge]:
    """The edges between some nodes of a graph.

    >>> from gradwalk import Value, walk
    >>> from gradwalk.stepper.levels import edges_among
    >>> a = Value(3.0)
    >>> edges_among(walk.graph_of(a * a), [0, 1])
    [Edge(operand=0, node=1, position=0), Edge(operand=0, node=1, position=1)]
    """
    here = set(places)
    return [
        Edge(operand, place, position)
        for place in sorted(here)
        for position, operand in enumerate(graph.nodes[place].operands)
        if operand in here
    ]


# --- columns ---------------------------------------------------------------------------------------------------------


def columns(graph: Graph, places: Iterable[int], height: Callable[[int], int]) -> list[list[Item]]:
    """Cards and lanes by column, each column in an order with few crossings.

    >>> from gradwalk import Value, walk
    >>> from gradwalk.stepper.levels import columns
    >>> a, b = Value(2.0), Value(3.0)
    >>> c = a * b
    >>> [[(item.node, item.lane) for item in column] for column in columns(walk.graph_of(c + a), [0, 1, 2, 3], int)]
    [[(0, False), (1, False)], [(2, False), (0, True)], [(3, False)]]
    """
    places = sorted(places)
    edges = edges_among(graph, places)
    level = _levels(places, edges)
    items = {place: Item(place, level[place], False, height(place)) for place in places}
    layers: list[list[Item]] = [[] for _ in range(max(level.values()) + 1)]
    for place in _as_written(graph, places):
        layers[level[place]].append(items[place])
    lanes: dict[tuple[int, int], Item] = {}
    for edge in edges:
        before = items[edge.operand]
        for at in range(level[edge.operand] + 1, level[edge.node]):
            lane = lanes.get((edge.operand, at))
            if lane is None:
                lane = lanes[edge.operand, at] = Item(edge.operand, at, True, 1)
                layers[at].append(lane)
                _join(before, lane, 0)
            before = lane
        _join(before, items[edge.node], ports(len(graph.nodes[edge.node].operands))[edge.position])
    _sort(layers)
    return layers


def _join(left: Item, right: Item, port: int) -> None:
    left.right.append((right, port, left.exit))
    right.left.append((left, left.exit, port))


def _levels(places: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """The longest way from a leaf; a leaf itself stands right before the first that uses it."""
    level = dict.fromkeys(places, 0)
    operands = {edge.node for edge in edges}
    for edge in edges:  # sorted by node, so operands are done
        level[edge.node] = max(level[edge.node], level[edge.operand] + 1)
    first: dict[int, int] = {}
    for edge in edges:
        first[edge.operand] = min(first.get(edge.operand, level[edge.node]), level[edge.node])
    for place in places:
        if place not in operands and place in first:
            level[place] = first[place] - 1
    return level


def _as_written(graph: Graph, places: Sequence[int]) -> list[int]:
    """The nodes as one meets them from the last backwards, operands from left to right: how an expression reads."""
    here, found = set(places), dict[int, None]()
    for start in reversed(places):
        ahead = [start]
        while ahead:
            place = ahead.pop()
            if place in here and place not in found:
                found[place] = None
                ahead.extend(reversed(graph.nodes[place].operands))
    return list(found)


def _sort(layers: list[list[Item]]) -> None:
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        for layer in layers if forth else reversed(layers):
            at = {id(item): place for other in layers for place, item in enumerate(other)}
            wish = {id(item): _wish(item, place, at, forth=forth) for place, item in enumerate(layer)}
            layer.sort(key=lambda item: wish[id(item)])
        crossings = _crossings(layers)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order


def _wish(item: Item, place: int, at: dict[int, int], *, forth: bool) -> float:
    beside = item.left if forth else item.right
    return sum(at[id(other)] + row / 8 for other, row, _ in beside) / len(beside) if beside else float(place)


def _crossings(layers: list[list[Item]]) -> int:
    count = 0
    for layer, following in pairwise(layers):
        at = {id(item): place for place, item in enumerate(following)}
        ends = [(place, at[id(other)] * 8 + row) for place, item in enumerate(layer) for other, row, _ in item.right]
        count += sum(1 for k, (a, b) in enumerate(ends) for c, d in ends[k + 1 :] if a < c and b > d)
    return count


# --- rows ------------------------------------------------------------------------------------------------------------


def rows(layers: list[list[Item]]) -> int:
    """Give every item its top row, near what it is joined to, and none on top of another; gives the height of it all.

    >>> from gradwalk import Value, walk
    >>> from gradwalk.stepper.levels import columns, rows
    >>> a, b = Value(2.0), Value(3.0)
    >>> layers = columns(walk.graph_of(a * b), [0, 1, 2], lambda place: 3)
    >>> rows(layers), [item.y for layer in layers for item in layer]
    (6, [0, 3, 1])
    """
    height = max(sum(item.height for item in layer) for layer in layers)
    for layer in layers:
        _settle(layer, [0.0] * len(layer), height)
    for sweep in range(SWEEPS + 1):
        forth = sweep % 2 == 0
        for layer in layers if forth else reversed(layers):
            wishes = []
            for item in layer:
                beside = (item.left if forth else item.right) or item.left or item.right
                rows_there = [other.y + theirs - ours for other, theirs, ours in beside]
                wishes.append(sum(rows_there) / len(rows_there) if rows_there else float(item.y))
            _settle(layer, wishes, height)
    return height


def _settle(layer: list[Item], wishes: list[float], height: int) -> None:
    """As near to the wishes as the order and the heights allow: neighbours that would overlap move as one block."""
    blocks: list[tuple[float, int]] = []  # where the block wishes to be, and of how many items
    above = 0
    for item, wish in zip(layer, wishes, strict=True):
        blocks.append((wish - above, 1))
        above += item.height
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (later, m), (earlier, n) = blocks.pop(), blocks.pop()
            blocks.append(((earlier * n + later * m) / (n + m), n + m))
    shifts = [min(max(round(at), 0), height - above) for at, count in blocks for _ in range(count)]
    top = 0
    for item, shift in zip(layer, shifts, strict=True):
        item.y = top + shift
        top += item.height
