"""A tensor opened: its numbers with one cell lit, a matrix product as its faces, a way into the cell's own graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from gradwalk.stepper.canvas import EMPTY
from gradwalk.stepper.faces import array_rows, face_rows, products
from gradwalk.stepper.player import Player
from gradwalk.walk import readable
from gradwalk.walk.formatting import clean
from gradwalk.walk.many import Many

__all__: list[str] = []

STYLES = {"text": "text", "lit": "key", "cell": "marker", "soft": "soft"}


class CellScreen(ModalScreen[tuple[int, ...] | None]):
    """Arrows move through the numbers of a node; enter gives the place that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("up", "move(-2, -1)", ""), ("down", "move(-2, 1)", ""), ("left", "move(-1, -1)", ""),
        ("right", "move(-1, 1)", ""), ("left_square_bracket", "move(-3, -1)", ""),
        ("right_square_bracket", "move(-3, 1)", ""), ("enter", "choose", ""),
        *((key, "leave", "") for key in ("escape", "q")),
    ]  # fmt: skip
    CSS = """
    CellScreen { align: center middle; }
    CellScreen VerticalScroll { width: auto; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; }
    CellScreen Static { width: auto; }
    """

    def __init__(self, player: Player, node: int, looks: Mapping[str, str]) -> None:
        super().__init__()
        self.player, self.node, self.looks = player, node, looks
        info = player.recording.graph.nodes[node]
        assert isinstance(info.data, Many)
        self.info, self.numbers = info, info.data
        self.place = (0,) * len(info.data.shape)
        self.body = Static()

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield self.body

    def on_mount(self) -> None:
        self._show()

    def action_move(self, axis: int, by: int) -> None:
        """One cell further along an axis, as far as there is one; a vector has only left and right."""
        if -axis > len(self.place):
            return
        place = list(self.place)
        place[axis] = max(0, min(place[axis] + by, self.numbers.shape[axis] - 1))
        self.place = tuple(place)
        self._show()

    def action_choose(self) -> None:
        self.dismiss(self.place)

    def action_leave(self) -> None:
        self.dismiss(None)

    def _show(self) -> None:
        looks, state = self.looks, self.player.state
        name = clean(self.info.name)
        at = f"{name}[{', '.join(map(str, self.place))}]"
        text = Text.assemble((f"{name} {self.numbers.shape}", looks["strong"]), ("  data\n", looks["data-text"]))
        factors = [self.player.recording.graph.nodes[x].data for x in self.info.operands]
        rows = array_rows(self.numbers, self.place)
        words = f"{at} = {readable(self.numbers[self.place])}"
        if self.info.op == "@" and all(isinstance(x, Many) and x.shape for x in factors):
            left, right = factors
            assert isinstance(left, Many)
            assert isinstance(right, Many)
            rows = face_rows(left, right, self.numbers, self.place)
            words = f"{at} = {products(left, right, self.numbers, self.place)}"
        self._add(text, rows)
        text.append(f"{words}\n", looks["data-text"])
        gradient = state.grads[self.node]
        if isinstance(gradient, Many):
            text.append("\ngrad\n", looks["grad-text"])
            self._add(text, array_rows(gradient, self.place))
            text.append(f"grad of {at} = {readable(gradient[self.place])}\n", looks["grad-text"])
        else:
            text.append(f"\ngrad {EMPTY}\n", looks["soft"])
        more = "  [ ] block" if len(self.place) > 2 else ""
        text.append(f"\narrows move{more}  enter: the graph of this number  esc: back", looks["soft"])
        self.body.update(text)

    def _add(self, text: Text, rows: list[list[tuple[str, str]]]) -> None:
        for row in rows:
            for part, style in row:
                text.append(part, self.looks[STYLES[style]])
            text.append("\n")
