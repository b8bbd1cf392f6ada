"""The help screen: every key, and how to read the drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

__all__: list[str] = []

KEYS = (
    ("→ ←", "one step forward, one back"),
    ("space", "play, pause;  + and - change the speed"),
    ("b", "start the backward pass: go to the seed"),
    ("home end", "to the start, to the end"),
    ("o", "put the visits in another order and see what that does"),
    ("enter", "open a tensor: its numbers, then the graph of one; esc goes back"),
    ("v", "the whole graph, or what is around the node in play"),
    ("h j k l", "pan a graph that does not fit (or shift and arrows)"),
    ("t", "light or dark"),
    ("?", "this page"),
    ("q", "quit"),
)

READING = (
    ("data", "the first number of a card: what the forward pass computed"),
    ("grad", "the second: how fast the root changes when this node does"),
    ("╌╌", "an empty slot: nothing has come yet, which is not a 0"),
    ("━━×3━", "the edge in play, and the local derivative on it"),
    ("◂", "a gradient has gone back along this edge"),
    ("✓", "visited: it has pushed to all that it was computed from"),
)


class Manual(ModalScreen[None]):
    """Keys and signs; any of the usual keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        (key, "dismiss", "") for key in ("escape", "question_mark", "q", "enter", "space")
    ]
    CSS = """
    Manual { align: center middle; }
    Manual VerticalScroll { width: 76; max-width: 100%; height: auto; max-height: 100%; padding: 0 2; }
    """

    def __init__(self, looks: Mapping[str, str]) -> None:
        super().__init__()
        self.looks = looks

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(self._text())

    def _text(self) -> Text:
        looks = self.looks
        text = Text.assemble(("Keys\n", looks["strong"]))
        for key, does in KEYS:
            text.append(f"  {key:<10}", looks["key"])
            text.append(f"{does}\n", looks["text"])
        text.append("\nSigns\n", looks["strong"])
        for sign, means in READING:
            text.append(f"  {sign:<10}", looks[f"{sign}-text"] if sign in ("data", "grad") else looks["key"])
            text.append(f"{means}\n", looks["text"])
        return text.append("\nesc closes this page", looks["soft"])
