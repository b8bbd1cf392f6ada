"""Products and sums in batches: as for single samples, but every node is a row of lanes, one for each sample.

Parameters are single numbers; what they get back is added up over the lanes. Each kernel comes twice, for float64 and
for float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.native.layout import (
    ACCESS,
    COLUMN,
    DIRECT,
    FACTOR,
    IS_PAIR,
    LANES,
    LIST,
    LISTS,
    OTHER_FACTOR,
    OUT,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
    PART,
    PRODUCT_COLUMNS,
    PRODUCT_FIRST_TAIL,
    PRODUCT_INNER,
    PRODUCT_LEFT,
    PRODUCT_LEFT_GRADS,
    PRODUCT_RIGHT,
    PRODUCT_RIGHT_GRADS,
    PRODUCT_ROWS,
    PRODUCT_SUMS,
    PRODUCT_TAILS,
    ROW,
    SCRATCH,
    SPACE,
    START,
    SUM_COUNT,
    SUM_FIRST_PART,
    SUM_PARTS,
    SUMS,
    WANTS_GRADS,
    WIDTH,
    WRITE,
    WRITTEN,
)  # fmt: skip
from gradwalk.compile.native.microkernels import add_any_order, doubles, floats, inlined, ints, longs, position
from gradwalk.compile.native.products import KEPT, KEPT32, gather, gather32, multiply, multiply32

__all__ = ["KERNELS"]


def _products(memory: Any, size: int, real: Any, multiplied: Any, gathered: Any, vector: int) -> dict[str, Any]:
    @inlined
    def left_side(c: Any, access: Any, rows: Any, inner: Any, scratch: Any) -> Any:
        """Parameters by lists are brought together first."""
        if access[LIST] < 0:
            return c[PARAMETERS] + size * access[START], access[ROW], access[COLUMN]
        to, values = memory(scratch), memory(c[PARAMETERS])
        places = ints(c[LISTS] + 4 * access[LIST])
        for i in range(rows * inner):
            to[i] = values[places[i]]
        return scratch, inner, 1

    @inlined
    def right_side(c: Any, access: Any, inner: Any, columns: Any, scratch: Any) -> Any:
        lanes = c[LANES]
        if access[LIST] < 0 and access[COLUMN] == 1:
            return c[OWN] + size * access[START] * lanes, access[ROW] * lanes
        for k in range(inner):
            for s in range(columns):
                line = memory(c[OWN] + size * position(c, access, k, s, columns) * lanes)
                to = memory(scratch + size * (k * columns + s) * lanes)
                for lane in range(lanes):
                    to[lane] = line[lane]
        return scratch, columns * lanes

    def product(descriptor: int, context: int) -> None:
        d, c = longs(descriptor), longs(context)
        rows, columns, inner, lanes = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER], c[LANES]
        out = c[OWN] + size * d[OUT] * lanes
        left, left_row, left_step = left_side(c, longs(descriptor + 8 * PRODUCT_LEFT), rows, inner, c[SCRATCH])
        free = c[SCRATCH] + size * rows * inner
        right, right_row = right_side(c, longs(descriptor + 8 * PRODUCT_RIGHT), inner, columns, free)
        tails = d[PRODUCT_TAILS]
        for j in range(tails):
            access = longs(descriptor + 8 * (PRODUCT_FIRST_TAIL + j * (ACCESS + 1)))
            for r in range(rows):
                for s in range(columns):
                    place = position(c, access, r, s, columns)
                    to = memory(out + size * (r * columns + s) * lanes)
                    if access[SPACE] == PARAMETERS:
                        x = memory(c[PARAMETERS])[place]
                        for lane in range(lanes):
                            to[lane] = x if j == 0 else to[lane] + x
                    else:
                        line = memory(c[OWN] + size * place * lanes)
                        for lane in range(lanes):
                            to[lane] = line[lane] if j == 0 else to[lane] + line[lane]
        multiplied(rows, inner, columns * lanes, left, left_row, left_step, right, right_row, out, columns * lanes,
                   1 if tails > 0 else 0)  # fmt: skip

    def product_back(descriptor: int, context: int) -> None:
        d, c = longs(descriptor), longs(context)
        rows, columns, inner, lanes = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER], c[LANES]
        push = c[OWN_GRADS] + size * d[OUT] * lanes
        for j in range(d[PRODUCT_TAILS]):
            access = longs(descriptor + 8 * (PRODUCT_FIRST_TAIL + j * (ACCESS + 1)))
            if access[WANTS_GRADS]:
                for r in range(rows):
                    for s in range(columns):
                        place = position(c, access, r, s, columns)
                        given = memory(push + size * (r * columns + s) * lanes)
                        if access[SPACE] == PARAMETERS:
                            total = real(0.0)
                            for lane in range(lanes):
                                total = add_any_order(total, given[lane])
                            memory(c[PARAMETER_GRADS])[place] += total
                        else:
                            line = memory(c[OWN_GRADS] + size * place * lanes)
                            for lane in range(lanes):
                                line[lane] += given[lane]
        right_access = longs(descriptor + 8 * PRODUCT_RIGHT)
        free = c[SCRATCH] + size * rows * inner
        if d[PRODUCT_LEFT_GRADS]:
            right, right_row = right_side(c, right_access, inner, columns, free)
            sums = c[SUMS] + size * vector * d[PRODUCT_SUMS]
            gathered(rows, inner, push, columns * lanes, right, right_row, columns * lanes, sums)
        if d[PRODUCT_RIGHT_GRADS]:
            left, left_row, left_step = left_side(c, longs(descriptor + 8 * PRODUCT_LEFT), rows, inner, c[SCRATCH])
            if d[PRODUCT_RIGHT_GRADS] >= DIRECT:
                to_grads = c[OWN_GRADS] + size * right_access[START] * lanes
                multiplied(inner, rows, columns * lanes, left, left_step, left_row, push, columns * lanes, to_grads,
                           right_access[ROW] * lanes, 0 if d[PRODUCT_RIGHT_GRADS] == WRITTEN else 1)  # fmt: skip
            else:
                multiplied(inner, rows, columns * lanes, left, left_step, left_row, push, columns * lanes, free,
                           columns * lanes, 0)  # fmt: skip
                for k in range(inner):
                    for s in range(columns):
                        line = memory(c[OWN_GRADS] + size * position(c, right_access, k, s, columns) * lanes)
                        added = memory(free + size * (k * columns + s) * lanes)
                        for lane in range(lanes):
                            line[lane] += added[lane]

    def product_end(descriptor: int, context: int) -> None:
        """Add the sums that a product kept to the gradients of its parameters."""
        d, c = longs(descriptor), longs(context)
        rows, inner = d[PRODUCT_ROWS], d[PRODUCT_INNER]
        grads = memory(c[PARAMETER_GRADS])
        if d[PRODUCT_LEFT_GRADS]:
            access = longs(descriptor + 8 * PRODUCT_LEFT)
            for r in range(rows):
                for k in range(inner):
                    sums = memory(c[SUMS] + size * vector * (d[PRODUCT_SUMS] + r * inner + k))
                    total = real(0.0)
                    for v in range(vector):
                        total += sums[v]
                    grads[position(c, access, r, k, inner)] += total

    return {"product": product, "product_back": product_back, "product_end": product_end}


def _sums(memory: Any, size: int, real: Any) -> dict[str, Any]:
    def sums(descriptor: int, context: int) -> None:
        d, c = longs(descriptor), longs(context)
        lanes = c[LANES]
        values = memory(c[PARAMETERS])
        for i in range(d[SUM_COUNT]):
            out = memory(c[OWN] + size * (d[OUT] + i) * lanes)
            for lane in range(lanes):
                out[lane] = real(-0.0)
            for j in range(d[SUM_PARTS]):
                part = descriptor + 8 * (SUM_FIRST_PART + j * PART)
                width, pair = longs(part)[WIDTH], longs(part)[IS_PAIR]
                a, b = longs(part + 8 * FACTOR), longs(part + 8 * OTHER_FACTOR)
                for k in range(width):
                    at = position(c, a, i, k, width)
                    other = position(c, b, i, k, width)
                    x, y = memory(c[OWN] + size * at * lanes), memory(c[OWN] + size * other * lanes)
                    if not pair:
                        if a[SPACE] == PARAMETERS:
                            for lane in range(lanes):
                                out[lane] += values[at]
                        else:
                            for lane in range(lanes):
                                out[lane] += x[lane]
                    elif b[SPACE] == PARAMETERS:
                        number = values[at] * values[other]
                        for lane in range(lanes):
                            out[lane] += number
                    elif a[SPACE] == PARAMETERS:
                        number = values[at]
                        for lane in range(lanes):
                            out[lane] += number * y[lane]
                    else:
                        for lane in range(lanes):
                            out[lane] += x[lane] * y[lane]

    @inlined
    def pushed(c: Any, a: Any, at: Any, b: Any, other: Any, pair: Any, push: Any) -> None:
        """The gradient of one factor, or of a single term."""
        lanes = c[LANES]
        values, partner = memory(c[PARAMETERS]), memory(c[OWN] + size * other * lanes)
        scalar_partner = b[SPACE] == PARAMETERS
        if a[SPACE] == PARAMETERS:
            total = real(0.0)
            if pair and not scalar_partner:
                for lane in range(lanes):
                    total = add_any_order(total, push[lane] * partner[lane])
            else:
                for lane in range(lanes):
                    total = add_any_order(total, push[lane])
                if pair:
                    total *= values[other]
            memory(c[PARAMETER_GRADS])[at] += total
        else:
            grads = memory(c[OWN_GRADS] + size * at * lanes)
            if a[WANTS_GRADS] == WRITE:
                for lane in range(lanes):
                    grads[lane] = real(-0.0)
            if not pair:
                for lane in range(lanes):
                    grads[lane] += push[lane]
            elif scalar_partner:
                number = values[other]
                for lane in range(lanes):
                    grads[lane] += number * push[lane]
            else:
                for lane in range(lanes):
                    grads[lane] += partner[lane] * push[lane]

    def sums_back(descriptor: int, context: int) -> None:
        d, c = longs(descriptor), longs(context)
        for j in range(d[SUM_PARTS]):
            part = descriptor + 8 * (SUM_FIRST_PART + j * PART)
            width, pair = longs(part)[WIDTH], longs(part)[IS_PAIR]
            for side in range(2):  # one after the other: the first may write where the second adds
                a, b = longs(part + 8 * FACTOR), longs(part + 8 * OTHER_FACTOR)
                if side == 1:
                    a, b = b, a
                if a[WANTS_GRADS]:
                    for i in range(d[SUM_COUNT]):
                        push = memory(c[OWN_GRADS] + size * (d[OUT] + i) * c[LANES])
                        for k in range(width):
                            pushed(c, a, position(c, a, i, k, width), b, position(c, b, i, k, width), pair, push)

    return {"sums": sums, "sums_back": sums_back}


#: Kernels by name, for each type of number.
KERNELS = {
    "float64": _products(doubles, 8, np.float64, multiply, gather, KEPT) | _sums(doubles, 8, np.float64),
    "float32": _products(floats, 4, np.float32, multiply32, gather32, KEPT32) | _sums(floats, 4, np.float32),
}
