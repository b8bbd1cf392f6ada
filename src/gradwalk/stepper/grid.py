"""Where everything goes on a grid of characters: boxes for nodes, cells for edges, a place for each edge's chip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from gradwalk.stepper.player import Player
from gradwalk.stepper.routes import lay_tracks, line, nets
from gradwalk.stepper.rows import Item, edges_among, in_rows, ports
from gradwalk.walk import NodeInfo, readable
from gradwalk.walk.many import Many

__all__ = ["GridLayout", "arrange", "fitting", "shown_op"]

LONGEST_LABEL = 14  # cells of a label on a card; the sentence below tells more of it
WORDS = "data "  # and "grad ", as wide


@dataclass(frozen=True)
class Style:
    """How generous cards are: with the words data and grad on them, with a border below each."""

    words: bool
    roomy: bool

    @property
    def height(self) -> int:
        """The rows of a card: a title, data, gradient, and perhaps a border."""
        return 4 if self.roomy else 3


#: From the most legible to the smallest.
STYLES = (Style(True, True), Style(True, False), Style(False, True), Style(False, False))


@dataclass(frozen=True)
class Rect:
    """A card's place: left, top, width, height."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        """The first column behind it."""
        return self.x + self.width


@dataclass(frozen=True)
class GridLayout:
    """A whole drawing's geometry; edges go by (node, position of the operand).

    >>> player = Player(walk.record(Value(3.0, label="a").exp()))
    >>> found = arrange(player, [0, 1], STYLES[-1])
    >>> (found.width, found.height), found.boxes[0]
    ((32, 4), Rect(x=0, y=0, width=11, height=3))
    """

    style: Style
    width: int
    height: int
    boxes: dict[int, Rect]
    edges: dict[tuple[int, int], dict[tuple[int, int], int]]  # the cells of each edge, and where lines leave them
    chips: dict[tuple[int, int], tuple[int, int]]  # the last cell of each edge's chip
    ends: dict[tuple[int, int], tuple[int, int]]  # the cell where each edge touches its operand


def shown_op(node: NodeInfo) -> str:
    """An op as a card shows it.

    >>> shown_op(walk.graph_of(Value(3.0) * 2).nodes[2])
    '×'
    """
    op = {"*": "×", "-": "−", "neg": "−"}.get(node.op, node.op.replace("**-", "**−"))
    return op if cell_len(op) <= 8 else op[:7] + "…"


def label_width(node: NodeInfo) -> int:
    return min(cell_len(node.name), LONGEST_LABEL)


def card_width(node: NodeInfo, player: Player, style: Style) -> int:
    if node.constant:
        return label_width(node) + 2
    title = label_width(node) + 4 + (cell_len(shown_op(node)) + 2 if node.operands else 0)
    return max(title, player.widths[node.id] + 4 + (len(WORDS) if style.words else 0), 7)


def arrange(player: Player, places: Iterable[int], style: Style) -> GridLayout:
    """Lay out some nodes of the graph and the edges between them, left to right.

    >>> player = Player(record(PRESETS["neuron"].build().root))
    >>> found = arrange(player, range(10), STYLES[-1])
    >>> found.width <= 80, found.height
    (True, 13)
    """
    places, graph = sorted(places), player.recording.graph
    layers = in_rows(graph, places, lambda place: 1 if graph.nodes[place].constant else style.height)
    height = max(item.y + item.height for layer in layers for item in layer)
    items = {item.node: item for layer in layers for item in layer if not item.lane}
    edges = edges_among(graph, places)
    edges_of: dict[int, list[tuple[tuple[int, int], Item, int]]] = {place: [] for place in places}
    chip_room: dict[int, int] = {}
    for edge in edges:
        port = ports(len(graph.nodes[edge.node].operands))[edge.position]
        edges_of[edge.operand].append((edge.key, items[edge.node], port))
        level = items[edge.node].level
        if edge.key in player.pushes:
            chip_room[level] = max(chip_room.get(level, 0), len(chip(player.pushes[edge.key][1])))

    boxes: dict[int, Rect] = {}
    cells: dict[tuple[int, int], dict[tuple[int, int], int]] = {edge.key: {} for edge in edges}
    chips: dict[tuple[int, int], tuple[int, int]] = {}
    ends: dict[tuple[int, int], tuple[int, int]] = {}
    targets = {edge.key: (items[edge.node].level, edge.operand) for edge in edges}
    x = 0
    for level, layer in enumerate(layers):
        width = max((card_width(graph.nodes[item.node], player, style) for item in layer if not item.lane), default=1)
        for item in layer:
            if not item.lane:
                own = card_width(graph.nodes[item.node], player, style) if graph.nodes[item.node].constant else width
                boxes[item.node] = Rect(x + width - own, item.y, own, min(item.height, 3))
                for key, _, _ in edges_of[item.node]:
                    ends[key] = (x + width, item.y + item.exit)
            else:
                for key, target, _ in edges_of[item.node]:
                    if target.level > level:
                        line(cells[key], (x - 1, item.y), (x + width, item.y))
        x += width
        if level + 1 == len(layers):
            break
        found = nets(layer, edges_of)
        tracks = lay_tracks(found)
        gap = 1 + tracks + max(chip_room.get(level + 1, 0) + 1, 2)
        for net in found:
            bend = x + 1 + (net.track or 0)
            for key, (at, operand) in targets.items():
                if operand != net.source or at <= level:
                    continue
                row = net.ends.get(key if at == level + 1 else None)
                if row is None:
                    continue
                line(cells[key], (x - 1, net.row), (bend, net.row))
                line(cells[key], (bend, net.row), (bend, row))
                line(cells[key], (bend, row), (x + gap, row))
                if at == level + 1:
                    chips[key] = (x + gap - 1, row)
        x += gap
    return GridLayout(style, x, height + (0 if style.roomy else 1), boxes, cells, chips, ends)


def chip(local: Any) -> str:
    """What stands on an edge: the local derivative, as a factor; of tensors the shape of what went back."""
    if isinstance(local, Many):
        return str(local.shape).replace(" ", "")
    return "×?" if local is None else f"×{readable(local)}"


def fitting(player: Player, places: Iterable[int], width: int, height: int) -> GridLayout:
    """The most legible layout that fits, or the smallest if none does.

    >>> player = Player(walk.record(Value(3.0, label="a").exp()))
    >>> fitting(player, [0, 1], 60, 12).style
    Style(words=True, roomy=True)
    """
    places = list(places)
    for style in STYLES:
        found = arrange(player, places, style)
        if found.width <= width and found.height <= height:
            break
    return found
