"""Arrays in rows of characters: one with a cell lit, and a matrix product as three faces of a cube.

The left factor stands at the left, the right one above, and the product in the corner between them: each of its cells
is at the end of a row of the one and of a column of the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradwalk.walk import readable
from gradwalk.walk.formatting import guarded
from gradwalk.walk.heat_maps import short
from gradwalk.walk.many import Many

__all__ = ["array_rows", "face_rows", "in_two_dims", "products", "small"]

Piece = tuple[str, str]  # a text, and its style: "text", "lit", "cell" or "soft"
Place = tuple[int, ...]

MOST_ROWS, MOST_COLUMNS = 8, 8  # of an array that are shown around the cell
SMALL = 6  # rows and columns up to which an array is printed whole


def small(x: object) -> bool:
    """Whether something is an array of one or two dims with few enough numbers to be printed.

    >>> small(Many((2, 2), (1.0, 2.0, 3.0, 4.0))), small(Many((0,), ())), small(3.0)
    (True, False, False)
    """
    return isinstance(x, Many) and bool(x.numbers) and 1 <= len(x.shape) <= 2 and max(x.shape) <= SMALL


def in_two_dims(x: Many, place: Place = ()) -> Many:
    """The last two dims of an array, at a place in the others; a vector as one row.

    >>> in_two_dims(Many((2, 1, 2), (1.0, 2.0, 3.0, 4.0)), (1, 0, 0))
    Many(shape=(1, 2), numbers=(3.0, 4.0))
    """
    if len(x.shape) < 2:
        return Many((1, len(x.numbers)), x.numbers)
    rows, columns = x.shape[-2:]
    return Many((rows, columns), _block(x, place, rows * columns))


def _window(n: int, at: int, room: int) -> range:
    start = max(0, min(at - room // 2, n - room))
    return range(start, min(n, start + room))


def _matrix(x: Many, rows: range, columns: range, lit: object, cell: Place | None) -> list[list[Piece]]:
    """Rows of cells that stand below each other; "…" where there is more."""
    texts = {(i, j): short(x[i, j]) for i in rows for j in columns}
    wide = {j: max((len(texts[i, j]) for i in rows), default=0) for j in columns}
    found = []
    for i in rows:
        pieces: list[Piece] = [("… ", "soft")] if columns.start else []
        for j in columns:
            style = "cell" if (i, j) == cell else "lit" if ("row", i) in lit or ("column", j) in lit else "text"  # type: ignore[operator]
            pieces += [(texts[i, j].rjust(wide[j]), style), ("  " if j + 1 in wide else "", "text")]
        pieces += [(" …", "soft")] if columns.stop < x.shape[1] else []
        found.append(pieces)
    return found


def array_rows(x: Many, place: Place = ()) -> list[list[Piece]]:
    """An array, or as much of it as fits around a cell, which is lit.

    >>> print(plain(array_rows(Many((2, 2), (1.0, -2.5, 3.0, 4.0)))))
    1  −2.5
    3     4
    """
    flat = in_two_dims(x, place)
    at = (place[-2:] if len(x.shape) > 1 else (0, *place)) if place else None
    rows = _window(flat.shape[0], at[0] if at else 0, MOST_ROWS)
    columns = _window(flat.shape[1], at[1] if at else 0, MOST_COLUMNS)
    return _with_dots(_matrix(flat, rows, columns, (), at), rows, flat.shape[0])


def _with_dots(lines: list[list[Piece]], rows: range, n: int) -> list[list[Piece]]:
    dots: list[Piece] = [("⋮", "soft")]
    return [*([dots] if rows.start else []), *lines, *([dots] if rows.stop < n else [])]


def face_rows(a: Many, b: Many, c: Many, place: Place = ()) -> list[list[Piece]]:
    """A product and its factors, the row and the column of one cell lit.

    >>> a, b = Many((1, 2), (1.0, 2.0)), Many((2, 2), (3.0, 4.0, 5.0, 6.0))
    >>> print(plain(face_rows(a, b, Many((1, 2), (13.0, 16.0)), (0, 1))))
            3   4
            5   6
    <BLANKLINE>
    1  2   13  16
    """
    left, above, corner = _faces(a, b, c, place)
    at = (_row_of(a, c, place), 0 if len(b.shape) == 1 else place[-1]) if place else None
    rows = _window(corner.shape[0], at[0] if at else 0, MOST_ROWS)
    columns = _window(corner.shape[1], at[1] if at else 0, MOST_COLUMNS)
    inner = _window(left.shape[1], 0, MOST_COLUMNS)
    lit_row, lit_column = ({("row", at[0])}, {("column", at[1])}) if at else (set(), set())
    west = _matrix(left, rows, inner, lit_row, None)
    north = _matrix(above, inner, columns, lit_column, None)
    south = _matrix(corner, rows, columns, (), at)
    _even(north, south)
    margin = max((_length(line) for line in west), default=0)
    found: list[list[Piece]] = [[(" " * (margin + 4), "text"), *line] for line in north]
    if inner.stop < left.shape[1]:
        found.append([(" " * (margin + 4) + "⋮", "soft")])
    found.append([])
    for line, product in zip(west, south, strict=True):
        found.append([*line, (" " * (margin + 4 - _length(line)), "text"), *product])
    return _with_dots(found, range(rows.stop), corner.shape[0])


def _even(*blocks: list[list[Piece]]) -> None:
    """Give columns that stand above each other the same width."""
    lines = [line for block in blocks for line in block]
    for k in range(max(map(len, lines), default=0)):
        cells = [line for line in lines if k < len(line) and line[k][1] != "soft"]
        wide = max((len(line[k][0]) for line in cells), default=0)
        for line in cells:
            line[k] = (line[k][0].rjust(wide), line[k][1])


def _length(line: Iterable[Piece]) -> int:
    return sum(len(text) for text, _ in line)


def _faces(a: Many, b: Many, c: Many, place: Place) -> tuple[Many, Many, Many]:
    left = in_two_dims(a, _behind(a, place))
    above = Many((b.shape[0], 1), b.numbers) if len(b.shape) == 1 else in_two_dims(b, _behind(b, place))
    return left, above, Many((left.shape[0], above.shape[1]), _block(c, place, left.shape[0] * above.shape[1]))


def _behind(x: Many, place: Place) -> Place:
    """Where the block of a factor is that a cell of the product comes from: dims of 1 serve all."""
    extra = len(x.shape) - 2
    batch = place[: max(0, len(place) - 2)][-extra:] if extra > 0 else ()
    return tuple(0 if n == 1 else i for i, n in zip(batch, x.shape[:extra], strict=False)) if extra > 0 else ()


def _block(x: Many, place: Place, size: int) -> tuple[float, ...]:
    """The numbers of the block of so many that a place is in."""
    block = 0
    for i, n in zip(place, x.shape[:-2], strict=False):
        block = block * n + i
    return x.numbers[block * size : (block + 1) * size]


def _row_of(a: Many, c: Many, place: Place) -> int:
    if len(a.shape) == 1:
        return 0
    return place[-1] if len(c.shape) == 1 or len(place) == 1 else place[-2]


def products(a: Many, b: Many, c: Many, place: Place, most: int = 6) -> str:
    """The sum that a cell of a product is.

    >>> products(Many((1, 2), (1.0, 2.0)), Many((2, 1), (3.0, -5.0)), Many((1, 1), (-7.0,)), (0, 0))
    '1 × 3 + 2 × (−5) = −7'
    """
    left, above, _ = _faces(a, b, c, place)
    row, column = _row_of(a, c, place), 0 if len(b.shape) == 1 else place[-1]
    terms = [f"{guarded(readable(left[row, k]))} × {guarded(readable(above[k, column]))}" for k in range(left.shape[1])]
    if len(terms) > most:
        terms = [*terms[: most - 1], f"… {len(terms) - most} more …", terms[-1]]
    return f"{' + '.join(terms) or '0'} = {readable(c[place])}"


def plain(rows: Iterable[Iterable[Piece]]) -> str:
    """Rows without their styles."""
    return "\n".join("".join(text for text, _ in row).rstrip() for row in rows)
