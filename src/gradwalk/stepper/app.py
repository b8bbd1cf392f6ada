"""The stepper itself: a full-screen application that plays a recording, back and forth."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.theme import Theme
from textual.timer import Timer
from textual.widgets import Static

from gradwalk.errors import GraphError
from gradwalk.stepper import nearby
from gradwalk.stepper.cell_screen import CellScreen
from gradwalk.stepper.colours import DARK, LIGHT, prefers_light, styles
from gradwalk.stepper.manual import Manual
from gradwalk.stepper.order_screen import OrderScreen
from gradwalk.stepper.player import Player
from gradwalk.stepper.step_page import page
from gradwalk.stepper.subject import Subject
from gradwalk.stepper.widgets import GraphView, sentence, walk_line, worded
from gradwalk.walk import Push, Recording, record
from gradwalk.walk.formatting import clean
from gradwalk.walk.many import Many

__all__: list[str] = []

SPEEDS = (3.0, 2.0, 1.3, 0.8, 0.4, 0.15)  # seconds a step
KEYS = (
    ("→", "step"), ("←", "back"), ("b", "backward"), ("space", "play"), ("o", "order"), ("?", "help"), ("q", "quit"),
)  # fmt: skip
OPENED = "Every other number is a constant here. Esc goes back to the tensors."
MOST_LINES = 4  # of a sentence
LEAST_GRAPH = 8  # rows for the graph, if a low terminal can have them


class Stepper(App[None]):
    """Plays one recording, whose order is not the engine's if `judged`; `o` may put another in its place."""

    TITLE = "gradwalk step"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("right", "by(1)", ""), ("left", "by(-1)", ""), ("home", "to('start')", ""), ("end", "to('end')", ""),
        ("b", "to('seed')", ""), ("space", "play", ""), ("plus,equals_sign", "speed(1)", ""),
        ("minus", "speed(-1)", ""), ("enter", "open", ""), ("escape", "leave", ""),
        ("o", "order", ""), ("v", "view", ""), ("t", "shade", ""), ("question_mark", "manual", ""), ("q", "quit", ""),
        ("h,shift+left", "pan(-8, 0)", ""), ("l,shift+right", "pan(8, 0)", ""),
        ("k,shift+up", "pan(0, -3)", ""), ("j,shift+down", "pan(0, 3)", ""),
    ]  # fmt: skip
    CSS = """
    Screen { layout: vertical; overflow: hidden; background: $background; color: $foreground; }
    #head, #line, #keys { height: 1; padding: 0 1; }
    #step { padding: 0 1; }
    """

    def __init__(self, subject: Subject, recording: Recording, *, judged: bool = False) -> None:
        super().__init__()
        self.subject, self.player = subject, Player(recording)
        self.engine = record(subject.root) if judged else recording
        self.above: list[tuple[Subject, Player, Recording]] = []  # what a cell was opened from
        self.whole: bool | None = None  # what is legible
        self.light = prefers_light()
        self.speed = 2
        self.playing: Timer | None = None
        self.view = GraphView()
        self.head, self.step, self.line, self.keys = (Static(id=name) for name in ("head", "step", "line", "keys"))

    def compose(self) -> ComposeResult:
        yield from (self.head, self.view, self.step, self.line, self.keys)

    def on_mount(self) -> None:
        for name, colours, dark in (("gradwalk-light", LIGHT, False), ("gradwalk-dark", DARK, True)):
            self.register_theme(Theme(
                name, primary=colours["ink"], background=colours["paper"], surface=colours["surface"],
                panel=colours["well"], foreground=colours["ink"], dark=dark,
            ))  # fmt: skip
        self._shade()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # --- what is on the screen ---------------------------------------------------------------------------------------

    @property
    def looks(self) -> dict[str, str]:
        return styles(LIGHT if self.light else DARK)

    def _shade(self) -> None:
        self.theme = "gradwalk-light" if self.light else "gradwalk-dark"

    def _show(self) -> None:
        width = max(self.size.width - 2, 10)
        shown = page(self.player, self.subject.note)
        lines = self._lines(width)
        self.step.styles.height = lines + 4
        self.head.update(self._heading(width))
        self.step.update(worded(shown, self.looks, width, lines))
        self.line.update(walk_line(self.player, self.looks, width))
        self.keys.update(self._keys(width))
        self.view.show(self.player, self.looks, whole=self.whole)

    def _lines(self, width: int) -> int:
        """Rows for sentences: as many as the longest needs, so that the graph does not jump from step to step."""
        wanted = (id(self.player), width)
        if getattr(self, "_measured", (None, 0))[0] != wanted:
            longest = sentence(page(self.player, self.subject.note), self.looks).cell_len
            for event in self.player.recording.events[:2000]:
                longest = max(longest, len(event.sentence))
            self._measured = (wanted, max(2, min(-(-longest // max(width - 8, 1)), MOST_LINES)))
        return min(self._measured[1], max(1, self.size.height - 7 - LEAST_GRAPH))

    def _heading(self, width: int) -> Text:
        looks = self.looks
        at = f"step {min(self.player.at, self.player.steps)} of {self.player.steps}"
        if self.playing is not None:
            at = f"▶ {at}"
        title = Text.assemble((self.subject.title, looks["strong"]))
        if self.subject.text.strip() and self.subject.text.strip() != self.subject.title:
            title.append("  " + "; ".join(self.subject.text.split("\n")), looks["soft"])
        if self.player.recording is not self.engine:
            graph = self.player.recording.graph
            order = ", ".join(clean(graph.nodes[place].name) for place in self.player.recording.order)
            title = Text.assemble((self.subject.title, looks["strong"]), (f"  order {order}", looks["soft"]))
        title.truncate(max(width - len(at) - 2, 4), overflow="ellipsis", pad=True)
        return Text.assemble(title, "  ", (at, looks["soft"]))

    def _keys(self, width: int) -> Text:
        text = Text(no_wrap=True, end="")
        more = [("esc", "back to the tensors")] if self.above else []
        if isinstance(self.player.recording.graph.nodes[-1].data, Many):
            more = [("enter", "open the numbers")]
        for key, does in (*KEYS[:2], *more, *KEYS[2:]):
            text.append(key, self.looks["key"]).append(f" {'pause' if does == 'play' and self.playing else does}  ",
                                                       self.looks["soft"])  # fmt: skip
        text.truncate(width, overflow="ellipsis")
        return text

    # --- moving ------------------------------------------------------------------------------------------------------

    def _go(self, place: int) -> None:
        self.player.go(place)
        self._show()

    def action_by(self, steps: int) -> None:
        self._stop()
        self._go(self.player.at + steps)

    def action_to(self, place: str) -> None:
        self._stop()
        self._go({"start": 0, "seed": self.player.seed, "end": self.player.last}[place])

    # --- playing -----------------------------------------------------------------------------------------------------

    def action_play(self) -> None:
        if self.playing is not None:
            self._stop()
            self._show()
            return
        if self.player.at == self.player.last:
            self.player.go(0)
        self.playing = self.set_interval(SPEEDS[self.speed], self._tick)
        self._show()

    def _tick(self) -> None:
        self.player.go(self.player.at + 1)
        if self.player.at == self.player.last:
            self._stop()
        self._show()

    def _stop(self) -> None:
        if self.playing is not None:
            self.playing.stop()
            self.playing = None

    def action_speed(self, more: int) -> None:
        self.speed = max(0, min(self.speed + more, len(SPEEDS) - 1))
        if self.playing is not None:
            self._stop()
            self.playing = self.set_interval(SPEEDS[self.speed], self._tick)

    # --- other views -------------------------------------------------------------------------------------------------

    def action_view(self) -> None:
        if len(self.player.recording.graph.nodes) > nearby.LARGE:
            self.notify(f"{len(self.player.recording.graph.nodes):,} nodes are too many to draw at once", timeout=3)
            return
        self.whole = not self.view.whole
        self._show()

    def action_pan(self, x: int, y: int) -> None:
        self.view.by(x, y)

    def action_shade(self) -> None:
        self.light = not self.light
        self._shade()
        self._show()

    def action_manual(self) -> None:
        self._stop()
        self.push_screen(Manual(self.looks))

    # --- into a tensor, and out again --------------------------------------------------------------------------------

    def action_open(self) -> None:
        self._stop()
        graph, event = self.player.recording.graph, self.player.event
        node = graph.root if event is None else event.operand if isinstance(event, Push) else event.node
        numbers = graph.nodes[node].data
        if not isinstance(numbers, Many) or not numbers.numbers:
            kind = "holds no numbers" if isinstance(numbers, Many) else "is one number"
            self.notify(f"{clean(graph.nodes[node].name)} {kind}: there is nothing to open", timeout=3)
            return
        self.push_screen(CellScreen(self.player, node, self.looks), partial(self._open, node))

    def _open(self, node: int, place: tuple[int, ...] | None) -> None:
        """Walk the graph of one number: all that depends on it, in Values."""
        if place is None:
            return
        from gradwalk.tensor.explained import graph_at  # only graphs of tensors need it

        try:
            top = graph_at(self.subject.root, node, place)
        except GraphError as error:
            self.notify(str(error), timeout=3)
            return
        self.above.append((self.subject, self.player, self.engine))
        number = f"{clean(self.player.recording.graph.nodes[node].name)}{[*place]}"
        self.subject = Subject(top, f"{self.subject.title}, as far as {number} counts", note=OPENED)
        self.engine = record(top)
        self.player = Player(self.engine)
        self._show()

    def action_leave(self) -> None:
        if self.above:
            self._stop()
            self.subject, self.player, self.engine = self.above.pop()
            self._show()

    def action_order(self) -> None:
        self._stop()
        if isinstance(self.player.recording.graph.nodes[-1].data, Many):
            self.notify("another order is for graphs of Values: open a number with enter", timeout=3)
            return
        self.push_screen(OrderScreen(self.subject.root, self.player.recording, self.looks), self._take)

    def _take(self, recording: Recording | None) -> None:
        if recording is None:
            return
        self.player = Player(self.engine if recording.order == self.engine.order else recording)
        self._go(self.player.seed)
