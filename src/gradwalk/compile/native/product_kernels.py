"""The kernels for products of matrices: for single samples, and for batches in float64 and float32.

Each takes the address of its descriptor and that of the context (`layout` says what stands where); `…_back` pushes
gradients. A single sample is one lane, which is known when its kernels are compiled. In a batch every number of own
memory is a row of lanes, and the left side is parameters, which are single numbers: what they get back is kept as
vectors, and added up by `product_end`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.native.layout import (
    ACCESS,
    COLUMN,
    DIRECT,
    LANES,
    LIST,
    LISTS,
    OUT,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
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
    SUMS,
    WANTS_GRADS,
    WRITTEN,
)  # fmt: skip
from gradwalk.compile.native.microkernels import add_any_order, doubles, floats, inlined, ints, longs, position
from gradwalk.compile.native.products import KEPT, KEPT32, gather, gather32, multiply, multiply32

__all__ = ["KERNELS"]


def _products(
    memory: Any, size: int, real: Any, multiplied: Any, gathered: Any, vector: int, *, single: bool
) -> dict[str, Any]:
    @inlined
    def lanes_of(c: Any, access: Any) -> Any:
        """How many numbers stand at each position of a matrix."""
        return 1 if single or access[SPACE] == PARAMETERS else c[LANES]

    @inlined
    def moved(c: Any, base: Any, access: Any, rows: Any, columns: Any, to: Any, row: Any, column: Any, back: Any
              ) -> None:  # fmt: skip
        """Copy a matrix that is scattered over memory to where it has such distances, or add what is there to it."""
        lanes, listed, places = lanes_of(c, access), access[LIST] >= 0, ints(c[LISTS] + 4 * access[LIST])
        for r in range(rows):
            start, step = access[START] + r * access[ROW], access[COLUMN]
            for k in range(columns):
                place = np.int64(places[r * columns + k]) if listed else start + k * step
                line, together = memory(base + size * place * lanes), memory(to + size * (r * row + k * column) * lanes)
                for lane in range(lanes):
                    if back:
                        line[lane] += together[lane]
                    else:
                        together[lane] = line[lane]

    @inlined
    def left_side(c: Any, access: Any, rows: Any, inner: Any) -> Any:
        """Where the left side is, how far apart its rows and columns are, and where scratch memory is free."""
        if access[LIST] < 0:
            return c[access[SPACE]] + size * access[START], access[ROW], access[COLUMN], c[SCRATCH]
        moved(c, c[access[SPACE]], access, rows, inner, c[SCRATCH], inner, 1, False)
        return c[SCRATCH], inner, 1, c[SCRATCH] + size * rows * inner

    @inlined
    def right_side(c: Any, access: Any, inner: Any, columns: Any, scratch: Any) -> Any:
        """Where the right side is, with its columns side by side, and how far apart its rows are."""
        lanes = lanes_of(c, access)
        if access[LIST] < 0 and access[COLUMN] == 1:
            return c[access[SPACE]] + size * access[START] * lanes, access[ROW] * lanes
        moved(c, c[access[SPACE]], access, inner, columns, scratch, columns, 1, False)
        return scratch, columns * lanes

    @inlined
    def tail(c: Any, access: Any, rows: Any, columns: Any, lanes: Any, out: Any, first: Any) -> None:
        """Add a single term to each result of a product; the first one is copied instead."""
        own, base, listed = lanes_of(c, access), c[access[SPACE]], access[LIST] >= 0
        begin, row, step = access[START], access[ROW], access[COLUMN]
        for r in range(rows):
            to, start = memory(out + size * r * columns * lanes), begin + r * row
            if not listed and own == lanes and step == 1:
                line = memory(base + size * start * lanes)
                for k in range(columns * lanes):
                    to[k] = line[k] if first else to[k] + line[k]
            elif not listed and own == 1 and (step == 0 or columns == 1):
                x = memory(base)[start]
                for k in range(columns * lanes):
                    to[k] = x if first else to[k] + x
            else:
                places = ints(c[LISTS] + 4 * (access[LIST] + r * columns))
                for k in range(columns):
                    line = memory(base + size * (np.int64(places[k]) if listed else start + k * step) * own)
                    for lane in range(lanes):
                        x = line[lane if own == lanes else 0]
                        to[k * lanes + lane] = x if first else to[k * lanes + lane] + x

    @inlined
    def tail_back(c: Any, access: Any, rows: Any, columns: Any, lanes: Any, push: Any) -> None:
        own, base, listed = lanes_of(c, access), c[access[SPACE] + 1], access[LIST] >= 0
        begin, row, step = access[START], access[ROW], access[COLUMN]
        for r in range(rows):
            given, start = memory(push + size * r * columns * lanes), begin + r * row
            if not listed and own == 1 and (step == 0 or columns == 1):
                total = real(0.0)
                for k in range(columns * lanes):
                    total = add_any_order(total, given[k])
                memory(base)[start] += total
            elif not listed and own == lanes and step == 1:
                line = memory(base + size * start * lanes)
                for k in range(columns * lanes):
                    line[k] += given[k]
            else:
                places = ints(c[LISTS] + 4 * (access[LIST] + r * columns))
                for k in range(columns):
                    line = memory(base + size * (np.int64(places[k]) if listed else start + k * step) * own)
                    if own == lanes:
                        for lane in range(lanes):
                            line[lane] += given[k * lanes + lane]
                    else:
                        total = real(0.0)
                        for lane in range(lanes):
                            total = add_any_order(total, given[k * lanes + lane])
                        line[0] += total

    @inlined
    def added_up(sums: Any, total: Any) -> Any:
        """The sum of a vector and what there is besides."""
        for v in range(vector):
            total = add_any_order(total, sums[v])
        return total

    @inlined
    def along_rows(c: Any, left: Any, right: Any, rows: Any, inner: Any, columns: Any, push: Any) -> None:
        """push · rightᵀ where rows are long: products of rows with rows, so that nothing need be turned."""
        sums, grads, whole = memory(c[SCRATCH]), memory(c[left[SPACE] + 1]), columns // vector * vector
        for i in range(rows * inner * vector):
            sums[i] = 0.0
        values = c[right[SPACE]] + size * right[START]
        gathered(rows, inner, push, columns, values, right[ROW], whole, c[SCRATCH])
        for r in range(rows):
            g = memory(push + size * r * columns)
            for k in range(inner):
                x = memory(values + size * k * right[ROW])
                total = real(0.0)
                for n in range(whole, columns):
                    total += g[n] * x[n]
                kept = memory(c[SCRATCH] + size * vector * (r * inner + k))
                grads[position(c, left, r, k, inner)] += added_up(kept, total)

    @inlined
    def kept(d: Any, c: Any, left: Any, right: Any, push: Any) -> None:
        """Keep the gradients of parameters as vectors, until the batch is at its end."""
        rows, columns, inner = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER]
        numbers, sums = columns * c[LANES], c[SUMS] + size * vector * d[PRODUCT_SUMS]
        values, row = right_side(c, right, inner, columns, c[SCRATCH])
        gathered(rows, inner, push, numbers, values, row, numbers, sums)

    @inlined
    def pushed(d: Any, c: Any, left: Any, right: Any, push: Any) -> None:
        """push · rightᵀ; where rows are long, products of rows with rows, so that nothing need be turned."""
        rows, columns, inner = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER]
        grads = c[left[SPACE] + 1]
        if columns >= 4 * vector and right[LIST] < 0 and right[COLUMN] == 1:
            along_rows(c, left, right, rows, inner, columns, push)
            return
        turned, free = c[SCRATCH], c[SCRATCH] + size * inner * columns
        moved(c, c[right[SPACE]], right, inner, columns, turned, 1, inner, False)
        at_once = d[PRODUCT_LEFT_GRADS] == DIRECT
        to, row = free, inner
        if at_once:
            to, row = grads + size * left[START], left[ROW]
        multiplied(rows, columns, inner, push, columns, 1, turned, inner, to, row, 1 if at_once else 0)
        if not at_once:
            moved(c, grads, left, rows, inner, free, inner, 1, True)

    to_left = pushed if single else kept

    def product(descriptor: int, context: int) -> None:
        """out = left · right + tails."""
        d, c = longs(descriptor), longs(context)
        rows, columns, inner, tails = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER], d[PRODUCT_TAILS]
        lanes = 1 if single else c[LANES]
        out = c[OWN] + size * d[OUT] * lanes
        left, left_row, left_step, free = left_side(c, longs(descriptor + 8 * PRODUCT_LEFT), rows, inner)
        right, right_row = right_side(c, longs(descriptor + 8 * PRODUCT_RIGHT), inner, columns, free)
        for j in range(tails):
            access = longs(descriptor + 8 * (PRODUCT_FIRST_TAIL + j * (ACCESS + 1)))
            tail(c, access, rows, columns, lanes, out, j == 0)
        multiplied(rows, inner, columns * lanes, left, left_row, left_step, right, right_row, out, columns * lanes,
                   1 if tails > 0 else 0)  # fmt: skip

    def product_back(descriptor: int, context: int) -> None:
        """Push the gradients to the tails, the right side (leftᵀ · push) and the left side (push · rightᵀ)."""
        d, c = longs(descriptor), longs(context)
        rows, columns, inner = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER]
        lanes = 1 if single else c[LANES]
        numbers, push = columns * lanes, c[OWN_GRADS] + size * d[OUT] * lanes
        for j in range(d[PRODUCT_TAILS]):
            access = longs(descriptor + 8 * (PRODUCT_FIRST_TAIL + j * (ACCESS + 1)))
            if access[WANTS_GRADS]:
                tail_back(c, access, rows, columns, lanes, push)
        left_access, right_access = longs(descriptor + 8 * PRODUCT_LEFT), longs(descriptor + 8 * PRODUCT_RIGHT)
        if d[PRODUCT_RIGHT_GRADS]:
            left, left_row, left_step, free = left_side(c, left_access, rows, inner)
            grads = c[right_access[SPACE] + 1]
            at_once, wide = d[PRODUCT_RIGHT_GRADS] >= DIRECT, lanes_of(c, right_access)
            to, row = free, numbers
            if at_once:
                to, row = grads + size * right_access[START] * wide, right_access[ROW] * wide
            add = 1 if at_once and d[PRODUCT_RIGHT_GRADS] != WRITTEN else 0
            multiplied(inner, rows, numbers, left, left_step, left_row, push, numbers, to, row, add)
            if not at_once:
                moved(c, grads, right_access, inner, columns, free, columns, 1, True)
        if d[PRODUCT_LEFT_GRADS]:
            to_left(d, c, left_access, right_access, push)

    def product_end(descriptor: int, context: int) -> None:
        """Add the sums that a product kept to the gradients of its parameters."""
        d, c = longs(descriptor), longs(context)
        inner, access, grads = d[PRODUCT_INNER], longs(descriptor + 8 * PRODUCT_LEFT), memory(c[PARAMETER_GRADS])
        for r in range(d[PRODUCT_ROWS]):
            for k in range(inner):
                kept = memory(c[SUMS] + size * vector * (d[PRODUCT_SUMS] + r * inner + k))
                grads[position(c, access, r, k, inner)] += added_up(kept, real(0.0))

    return {"product": product, "product_back": product_back, "product_end": product_end}


#: Kernels by name, for single samples and for each type of number in batches.
KERNELS = {
    "single": _products(doubles, 8, np.float64, multiply, gather, KEPT, single=True),
    "float64": _products(doubles, 8, np.float64, multiply, gather, KEPT, single=False),
    "float32": _products(floats, 4, np.float32, multiply32, gather32, KEPT32, single=False),
}
