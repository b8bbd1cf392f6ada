"""What a drawing shows, before anything has a place: boxes with texts, and the lines between them."""

from __future__ import annotations

from dataclasses import dataclass

from gradwalk.walk.heat_maps import HeatMap

__all__ = ["Scene"]


@dataclass(frozen=True, slots=True)
class Row:
    """A number in a box: the caption, its text, and its place on the scale of magnitudes if there is one.

    Of many numbers the text is their shape, and below it stands a map of them.
    """

    caption: str  # "data" or "grad"
    text: str | None
    heat: int | None = None
    map: HeatMap | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A node, or a group of nodes."""

    kind: str  # "leaf", "node", "constant" or "group"
    label: str
    op: str
    rows: tuple[Row, ...]
    title: str  # everything, in full: what a pointer that rests on the box is told
    note: str = ""  # a second line, for a group


@dataclass(frozen=True, slots=True)
class Line:
    """One use of a box by another; a box that is used twice has two lines."""

    source: int
    target: int
    text: str = ""
    title: str = ""
    heat: int | None = None
    count: int = 1  # how many edges this line stands for, for its width; 0 for one of very many lines
    spread: str = ""  # "fan" where numbers are repeated, "funnel" where many become few


@dataclass(frozen=True)
class Scene:
    """Boxes in topological order, the lines between them, and words about the whole.

    >>> scene = scene_by_node([Value(2.0) * 3])
    >>> len(scene.boxes), len(scene.lines), scene.summary
    (3, 2, '3 nodes, 2 edges')
    """

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    summary: str
    scale: tuple[str, ...] = ()  # where the steps of the scale of magnitudes begin, and where the last ends
    words: str = ""  # the whole for whoever cannot see it, where the summary and titles do not say enough

    @property
    def coloured(self) -> bool:
        """Whether there are maps whose numbers only their colours tell.

        >>> scene_by_node([gradwalk.zeros(7)]).coloured, scene_by_node([gradwalk.zeros(2)]).coloured
        (True, False)
        """
        return any(row.map is not None and not row.map.written for box in self.boxes for row in box.rows)
