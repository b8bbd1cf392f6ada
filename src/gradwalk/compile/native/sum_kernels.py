"""The kernels for sums that share nothing, for single samples and for batches; and for a few results of any op.

Each takes the address of its descriptor and that of the context (`layout` says what stands where); `…_back` pushes
gradients. Single samples add up along what stands side by side, batches along their lanes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.native.layout import (
    APPLY_ARITY,
    APPLY_COUNT,
    APPLY_LIST,
    APPLY_SLOPES,
    APPLY_VALUE,
    APPLY_WANTED,
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
from gradwalk.compile.native.microkernels import add_any_order, doubles, floats, inlined, ints, invoke, longs, position

__all__ = ["KERNELS"]


# --- single samples --------------------------------------------------------------------------------------------------


@inlined
def _added(c: Any, a: Any, b: Any, pair: Any, count: Any, width: Any, out: Any) -> None:
    """Add a part, products of `a` and `b` or `a` alone, to every sum."""
    if a[LIST] >= 0:
        x, y = doubles(c[a[SPACE]]), doubles(c[b[SPACE]])
        at, other = ints(c[LISTS] + 4 * a[LIST]), ints(c[LISTS] + 4 * b[LIST])
        for i in range(count):
            total = out[i]
            for k in range(i * width, i * width + width):
                total += x[at[k]] * y[other[k]] if pair else x[at[k]]
            out[i] = total
    else:
        for i in range(count):
            x = doubles(c[a[SPACE]] + 8 * (a[START] + i * a[ROW]))
            y = doubles(c[b[SPACE]] + 8 * (b[START] + i * b[ROW]))
            total = -0.0
            for k in range(width):
                total = add_any_order(total, x[k] * y[k] if pair else x[k])
            out[i] += total


@inlined
def _pushed(c: Any, a: Any, b: Any, pair: Any, count: Any, width: Any, push: Any) -> None:
    """Push the gradients of `a`, whose partners are `b` if there are any."""
    if a[LIST] >= 0:
        grads, values = doubles(c[a[SPACE] + 1]), doubles(c[b[SPACE]])
        at, other = ints(c[LISTS] + 4 * a[LIST]), ints(c[LISTS] + 4 * b[LIST])
        for i in range(count):
            g = push[i]
            for k in range(i * width, i * width + width):
                grads[at[k]] += values[other[k]] * g if pair else g
    else:
        for i in range(count):
            g = push[i]
            grads = doubles(c[a[SPACE] + 1] + 8 * (a[START] + i * a[ROW]))
            values = doubles(c[b[SPACE]] + 8 * (b[START] + i * b[ROW]))
            if a[WANTS_GRADS] == WRITE:
                for k in range(width):
                    grads[k] = values[k] * g if pair else g
            else:
                for k in range(width):
                    grads[k] += values[k] * g if pair else g


def sums(descriptor: int, context: int) -> None:
    """Each result is a sum of products and single terms of its own."""
    d, c = longs(descriptor), longs(context)
    count = d[SUM_COUNT]
    out = doubles(c[OWN] + 8 * d[OUT])
    for i in range(count):
        out[i] = -0.0
    for j in range(d[SUM_PARTS]):
        at = descriptor + 8 * (SUM_FIRST_PART + j * PART)
        part, a, b = longs(at), longs(at + 8 * FACTOR), longs(at + 8 * OTHER_FACTOR)
        if part[IS_PAIR]:
            _added(c, a, b, True, count, part[WIDTH], out)
        else:
            _added(c, a, b, False, count, part[WIDTH], out)


def sums_back(descriptor: int, context: int) -> None:
    """Push the gradients of such sums."""
    d, c = longs(descriptor), longs(context)
    count = d[SUM_COUNT]
    push = doubles(c[OWN_GRADS] + 8 * d[OUT])
    for j in range(d[SUM_PARTS]):
        at = descriptor + 8 * (SUM_FIRST_PART + j * PART)
        part, a, b = longs(at), longs(at + 8 * FACTOR), longs(at + 8 * OTHER_FACTOR)
        if not part[IS_PAIR]:
            if a[WANTS_GRADS]:
                _pushed(c, a, b, False, count, part[WIDTH], push)
        else:
            if a[WANTS_GRADS]:
                _pushed(c, a, b, True, count, part[WIDTH], push)
            if b[WANTS_GRADS]:
                _pushed(c, b, a, True, count, part[WIDTH], push)


# --- batches ---------------------------------------------------------------------------------------------------------


def _in_lanes(memory: Any, size: int, real: Any) -> dict[str, Any]:
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


#: Kernels by name, for single samples and for each type of number in batches.
KERNELS = {
    "single": {"sums": sums, "sums_back": sums_back, "apply": apply, "apply_back": apply_back},
    "float64": _in_lanes(doubles, 8, np.float64),
    "float32": _in_lanes(floats, 4, np.float32),
}
