"""The graph at one moment of the walk, drawn in characters: cards, edges, and the one edge in play."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from gradwalk.stepper.grid import LONGEST_LABEL, WORDS, GridLayout, Rect, chip, label_width, shown_op
from gradwalk.stepper.player import Player
from gradwalk.stepper.routes import DOWN, LEFT, RIGHT, UP
from gradwalk.walk import Compute, NodeInfo, Push, Seed, State, Visit, readable

__all__ = ["EMPTY", "Cells", "focus", "paint"]

EMPTY = "╌╌"  # a slot that nothing has reached: not 0

_LIGHT = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"  # by the sum of the directions in which a line leaves
_HEAVY = " ╹╻┃╸┛┓┫╺┗┏┣━┻┳╋"
_RANK = {"idle": 0, "passed": 1, "pushed": 2, "making": 3, "play": 4}  # what wins where edges share a cell


@dataclass
class Cells:
    """Rows of cells, each a character and the name of its style; a wide character is followed by an empty cell.

    >>> picture = Cells(4, 1)
    >>> picture.write(1, 0, "ab", "data")
    >>> picture.text
    ' ab'
    """

    width: int
    height: int

    def __post_init__(self) -> None:
        self.cells: list[list[tuple[str, str]]] = [[(" ", "paper")] * self.width for _ in range(self.height)]

    def write(self, x: int, y: int, text: str, style: str) -> None:
        """Write a text; what lies outside is left out.

        >>> picture = Cells(3, 1)
        >>> picture.write(0, 0, "猫a…", "ink")
        >>> picture.cells[0]
        [('猫', 'ink'), ('', 'ink'), ('a', 'ink')]
        """
        for character in text:
            size = cell_len(character)
            if 0 <= y < self.height and x >= 0 and x + size <= self.width and size:
                self.cells[y][x] = (character, style)
                if size == 2:
                    self.cells[y][x + 1] = ("", style)
            x += size

    @property
    def text(self) -> str:
        """The characters alone.

        >>> Cells(2, 2).text
        '\\n'
        """
        return "\n".join("".join(character for character, _ in row).rstrip() for row in self.cells)


def paint(player: Player, layout: GridLayout) -> Cells:
    """Draw what stands in the graph at the player's place.

    >>> player = Player(record(PRESETS["a-times-a"].build().root))
    >>> _ = player.go(4)
    >>> print(paint(player, fitting(player, [0, 1], 80, 8)).text)
    ┌ a ─────┐     ┏ b ━━ × ┓
    │ data 3 ┝◂┳×3━┫ data 9 ┃
    │ grad 3 │ └───┨ grad 1 ┃
    └────────┘     ┗━━━━━━━━┛
    """
    picture = Cells(layout.width, layout.height)
    state, graph = player.state, player.recording.graph
    marks = {key: _mark(player, key, state) for key in layout.edges}
    for key in sorted(layout.edges, key=lambda key: _RANK[marks[key]]):
        _edge(picture, layout.edges[key], marks[key])
    for key, (x, y) in layout.ends.items():
        if marks[key] in ("pushed", "play"):
            picture.write(x, y, "◂", marks[key])
    for key in sorted(layout.chips, key=lambda key: _RANK[marks[key]]):
        pushed = player.pushes.get(key)
        if pushed is not None and marks[key] in ("pushed", "play"):
            x, y = layout.chips[key]
            text = chip(pushed[1])
            picture.write(x - len(text), y, text, "chip" if marks[key] == "play" else "quiet")
    for place, box in layout.boxes.items():
        node = graph.nodes[place]
        if node.constant:
            picture.write(box.x, box.y, f" {_cut(node.name, label_width(node))} ", "constant")
        else:
            _card(picture, box, node, player, state, layout)
    return picture


# --- edges -----------------------------------------------------------------------------------------------------------


def _mark(player: Player, key: tuple[int, int], state: State) -> str:
    event = player.event
    if isinstance(event, Push) and (event.node, event.position) == key:
        return "play"
    if isinstance(event, Compute) and event.node == key[0]:
        return "making"
    if key in player.pushes and player.pushes[key][0] <= player.at:
        return "pushed"
    return "idle" if state.data[key[0]] is None else "passed"


def _edge(picture: Cells, cells: dict[tuple[int, int], int], mark: str) -> None:
    for (x, y), directions in cells.items():
        if not (0 <= x < picture.width and 0 <= y < picture.height):
            continue
        was, _ = picture.cells[y][x]
        for strokes in (_LIGHT, _HEAVY):  # where edges meet, the strokes of both are there
            if was in strokes:
                directions |= strokes.index(was)
        picture.cells[y][x] = ((_HEAVY if mark in ("play", "making") else _LIGHT)[directions], mark)


# --- cards -----------------------------------------------------------------------------------------------------------


def _card(picture: Cells, box: Rect, node: NodeInfo, player: Player, state: State, layout: GridLayout) -> None:
    event = player.event
    busy = isinstance(event, (Compute, Visit, Push, Seed)) and event.node == node.id
    strokes, frame = (_HEAVY, "visiting") if busy else (_LIGHT, "frame")
    roomy = layout.style.roomy
    last = box.y + box.height
    closed = roomy or last >= picture.height or all(
        other.y != last or other.right <= box.x or other.x >= box.right for other in layout.boxes.values()
    )  # fmt: skip
    bars = range(box.y + 1, last)
    for y in bars:
        for x in (box.x, box.right - 1):
            picture.write(x, y, _border(picture, x, y, left=x == box.x, heavy=busy), frame)
    width = box.width - 2
    picture.write(box.x, box.y, strokes[DOWN | RIGHT] + strokes[LEFT | RIGHT] * width + strokes[DOWN | LEFT], frame)
    free = last < picture.height and all(picture.cells[last][x][0] == " " for x in range(box.x, box.right))
    if closed and free:  # a lane may run below it
        picture.write(box.x, last, strokes[UP | RIGHT] + strokes[LEFT | RIGHT] * width + strokes[UP | LEFT], frame)
    tick = "✓" if node.id in state.visited and not busy else " "
    title = f"{tick}{_cut(node.name, label_width(node))} "
    picture.write(box.x + 1, box.y, title, "title-visiting" if busy else "title")
    if node.operands:
        op = f" {shown_op(node)} "
        picture.write(box.right - 1 - cell_len(op), box.y, op, "op")
    for row, (word, number) in enumerate((("data ", state.data[node.id]), ("grad ", state.grads[node.id])), start=1):
        style = word.strip()
        picture.write(box.x + 1, box.y + row, " " * width, "card")
        start = box.x + 2
        if layout.style.words:
            picture.write(start, box.y + row, word, "quiet-card")
            start += len(WORDS)
        landing = _lands_in(player) == (node.id, style)
        text = EMPTY if number is None else readable(number)
        picture.write(start, box.y + row, text, f"{style}-new" if landing else "empty" if number is None else style)


def _border(picture: Cells, x: int, y: int, *, left: bool, heavy: bool) -> str:
    """A card's side; an edge that comes in or leaves there joins it."""
    was, _ = picture.cells[y][x]
    thin, thick = (LEFT, "┤┨┥┫") if left else (RIGHT, "├┠┝┣")
    for strokes, bold in ((_LIGHT, 0), (_HEAVY, 2)):
        if was != " " and was in strokes and strokes.index(was) & thin:
            return thick[bold + heavy]
    return "┃" if heavy else "│"


def _lands_in(player: Player) -> tuple[int, str] | None:
    """The slot that this step writes to."""
    match player.event:
        case Compute(node=node):
            return node, "data"
        case Seed(node=node):
            return node, "grad"
        case Push(operand=operand):
            return operand, "grad"
    return None


def _cut(name: str, width: int) -> str:
    """A label of a given width: one line, an ellipsis where it is cut."""
    clean = "".join(character if character.isprintable() else " " for character in name)
    return clean if cell_len(clean) <= width else set_cell_size(clean, max(min(width, LONGEST_LABEL) - 1, 1)) + "…"


# --- what to look at -------------------------------------------------------------------------------------------------


def focus(player: Player, layout: GridLayout) -> list[Rect]:
    """The boxes that a step is about, the most important first.

    >>> player = Player(walk.record(Value(3.0, label="a").exp()))
    >>> _ = player.go(4)
    >>> len(focus(player, fitting(player, [0, 1], 60, 12)))
    2
    """
    match player.event:
        case Push(node=node, operand=operand):
            places: tuple[int, ...] = (operand, node)
        case Compute(node=node, operands=operands):
            places = (node, *operands)
        case Seed(node=node) | Visit(node=node):
            places = (node,)
        case _:
            places = (0,) if player.at == 0 else (player.recording.graph.root,)
    return [layout.boxes[place] for place in places if place in layout.boxes]
