"""Kernels for sums that share nothing, and for a few results of any op.

Each takes the address of its descriptor and that of the context (`layout` says what stands where); `…_back` pushes
gradients.
"""

from __future__ import annotations

from typing import Any

from gradwalk.compile.native.layout import (
    APPLY_ARITY,
    APPLY_COUNT,
    APPLY_LIST,
    APPLY_SLOPES,
    APPLY_VALUE,
    APPLY_WANTED,
    FACTOR,
    IS_PAIR,
    LIST,
    LISTS,
    OTHER_FACTOR,
    OUT,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
    PART,
    ROW,
    SCRATCH,
    SPACE,
    START,
    SUM_COUNT,
    SUM_FIRST_PART,
    SUM_PARTS,
    WANTS_GRADS,
    WIDTH,
    WRITE,
)  # fmt: skip
from gradwalk.compile.native.microkernels import add_any_order, doubles, inlined, ints, invoke, longs

__all__ = ["apply", "apply_back", "sums", "sums_back"]


def sums(descriptor: int, context: int) -> None:
    """Each result is a sum of products and single terms of its own."""
    d, c = longs(descriptor), longs(context)
    count = d[SUM_COUNT]
    out = doubles(c[OWN] + 8 * d[OUT])
    for i in range(count):
        out[i] = -0.0
    for j in range(d[SUM_PARTS]):
        part = longs(descriptor + 8 * (SUM_FIRST_PART + j * PART))
        width = part[WIDTH]
        a = longs(descriptor + 8 * (SUM_FIRST_PART + j * PART + FACTOR))
        b = longs(descriptor + 8 * (SUM_FIRST_PART + j * PART + OTHER_FACTOR))
        if a[LIST] >= 0:
            x, y = doubles(c[a[SPACE]]), doubles(c[b[SPACE]])
            at, other = ints(c[LISTS] + 4 * a[LIST]), ints(c[LISTS] + 4 * b[LIST])
            if part[IS_PAIR]:
                for i in range(count):
                    total = out[i]
                    for k in range(i * width, i * width + width):
                        total += x[at[k]] * y[other[k]]
                    out[i] = total
            else:
                for i in range(count):
                    total = out[i]
                    for k in range(i * width, i * width + width):
                        total += x[at[k]]
                    out[i] = total
        else:
            for i in range(count):
                x = doubles(c[a[SPACE]] + 8 * (a[START] + i * a[ROW]))
                total = -0.0
                if part[IS_PAIR]:
                    y = doubles(c[b[SPACE]] + 8 * (b[START] + i * b[ROW]))
                    for k in range(width):
                        total = add_any_order(total, x[k] * y[k])
                else:
                    for k in range(width):
                        total = add_any_order(total, x[k])
                out[i] += total


def sums_back(descriptor: int, context: int) -> None:
    """Push the gradients of such sums."""
    d, c = longs(descriptor), longs(context)
    count = d[SUM_COUNT]
    push = doubles(c[OWN_GRADS] + 8 * d[OUT])
    for j in range(d[SUM_PARTS]):
        part = longs(descriptor + 8 * (SUM_FIRST_PART + j * PART))
        width = part[WIDTH]
        a = longs(descriptor + 8 * (SUM_FIRST_PART + j * PART + FACTOR))
        b = longs(descriptor + 8 * (SUM_FIRST_PART + j * PART + OTHER_FACTOR))
        if not part[IS_PAIR]:
            if a[WANTS_GRADS]:
                _single_back(c, a, count, width, push)
        else:
            if a[WANTS_GRADS]:
                _pair_back(c, a, b, count, width, push)
            if b[WANTS_GRADS]:
                _pair_back(c, b, a, count, width, push)


@inlined
def _single_back(c: Any, a: Any, count: Any, width: Any, push: Any) -> None:
    if a[LIST] >= 0:
        grads = doubles(c[a[SPACE] + 1])
        at = ints(c[LISTS] + 4 * a[LIST])
        for i in range(count):
            g = push[i]
            for k in range(i * width, i * width + width):
                grads[at[k]] += g
    else:
        for i in range(count):
            g = push[i]
            grads = doubles(c[a[SPACE] + 1] + 8 * (a[START] + i * a[ROW]))
            if a[WANTS_GRADS] == WRITE:
                for k in range(width):
                    grads[k] = g
            else:
                for k in range(width):
                    grads[k] += g


@inlined
def _pair_back(c: Any, a: Any, b: Any, count: Any, width: Any, push: Any) -> None:
    """Gradients of the factors `a`, whose partners are `b`."""
    if a[LIST] >= 0:
        grads, values = doubles(c[a[SPACE] + 1]), doubles(c[b[SPACE]])
        at, other = ints(c[LISTS] + 4 * a[LIST]), ints(c[LISTS] + 4 * b[LIST])
        for i in range(count):
            g = push[i]
            for k in range(i * width, i * width + width):
                grads[at[k]] += values[other[k]] * g
    else:
        for i in range(count):
            g = push[i]
            grads = doubles(c[a[SPACE] + 1] + 8 * (a[START] + i * a[ROW]))
            values = doubles(c[b[SPACE]] + 8 * (b[START] + i * b[ROW]))
            if a[WANTS_GRADS] == WRITE:
                for k in range(width):
                    grads[k] = values[k] * g
            else:
                for k in range(width):
                    grads[k] += values[k] * g


# --- a few results of any op -----------------------------------------------------------------------------------------


def apply(descriptor: int, context: int) -> None:
    """Any op by its own function of single numbers: where there are so few that a kernel would not pay."""
    d, c = longs(descriptor), longs(context)
    own, parameters, box = doubles(c[OWN]), doubles(c[PARAMETERS]), doubles(c[SCRATCH])
    arity, places = d[APPLY_ARITY], ints(c[LISTS] + 4 * d[APPLY_LIST])
    for i in range(d[APPLY_COUNT]):
        for k in range(arity):
            place = places[i * arity + k]
            box[k] = own[place] if place >= 0 else parameters[~place]
        invoke(d[APPLY_VALUE], c[SCRATCH], c[OWN] + 8 * (d[OUT] + i))


def apply_back(descriptor: int, context: int) -> None:
    """Push its gradients."""
    d, c = longs(descriptor), longs(context)
    own, parameters, box = doubles(c[OWN]), doubles(c[PARAMETERS]), doubles(c[SCRATCH])
    own_grads, parameter_grads = doubles(c[OWN_GRADS]), doubles(c[PARAMETER_GRADS])
    arity, places, wanted = d[APPLY_ARITY], ints(c[LISTS] + 4 * d[APPLY_LIST]), ints(c[LISTS] + 4 * d[APPLY_WANTED])
    for i in range(d[APPLY_COUNT]):
        for k in range(arity):
            place = places[i * arity + k]
            box[k] = own[place] if place >= 0 else parameters[~place]
        box[arity] = own[d[OUT] + i]
        invoke(d[APPLY_SLOPES], c[SCRATCH], c[SCRATCH] + 8 * (arity + 1))
        for k in range(arity):
            if wanted[k]:
                place = places[i * arity + k]
                push = box[arity + 1 + k] * own_grads[d[OUT] + i]
                if place >= 0:
                    own_grads[place] += push
                else:
                    parameter_grads[~place] += push
