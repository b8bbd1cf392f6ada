"""How large things are: cards, ops and chips, in pixels at full size."""

from __future__ import annotations

from dataclasses import dataclass

from gradwalk.drawing.scene import Box, Row
from gradwalk.drawing.text import width
from gradwalk.walk.heat_maps import HeatMap, short

__all__ = ["chip_width", "map_cell", "map_size", "row_height", "size"]

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

MAP_SIDE = 150  # a map that has no numbers in it is about so wide or high at most
MAP_THIN = 12  # … and at least
MAP_CELL_HEIGHT, MAP_NUMBER = 20, 12  # of a cell with a number in it; the font size
MAP_BLOCK = 4  # between two blocks of a map
MAP_GAP = 4  # between the slot and the map, and below the map
MAP_NOTE = 15  # a line below a map

CONSTANT = 28  # height of a constant
OP = 28  # height of an op, width of one that is a single sign
STUB = 9  # the line between an op and its card
CHIP_HEIGHT = 20.0
SIGN = 38  # the sign of a broadcast or a reduction on a chip, with the room beside it


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height of a card, and the width of the op before it (0 if there is none)."""

    width: float
    height: float
    op: float


def size(box: Box) -> Size:
    """The size of a box.

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
    for row in box.rows:
        if row.map:
            needs.append(map_size(row.map)[0] + 2 * INSET)
            needs += [width(note) * CAPTION * LETTER + 2 * INSET for note in row.map.notes]
    height: float = (HEAD if box.label else NO_HEAD) + (NOTE if box.note else 0)
    height += sum(map(row_height, box.rows)) - (ROW - SLOT) * bool(box.rows) + FOOT
    return Size(round(max(needs)), height, op)


def row_height(row: Row) -> float:
    """How far it is from a row to the next.

    >>> row_height(Row("data", "2"))
    24
    """
    if not row.map:
        return ROW
    return ROW + map_size(row.map)[1] + MAP_GAP + MAP_NOTE * len(row.map.notes)


def map_cell(map: HeatMap) -> tuple[float, float]:
    """Width and height of a cell of a map: large enough for its numbers, or as large as the room allows.

    >>> map_cell(heat_map(gradwalk.ones(2, 2))), map_cell(heat_map(gradwalk.ones(50, 50)))
    ((26, 20), (3, 3))
    """
    rows, columns = len(map.cells), len(map.cells[0])
    if map.written:
        longest = max(width(short(x)) for row in map.cells for x in row)
        return max(26, round(longest * MAP_NUMBER * CELL) + 8), MAP_CELL_HEIGHT
    side = max(1, MAP_SIDE // max(rows, columns))
    return max(side, MAP_THIN // columns), max(side, MAP_THIN // rows)


def map_size(map: HeatMap) -> tuple[float, float]:
    """Width and height of a map, blocks apart.

    >>> map_size(heat_map(gradwalk.ones(2, 2, 3)))
    (78, 84)
    """
    wide, high = map_cell(map)
    blocks = len(map.cells) // map.block if map.block else 1
    return wide * len(map.cells[0]), high * len(map.cells) + MAP_BLOCK * (blocks - 1)


def chip_width(text: str, sign: str = "") -> float:
    """The width of a text that stands on a line, and of a sign in place of its arrow if there is one.

    >>> chip_width("× 3")
    36
    """
    if sign:
        return round((width(text) - width(" → ")) * CHIP * CELL) + SIGN + 12
    return round(width(text) * CHIP * CELL) + 12
