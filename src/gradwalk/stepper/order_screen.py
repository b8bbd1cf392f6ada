"""The screen on which the visits are put in any order, run, and judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from gradwalk.errors import GradwalkError
from gradwalk.stepper.step_page import Page
from gradwalk.stepper.widgets import sentence
from gradwalk.walk import Recording, readable, record
from gradwalk.walk.formatting import clean

__all__: list[str] = []

MOST_TOLD = 12  # losses that are listed one by one
KEYS = "↑↓ choose  space hold, drop  enter run  s step  e engine's order  esc back"


class OrderList(Widget):
    """The nodes from the first visit to the last; shows the part around the cursor."""

    DEFAULT_CSS = "OrderList { width: 26; }"

    def __init__(self, looks: Mapping[str, str]) -> None:
        super().__init__()
        self.looks = looks
        self.names: list[str] = []
        self.cursor, self.held = 0, False

    def render(self) -> Text:
        """The list, a line a node."""
        height = max(self.size.height, 1)
        start = max(0, min(self.cursor - height // 2, len(self.names) - height))
        text = Text(no_wrap=True, end="")
        digits = len(str(len(self.names)))
        for place, name in enumerate(self.names[start : start + height], start):
            here = place == self.cursor
            mark = ("⇅ " if self.held else "▸ ") if here else "  "
            line = Text(f"{mark}{place + 1:>{digits}}  {name}", self.looks["chosen" if here else "text"])
            line.truncate(max(self.size.width - 1, 4), overflow="ellipsis", pad=here)
            text.append(line).append("\n")
        return text


class OrderScreen(Screen["Recording | None"]):
    """Put the visits in an order, run it, read the verdict, step through it. Gives the recording to step through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("up", "move(-1)", ""), ("down", "move(1)", ""),
        ("shift+up", "carry(-1)", ""), ("shift+down", "carry(1)", ""), ("K", "carry(-1)", ""), ("J", "carry(1)", ""),
        ("space", "hold", ""), ("enter", "run", ""), ("r", "run", ""),
        ("s", "step", ""), ("e", "engine", ""),
        ("escape", "leave", ""), ("o", "leave", ""), ("q", "leave", ""),
    ]  # fmt: skip
    CSS = """
    OrderScreen #top, OrderScreen #keys { height: 1; padding: 0 1; }
    OrderScreen Horizontal { height: 1fr; padding: 1 1 0 1; }
    OrderScreen VerticalScroll { width: 1fr; }
    """

    def __init__(self, root: Any, recording: Recording, looks: Mapping[str, str]) -> None:
        super().__init__()
        self.root, self.looks, self.graph = root, looks, recording.graph
        self.order = _with_leaves(recording, recording.order)
        self.tried: Recording | None = None
        self.told = Text()
        self.list = OrderList(looks)
        self.verdict = Static(id="verdict")

    def compose(self) -> ComposeResult:
        yield Static(Text("In which order are the nodes visited?", self.looks["strong"]), id="top")
        with Horizontal():
            yield self.list
            with VerticalScroll(can_focus=False):
                yield self.verdict
        yield Static(Text(KEYS, self.looks["soft"]), id="keys")

    def on_mount(self) -> None:
        """Begin with the order that was played last."""
        self._tell_what_to_do()
        self._relist()

    def _relist(self) -> None:
        self.list.names = [clean(self.graph.nodes[place].name) for place in self.order]
        self.list.refresh()

    def _tell_what_to_do(self) -> None:
        looks = self.looks
        self._say(Text.assemble(
            ("Each node pushes what it has when its turn comes. What arrives later stays with it.\n\n", looks["text"]),
            ("Move a node, guess what will be lost, then press ", looks["text"]), ("enter", looks["key"]),
            (" to run it.", looks["text"]),
        ))  # fmt: skip

    def _say(self, told: Text) -> None:
        self.told = told
        self.verdict.update(told)

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        if self.list.held:
            self.action_carry(by)
            return
        self.list.cursor = max(0, min(self.list.cursor + by, len(self.order) - 1))
        self.list.refresh()

    def action_carry(self, by: int) -> None:
        at, to = self.list.cursor, self.list.cursor + by
        if 0 <= to < len(self.order):
            self.order[at], self.order[to] = self.order[to], self.order[at]
            self.list.cursor, self.tried = to, None
            self._tell_what_to_do()
            self._relist()

    def action_hold(self) -> None:
        self.list.held = not self.list.held
        self.list.refresh()

    def action_run(self) -> None:
        self.list.held = False
        self.list.refresh()
        try:
            self.tried = record(self.root, self.order)
        except GradwalkError as error:
            self._say(Text(str(error), self.looks["miss"]))
            return
        self._say(judged(self.tried, self.looks))

    def action_engine(self) -> None:
        engine = record(self.root)
        self.order = _with_leaves(engine, engine.order)
        self.list.cursor, self.list.held, self.tried = 0, False, None
        self._relist()
        self.action_run()

    def action_step(self) -> None:
        if self.tried is None:
            self.action_run()
        if self.tried is not None:
            engine = record(self.root)
            same = list(self.tried.order) == _with_leaves(engine, engine.order)
            self.dismiss(engine if same else self.tried)

    def action_leave(self) -> None:
        self.dismiss(None)


def _with_leaves(recording: Recording, order: Sequence[int]) -> list[int]:
    """An order with the leaves it leaves out put at its end."""
    listed = set(order)
    rest = [node.id for node in reversed(recording.graph.nodes) if not node.constant and node.id not in listed]
    return [*order, *rest]


def judged(recording: Recording, looks: Mapping[str, str]) -> Text:
    """The verdict on an order: right or not, each leaf's gradient beside the right one, what was lost and why."""
    verdict = recording.verdict
    text = Text(style=looks["text"])
    head = ("✓ right", looks["ok"]) if verdict.right else ("✗ not right", looks["miss"])
    text.append(*head).append("\n\n")
    entries = [*(lost.sentence for lost in verdict.lost), *(twice.sentence for twice in verdict.doubled)]
    if verdict.right:
        entries = []
    for told in entries[:MOST_TOLD] or [verdict.sentence]:
        text.append(sentence(Page("", "", told), looks)).append("\n\n")
    if len(entries) > MOST_TOLD:
        text.append(f"and {len(entries) - MOST_TOLD} more\n\n", looks["soft"])
    for node in [node for node in recording.graph.nodes if node.leaf][:MOST_TOLD]:
        grad, right = recording.grads[node.id], verdict.expected[node.id]
        text.append(f"{clean(node.name)}.grad  ", looks["soft"])
        text.append("╌╌" if grad is None else readable(grad), looks["grad-text"])
        if not verdict.right and readable(grad) != readable(right):
            text.append(f"   right is {readable(right)}", looks["text"])
        text.append("\n")
    return text.append("\ns steps through it", looks["soft"])
