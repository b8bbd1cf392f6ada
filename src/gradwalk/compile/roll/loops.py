"""The same rows again and again: a rollout, written out step after step, found to be a loop.

A row of a body that is repeated reads, in every turn, either the same position, or one that moves on by the same
distance from turn to turn: a result of this turn or of an earlier one, or the next of the inputs.
"""

from __future__ import annotations

import math

import numpy as np

from gradwalk.compile.array_types import Longs

__all__ = ["MOST", "find_loops"]

Loops = tuple[tuple[int, int, int], ...]

#: A loop has at least so many turns, and so many rows in all: it has to be compiled. Its body has at most so many.
TURNS, ROWS, BODY = 8, 400, 256
#: Operands of a row, at most; a row of more is in no loop.
MOST = 4


def find_loops(what: Longs, operands: Longs, out: int) -> Loops:
    """Where loops are: first row, rows of the body, turns.

    `what` says what each row does, with a negative number for one that is in no loop; `operands` has MOST positions for
    each row, -1 where it has fewer operands; results stand from position `out` on. What stands in the place of a turn
    before the first one is read as such a turn, and in no other way.

    >>> import numpy as np
    >>> row = np.arange(500)  # each doubles the one before
    >>> find_loops(row * 0, np.column_stack([row + 9, row * 0 + 5, row * 0 - 1, row * 0 - 1]), out=10)
    ((0, 1, 500),)
    """
    found: list[tuple[int, int, int]] = []
    waiting = [(0, len(what))]
    while waiting:
        begin, end = waiting.pop()
        if end - begin < ROWS:
            continue
        loop = _around(what[begin:end], operands[begin:end], (end - begin) // 2)
        loop = loop and _apart(operands, begin + loop[0], loop[1], loop[2], out)
        if loop is None:
            continue
        found.append(loop)
        first, body, turns = loop
        waiting += [(begin, first), (first + body * turns, end)]
    return tuple(sorted(found))


def _around(what: Longs, operands: Longs, middle: int) -> tuple[int, int, int] | None:
    """The loop that the row in the middle is in; of several the longest, or that with the shortest body."""
    rows = len(what)
    best: tuple[int, int, int] | None = None
    for body in (np.flatnonzero(what[middle + 1 : middle + 1 + BODY] == what[middle]) + 1).tolist():
        window = slice(middle, middle + 2 * body)
        if rows - middle < 3 * body or (what[window] != what[middle + body : middle + 3 * body]).any():
            continue
        moved = operands[body:] - operands[:-body]
        same = (what[:-body] == what[body:]) & (what[:-body] >= 0)
        steady = same[:-body] & same[body:] & (moved[:-body] == moved[body:]).all(1)
        if not steady[middle : middle + body].all():
            continue
        breaks = np.flatnonzero(~steady)
        at = int(np.searchsorted(breaks, middle))
        first = int(breaks[at - 1]) + 1 if at else 0
        last = int(breaks[at]) if at < len(breaks) else len(steady)
        turns = (last - first) // body + 2
        if turns >= TURNS and turns * body >= max(ROWS, 1.5 * math.prod(best[1:]) if best else 0):
            best = first, body, turns
    return best


def _apart(operands: Longs, first: int, body: int, turns: int, out: int) -> tuple[int, int, int] | None:
    """The loop, less its first turns where a row reads by other ways what stands before it."""
    for _ in range(3):
        start, rows = out + first, slice(first, first + body)
        moved = operands[first + body : first + 2 * body] - operands[rows]
        furthest = np.maximum(operands[rows], operands[rows] + (turns - 1) * moved)
        if turns < TURNS or (furthest[moved != body] < start - body).all():
            return (first, body, turns) if turns >= TURNS else None
        first, turns = first + body, turns - 1
    return None
