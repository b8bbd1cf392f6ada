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


def _sums(memory: Any, size: int, real: Any, *, single: bool) -> dict[str, Any]:
    @inlined
    def add_side_by_side(c: Any, a: Any, b: Any, pair: Any, count: Any, width: Any, results: Any) -> None:
        out = memory(results)
        if a[LIST] >= 0:
            x, y = memory(c[a[SPACE]]), memory(c[b[SPACE]])
            at, other = ints(c[LISTS] + 4 * a[LIST]), ints(c[LISTS] + 4 * b[LIST])
            for i in range(count):
                total = out[i]
                for k in range(i * width, i * width + width):
                    total += x[at[k]] * y[other[k]] if pair else x[at[k]]
                out[i] = total
        else:
            for i in range(count):
                x = memory(c[a[SPACE]] + size * (a[START] + i * a[ROW]))
                y = memory(c[b[SPACE]] + size * (b[START] + i * b[ROW]))
                total = -0.0
                for k in range(width):
                    total = add_any_order(total, x[k] * y[k] if pair else x[k])
                out[i] += total

    @inlined
    def push_side_by_side(c: Any, a: Any, b: Any, pair: Any, count: Any, width: Any, gradients: Any) -> None:
        push = memory(gradients)
        if a[LIST] >= 0:
            grads, values = memory(c[a[SPACE] + 1]), memory(c[b[SPACE]])
            at, other = ints(c[LISTS] + 4 * a[LIST]), ints(c[LISTS] + 4 * b[LIST])
            for i in range(count):
                g = push[i]
                for k in range(i * width, i * width + width):
                    grads[at[k]] += values[other[k]] * g if pair else g
        else:
            for i in range(count):
                g = push[i]
                grads = memory(c[a[SPACE] + 1] + size * (a[START] + i * a[ROW]))
                values = memory(c[b[SPACE]] + size * (b[START] + i * b[ROW]))
                if a[WANTS_GRADS] == WRITE:
                    for k in range(width):
                        grads[k] = values[k] * g if pair else g
                else:
                    for k in range(width):
                        grads[k] += values[k] * g if pair else g

    @inlined
    def add_lanes(c: Any, a: Any, b: Any, pair: Any, count: Any, width: Any, results: Any) -> None:
        lanes, values = c[LANES], memory(c[PARAMETERS])
        for i in range(count):
            out = memory(results + size * i * lanes)
            for k in range(width):
                at, other = position(c, a, i, k, width), position(c, b, i, k, width)
                x, y = memory(c[OWN] + size * at * lanes), memory(c[OWN] + size * other * lanes)
                if b[SPACE] == PARAMETERS:
                    number = values[at] * values[other] if pair else values[at]
                    for lane in range(lanes):
                        out[lane] += number
                elif pair and a[SPACE] == PARAMETERS:
                    number = values[at]
                    for lane in range(lanes):
                        out[lane] += number * y[lane]
                else:
                    for lane in range(lanes):
                        out[lane] += x[lane] * y[lane] if pair else x[lane]

    @inlined
    def push_lanes(c: Any, a: Any, b: Any, pair: Any, count: Any, width: Any, gradients: Any) -> None:
        lanes, values, scalar_partner = c[LANES], memory(c[PARAMETERS]), b[SPACE] == PARAMETERS
        for i in range(count):
            push = memory(gradients + size * i * lanes)
            for k in range(width):
                at, other = position(c, a, i, k, width), position(c, b, i, k, width)
                partner, grads = memory(c[OWN] + size * other * lanes), memory(c[OWN_GRADS] + size * at * lanes)
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
                    continue
                if a[WANTS_GRADS] == WRITE:
                    for lane in range(lanes):
                        grads[lane] = real(-0.0)
                if pair and scalar_partner:
                    number = values[other]
                    for lane in range(lanes):
                        grads[lane] += number * push[lane]
                else:
                    for lane in range(lanes):
                        grads[lane] += partner[lane] * push[lane] if pair else push[lane]

    # Add a part, products of `a` and `b` or `a` alone, to every sum; push the gradients of `a`, with partners `b`.
    add, push = (add_side_by_side, push_side_by_side) if single else (add_lanes, push_lanes)

    def sums(descriptor: int, context: int) -> None:
        """Each result is a sum of products and single terms of its own."""
        d, c = longs(descriptor), longs(context)
        count, lanes = d[SUM_COUNT], 1 if single else c[LANES]
        results = c[OWN] + size * d[OUT] * lanes
        out = memory(results)
        for i in range(count * lanes):
            out[i] = real(-0.0)
        for j in range(d[SUM_PARTS]):
            at = descriptor + 8 * (SUM_FIRST_PART + j * PART)
            part, a, b = longs(at), longs(at + 8 * FACTOR), longs(at + 8 * OTHER_FACTOR)
            if part[IS_PAIR]:
                add(c, a, b, True, count, part[WIDTH], results)
            else:
                add(c, a, b, False, count, part[WIDTH], results)

    def sums_back(descriptor: int, context: int) -> None:
        """Push the gradients of such sums, of one factor after the other: the first may write where the second adds."""
        d, c = longs(descriptor), longs(context)
        count, gradients = d[SUM_COUNT], c[OWN_GRADS] + size * d[OUT] * (1 if single else c[LANES])
        for j in range(d[SUM_PARTS]):
            at = descriptor + 8 * (SUM_FIRST_PART + j * PART)
            part, a, b = longs(at), longs(at + 8 * FACTOR), longs(at + 8 * OTHER_FACTOR)
            if not part[IS_PAIR]:
                if a[WANTS_GRADS]:
                    push(c, a, b, False, count, part[WIDTH], gradients)
            else:
                if a[WANTS_GRADS]:
                    push(c, a, b, True, count, part[WIDTH], gradients)
                if b[WANTS_GRADS]:
                    push(c, b, a, True, count, part[WIDTH], gradients)

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
    "single": _sums(doubles, 8, np.float64, single=True) | {"apply": apply, "apply_back": apply_back},
    "float64": _sums(doubles, 8, np.float64, single=False),
    "float32": _sums(floats, 4, np.float32, single=False),
}
