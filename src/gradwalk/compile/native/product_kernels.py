"""Kernels for products of matrices.

Each takes the address of its descriptor and that of the context (`layout` says what stands where); `…_back` pushes
gradients.
"""

from __future__ import annotations

from typing import Any

from gradwalk.compile.native.layout import (
    ACCESS,
    COLUMN,
    DIRECT,
    LIST,
    LISTS,
    OUT,
    OWN,
    OWN_GRADS,
    PRODUCT_COLUMNS,
    PRODUCT_FIRST_TAIL,
    PRODUCT_INNER,
    PRODUCT_LEFT,
    PRODUCT_LEFT_GRADS,
    PRODUCT_RIGHT,
    PRODUCT_RIGHT_GRADS,
    PRODUCT_ROWS,
    PRODUCT_TAILS,
    ROW,
    SCRATCH,
    SPACE,
    START,
    WANTS_GRADS,
    WRITTEN,
)  # fmt: skip
from gradwalk.compile.native.microkernels import add_any_order, doubles, inlined, ints, longs, position
from gradwalk.compile.native.products import KEPT, gather, multiply

__all__ = ["product", "product_back"]


@inlined
def _packed(c: Any, access: Any, rows: Any, columns: Any, scratch: Any) -> None:
    """Copy a matrix of operands that is scattered over memory to scratch memory, row by row."""
    to = doubles(scratch)
    memory = doubles(c[access[SPACE]])
    if access[LIST] >= 0:
        places = ints(c[LISTS] + 4 * access[LIST])
        for i in range(rows * columns):
            to[i] = memory[places[i]]
    else:
        for r in range(rows):
            line = doubles(c[access[SPACE]] + 8 * (access[START] + r * access[ROW]))
            for k in range(columns):
                to[r * columns + k] = line[k * access[COLUMN]]


@inlined
def _given_back(c: Any, access: Any, rows: Any, columns: Any, scratch: Any) -> None:
    """Add a matrix in scratch memory to the gradients of scattered operands."""
    added = doubles(scratch)
    grads = doubles(c[access[SPACE] + 1])
    if access[LIST] >= 0:
        places = ints(c[LISTS] + 4 * access[LIST])
        for i in range(rows * columns):
            grads[places[i]] += added[i]
    else:
        for r in range(rows):
            line = doubles(c[access[SPACE] + 1] + 8 * (access[START] + r * access[ROW]))
            for k in range(columns):
                line[k * access[COLUMN]] += added[r * columns + k]


@inlined
def _tail(c: Any, access: Any, rows: Any, columns: Any, out: Any, first: Any) -> None:
    """Add a single term to each result of a product; the first one is copied instead."""
    memory = doubles(c[access[SPACE]])
    for r in range(rows):
        to = doubles(out + 8 * r * columns)
        if access[LIST] >= 0:
            places = ints(c[LISTS] + 4 * (access[LIST] + r * columns))
            if first:
                for k in range(columns):
                    to[k] = memory[places[k]]
            else:
                for k in range(columns):
                    to[k] += memory[places[k]]
        elif access[COLUMN] == 0:
            x = memory[access[START] + r * access[ROW]]
            if first:
                for k in range(columns):
                    to[k] = x
            else:
                for k in range(columns):
                    to[k] += x
        else:
            line = doubles(c[access[SPACE]] + 8 * (access[START] + r * access[ROW]))
            if first:
                for k in range(columns):
                    to[k] = line[k]
            else:
                for k in range(columns):
                    to[k] += line[k]


@inlined
def _tail_back(c: Any, access: Any, rows: Any, columns: Any, push: Any) -> None:
    grads = doubles(c[access[SPACE] + 1])
    for r in range(rows):
        given = doubles(push + 8 * r * columns)
        if access[LIST] >= 0:
            places = ints(c[LISTS] + 4 * (access[LIST] + r * columns))
            for k in range(columns):
                grads[places[k]] += given[k]
        elif access[COLUMN] == 0:
            total = 0.0
            for k in range(columns):
                total = add_any_order(total, given[k])
            grads[access[START] + r * access[ROW]] += total
        else:
            line = doubles(c[access[SPACE] + 1] + 8 * (access[START] + r * access[ROW]))
            for k in range(columns):
                line[k] += given[k]


def product(descriptor: int, context: int) -> None:
    """out = left · right + tails."""
    d, c = longs(descriptor), longs(context)
    rows, columns, inner = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER]
    out = c[OWN] + 8 * d[OUT]
    free = c[SCRATCH]
    access = longs(descriptor + 8 * PRODUCT_LEFT)
    left, left_row, left_step = c[access[SPACE]] + 8 * access[START], access[ROW], access[COLUMN]
    if access[LIST] >= 0:
        _packed(c, access, rows, inner, free)
        left, left_row, left_step = free, inner, 1
        free += 8 * rows * inner
    access = longs(descriptor + 8 * PRODUCT_RIGHT)
    right, right_row = c[access[SPACE]] + 8 * access[START], access[ROW]
    if access[LIST] >= 0 or access[COLUMN] != 1:
        _packed(c, access, inner, columns, free)
        right, right_row = free, columns
    tails = d[PRODUCT_TAILS]
    for j in range(tails):
        _tail(c, longs(descriptor + 8 * (PRODUCT_FIRST_TAIL + j * (ACCESS + 1))), rows, columns, out, j == 0)
    multiply(rows, inner, columns, left, left_row, left_step, right, right_row, out, columns, 1 if tails > 0 else 0)


def product_back(descriptor: int, context: int) -> None:
    """Push the gradients of a product to its tails, its right side (leftᵀ · push) and its left side (push · rightᵀ)."""
    d, c = longs(descriptor), longs(context)
    rows, columns, inner = d[PRODUCT_ROWS], d[PRODUCT_COLUMNS], d[PRODUCT_INNER]
    push = c[OWN_GRADS] + 8 * d[OUT]
    free = c[SCRATCH]
    for j in range(d[PRODUCT_TAILS]):
        tail = descriptor + 8 * (PRODUCT_FIRST_TAIL + j * (ACCESS + 1))
        if longs(tail)[WANTS_GRADS]:
            _tail_back(c, longs(tail), rows, columns, push)
    left_access = longs(descriptor + 8 * PRODUCT_LEFT)
    right_access = longs(descriptor + 8 * PRODUCT_RIGHT)
    if d[PRODUCT_RIGHT_GRADS]:
        left, left_row, left_step = (
            c[left_access[SPACE]] + 8 * left_access[START],
            left_access[ROW],
            left_access[COLUMN],
        )
        scratch = free
        if left_access[LIST] >= 0:
            _packed(c, left_access, rows, inner, scratch)
            left, left_row, left_step = scratch, inner, 1
            scratch += 8 * rows * inner
        if d[PRODUCT_RIGHT_GRADS] >= DIRECT:
            to = c[right_access[SPACE] + 1] + 8 * right_access[START]
            add = 0 if d[PRODUCT_RIGHT_GRADS] == WRITTEN else 1
            multiply(inner, rows, columns, left, left_step, left_row, push, columns, to, right_access[ROW], add)
        else:
            multiply(inner, rows, columns, left, left_step, left_row, push, columns, scratch, columns, 0)
            _given_back(c, right_access, inner, columns, scratch)
    if d[PRODUCT_LEFT_GRADS] and columns >= 4 * KEPT and right_access[LIST] < 0 and right_access[COLUMN] == 1:
        _along_rows(c, left_access, right_access, rows, inner, columns, push, free)
    elif d[PRODUCT_LEFT_GRADS]:
        turned = doubles(free)
        _turned(c, right_access, inner, columns, turned)
        scratch = free + 8 * inner * columns
        if d[PRODUCT_LEFT_GRADS] == DIRECT:
            to = c[left_access[SPACE] + 1] + 8 * left_access[START]
            multiply(rows, columns, inner, push, columns, 1, free, inner, to, left_access[ROW], 1)
        else:
            multiply(rows, columns, inner, push, columns, 1, free, inner, scratch, inner, 0)
            _given_back(c, left_access, rows, inner, scratch)


@inlined
def _along_rows(c: Any, left: Any, right: Any, rows: Any, inner: Any, columns: Any, push: Any, free: Any) -> None:
    """push · rightᵀ where rows are long: products of rows with rows, so that nothing need be turned."""
    sums, whole = doubles(free), columns // KEPT * KEPT
    for i in range(rows * inner * KEPT):
        sums[i] = 0.0
    values = c[right[SPACE]] + 8 * right[START]
    gather(rows, inner, push, columns, values, right[ROW], whole, free)
    grads = doubles(c[left[SPACE] + 1])
    for r in range(rows):
        g = doubles(push + 8 * r * columns)
        for k in range(inner):
            x = doubles(values + 8 * k * right[ROW])
            kept = doubles(free + 8 * KEPT * (r * inner + k))
            total = 0.0
            for v in range(KEPT):
                total = add_any_order(total, kept[v])
            for n in range(whole, columns):
                total += g[n] * x[n]
            grads[position(c, left, r, k, inner)] += total


@inlined
def _turned(c: Any, access: Any, rows: Any, columns: Any, to: Any) -> None:
    """Copy a matrix of operands to scratch memory, column by column."""
    if access[LIST] >= 0:
        memory = doubles(c[access[SPACE]])
        places = ints(c[LISTS] + 4 * access[LIST])
        for r in range(rows):
            for k in range(columns):
                to[k * rows + r] = memory[places[r * columns + k]]
    else:
        for r in range(rows):
            line = doubles(c[access[SPACE]] + 8 * (access[START] + r * access[ROW]))
            for k in range(columns):
                to[k * rows + r] = line[k * access[COLUMN]]
