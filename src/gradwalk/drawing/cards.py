"""How large things are: cards, ops and chips, in pixels at full size."""

from __future__ import annotations

from dataclasses import dataclass

from gradwalk.drawing.scene import Box
from gradwalk.drawing.text import width

__all__ = ["chip_width", "size"]

LABEL, VALUE, CAPTION, OP_SIGN, OP_WORD, CHIP = 15, 14, 12, 18, 13, 13  # font sizes
CELL = 0.605  # of its size: how wide a character of a fixed-width font is
LETTER = 0.56  # … and how wide a letter of the proportional font is, about

HEAD = 28  # from the top of a card to its first row, if it has a label
NO_HEAD = 6
NOTE = 17  # what a second line adds
ROW, SLOT = 24, 21  # from row to row; the slot of a row
FOOT = 6  # below the last slot
SIDE = 5  # from the side of a card to a slot
INSET = 12  # … and to a text
LEAST_WIDTH = 92
CAPTION_WIDTH = 38  # "data" and the room after it

CONSTANT = 28  # height of a constant
OP = 28  # height of an op, width of one that is a single sign
STUB = 9  # the line between an op and its card
CHIP_HEIGHT = 20.0


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height of a card, and the width of the op before it (0 if there is none)."""

    width: float
    height: float
    op: float


def size(box: Box) -> Size:
    """The size of a box.

    >>> from gradwalk.drawing.scene import Row
    >>> size(Box("leaf", "a", "", (Row("data", "2"), Row("grad", None)), ""))
    Size(width=92, height=79, op=0.0)
    """
    op = 0.0
    if box.op:
        op = OP if width(box.op) == 1 else max(34, round(width(box.op) * OP_WORD * LETTER) + 18)
    if box.kind == "constant":
        text = f"{box.label} {box.rows[0].text}".strip()
        return Size(max(CONSTANT, round(width(text) * VALUE * CELL) + 20), CONSTANT, 0.0)
    needs = [LEAST_WIDTH, width(box.label) * LABEL * CELL + 2 * INSET, width(box.note) * CAPTION * LETTER + 2 * INSET]
    needs += [width(row.text or "") * VALUE * CELL + CAPTION_WIDTH + 2 * INSET for row in box.rows]
    height = (HEAD if box.label else NO_HEAD) + (NOTE if box.note else 0)
    height += ROW * len(box.rows) - (ROW - SLOT) * bool(box.rows) + FOOT
    return Size(round(max(needs)), height, op)


def chip_width(text: str) -> float:
    """The width of a text that stands on a line.

    >>> chip_width("× 3")
    36
    """
    return round(width(text) * CHIP * CELL) + 12
