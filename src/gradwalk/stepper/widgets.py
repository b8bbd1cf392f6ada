"""The parts of the stepper's screen: the graph, the step in words, the line of steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from gradwalk.stepper import nearby
from gradwalk.stepper.canvas import Cells, focus, paint
from gradwalk.stepper.grid import STYLES, GridLayout, arrange, fitting
from gradwalk.stepper.player import Player
from gradwalk.stepper.step_page import Page, groups, two_rows

__all__: list[str] = []

Looks = Mapping[str, str]
MOST_SCREENS = 4  # a whole graph larger than that is shown by its neighbourhoods
MARGIN = 2  # cells around the node in play


# --- the graph -------------------------------------------------------------------------------------------------------


class GraphView(Widget):
    """The graph in characters. What does not fit is panned, so that the node in play is there."""

    DEFAULT_CSS = "GraphView { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.player: Player | None = None
        self.looks: Looks = {}
        self.whole = True  # what is shown, and what was wished for
        self.wanted: bool | None = None
        self.layout_now: GridLayout | None = None
        self.picture = Cells(0, 0)
        self.pan = [0, 0]
        self._arranged_for: object = None
        self._judged_for: object = None
        self._legible = True
        self._styles: dict[str, Style] = {}

    def show(self, player: Player, looks: Looks, *, whole: bool | None = None) -> None:
        """Show the player's place: the whole graph, or the neighbourhood of the node in play; None: what is legible."""
        if player is not self.player:
            self._arranged_for = None
        self.player, self.wanted = player, whole
        self.looks, self._styles = looks, {name: Style.parse(look) for name, look in looks.items()}
        self._draw()

    def on_resize(self) -> None:
        """A terminal of another size: another layout."""
        if self.player is not None:
            self._draw()

    def by(self, x: int, y: int) -> None:
        """Pan by hand; the next step pans back if it must."""
        self._pan_within(self.pan[0] + x, self.pan[1] + y)
        self.refresh()

    def _draw(self) -> None:
        assert self.player is not None
        size = self.size
        if not size.width or not size.height:
            return
        self.whole = self._is_legible(size) if self.wanted is None else self.wanted
        places = range(len(self.player.recording.graph.nodes)) if self.whole else nearby.around(self.player)
        wanted = (tuple(places), size, self.whole)
        if wanted != self._arranged_for or self.layout_now is None:
            self.layout_now = fitting(self.player, places, self._room(size).width, size.height)
            self._arranged_for = wanted
        self.picture = paint(self.player, self.layout_now)
        self._follow(self.layout_now, size)
        self.refresh()

    def _is_legible(self, size: Size) -> bool:
        """Whether the whole graph is no more than a few screens."""
        assert self.player is not None
        if self._judged_for != (id(self.player), size):
            self._judged_for = (id(self.player), size)
            count = len(self.player.recording.graph.nodes)
            self._legible = count <= nearby.LARGE
            if self._legible:
                smallest = arrange(self.player, range(count), STYLES[-1])
                self._legible = smallest.width * smallest.height <= MOST_SCREENS * size.width * size.height
        return self._legible

    # --- what is in view ---------------------------------------------------------------------------------------------

    def _follow(self, layout: GridLayout, size: Size) -> None:
        """Pan as little as possible, so that what the step is about is in view; the most important wins."""
        assert self.player is not None
        x, y = self.pan
        for box in reversed(focus(self.player, layout)):
            x = _reach(x, box.x - MARGIN, box.right + MARGIN, self._room(size).width)
            y = _reach(y, box.y, box.y + box.height + 1, size.height)
        self._pan_within(x, y)

    def _pan_within(self, x: int, y: int) -> None:
        room = self._room(self.size)
        self.pan = [
            max(0, min(x, self.picture.width - room.width)),
            max(0, min(y, self.picture.height - room.height)),
        ]

    def _room(self, size: Size) -> Size:
        return size if self.whole else Size(size.width - (26 if size.width >= 76 else 0), size.height)

    @property
    def origin(self) -> tuple[int, int]:
        """Where on the widget the picture's first cell lies; what fits stands in the middle."""
        room = self._room(self.size)
        spare_x, spare_y = room.width - self.picture.width, room.height - self.picture.height
        return (
            spare_x // 2 if spare_x > 0 else -self.pan[0],
            spare_y // 2 if spare_y > 0 else -self.pan[1],
        )

    def render_line(self, y: int) -> Strip:
        """One row: the picture's cells from where it is panned to, arrows where it goes on."""
        width = self.size.width
        if self.player is None or not self._styles:
            return Strip.blank(width)
        left, top = self.origin
        room = self._room(self.size).width
        cells = [(" ", "paper")] * width
        if 0 <= y - top < self.picture.height:
            row = self.picture.cells[y - top]
            for x in range(max(0, left), min(room, left + self.picture.width)):
                cells[x] = row[x - left]
        if cells and cells[0][0] == "":
            cells[0] = (" ", "paper")  # the second half of a wide character, cut by the edge
        if y == self.size.height // 2:
            if left < 0:
                cells[0] = ("‹", "chosen")
            if left + self.picture.width > room:
                cells[room - 1] = ("›", "chosen")
        if y == 0 and top < 0:
            cells[room // 2] = ("˄", "chosen")
        if y == self.size.height - 1 and top + self.picture.height > self.size.height:
            cells[room // 2] = ("˅", "chosen")
        if not self.whole and y == self.size.height - 1:
            for x, character in enumerate(nearby.left_out(self.player)[:room]):
                cells[x] = (character, "quiet")
        segments = [Segment(character, self._styles[style]) for character, style in cells if character]
        if not self.whole and width > room:
            segments = list(Segment.adjust_line_length(segments, room)) + self._listed(y, width - room)
        return Strip(segments).adjust_cell_length(width, self._styles["paper"]).simplify()

    def _listed(self, y: int, width: int) -> list[Segment]:
        assert self.player is not None
        looks = self._styles
        if y == 0:
            total = len(self.player.recording.graph.nodes)
            return [Segment(f"{total:,} nodes".ljust(width), looks["quiet"])]
        rows = nearby.listing(self.player, self.size.height - 1)
        if y - 1 >= len(rows):
            return [Segment(" " * width, looks["paper"])]
        here, name, data, grad = rows[y - 1]
        strong = Style(bold=here)
        text = Text(name)
        text.truncate(6, overflow="ellipsis", pad=True)
        return [
            Segment("▸" if here else " ", looks["paper"] + strong),
            Segment(text.plain + " ", looks["paper"] + strong),
            Segment(f"{_within(data, 8):>8} ", looks["passed"] + strong),
            Segment(f"{_within(grad, 8):>8} ", looks["pushed"] + strong),
        ]


def _within(number: str, width: int) -> str:
    """A number that is too long ends in an ellipsis: it must not look like another one."""
    return number if len(number) <= width else number[: width - 1] + "…"


def _reach(at: int, start: int, end: int, room: int) -> int:
    """The pan nearest to `at` that shows start to end; the start, if there is not room for both."""
    if end - start > room or start < at:
        return start
    return max(at, end - room)


# --- the step in words -----------------------------------------------------------------------------------------------


def worded(page: Page, looks: Looks, width: int, lines: int) -> Text:
    """The step's block: a rule with phase and place, the sentence on `lines` rows, the formula, before → after."""
    phase = Text(page.phase, looks["strong"])
    if page.place:
        phase.append(f" · {page.place}", looks["soft"])
    legend = Text.assemble(("upper ", looks["soft"]), ("data", looks["data-text"]),
                           (", lower ", looks["soft"]), ("grad", looks["grad-text"]))  # fmt: skip
    phase.truncate(max(width - legend.cell_len - 2, 8), overflow="ellipsis")
    rule = Text.assemble(phase, " ", ("─" * max(width - phase.cell_len - legend.cell_len - 2, 0), looks["soft"]), " ",
                         legend)  # fmt: skip
    told = sentence(page, looks)
    rows = list(told.wrap(_console(), width))
    if len(rows) > lines:
        rows = rows[:lines]
        rows[-1].append(" …")
        rows[-1].truncate(width, overflow="ellipsis")
    rows += [Text("")] * (lines - len(rows))
    names, numbers = two_rows(page.formula)
    slot = Text("")
    if page.slot is not None:
        whose, before, after = page.slot
        colour = looks[f"{page.kind}-text"]
        slot = Text.assemble(
            (f"{whose}  ", looks["soft"]), (before, looks["soft"] if before[0] == "╌" else colour),
            ("  →  ", looks["soft"]), (after, colour),
        )  # fmt: skip
    foot = [Text(names, looks["text"]), Text(numbers, looks[f"{page.kind}-text"]), slot]
    for row in foot:
        row.truncate(width, overflow="ellipsis")
    return Text("\n", no_wrap=True, end="").join([rule, *rows, *foot])


def sentence(page: Page, looks: Looks) -> Text:
    """A sentence with its names in bold, in place of backquotes; the verdict with its icon."""
    told = Text(style=looks["text"])
    if page.right is not None:
        told.append("✓ " if page.right else "✗ ", looks["ok" if page.right else "miss"])
    for place, part in enumerate(re.split(r"`([^`]*)`", page.sentence)):
        told.append(part, looks["strong"] if place % 2 else looks["text"])
    return told


@cache
def _console() -> Console:
    return Console(width=200)  # wraps texts for us, and prints nothing


# --- the line of steps -----------------------------------------------------------------------------------------------


def walk_line(player: Player, looks: Looks, width: int) -> Text:
    """One tick a step, in groups: past ones filled, the one now in yellow; a plain bar where there are too many."""
    count = f" {min(player.at, player.steps)}/{player.steps}"
    parts = groups(player.recording.events) if player.steps < width else []
    need = player.steps + len(parts) + len(count) + len("forward  seed  back ")
    line = Text(no_wrap=True, end="")
    if need > width or not parts:
        room = max(width - len(count) - 1, 1)
        done = round(room * min(player.at, player.steps) / player.steps)
        line.append("━" * max(done - 1, 0), looks["text"])
        line.append("█" if done else "", looks["marker"])
        line.append("─" * (room - done), looks["soft"])
        return line.append(count, looks["soft"])
    step, named = 0, set()
    for kind, size in parts:
        name = {"forward": "forward ", "seed": "seed ", "visit": "back "}[kind]
        if kind not in named:
            line.append((" " if step else "") + name, looks["soft"])
            named.add(kind)
        else:
            line.append(" ")
        for _ in range(size):
            step += 1
            if step == player.at:
                line.append("█", looks["marker"])
            else:
                line.append("━" if step < player.at else "─", looks["text" if step < player.at else "soft"])
    return line.append(count, looks["soft"])
