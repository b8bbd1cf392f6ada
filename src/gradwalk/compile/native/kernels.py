"""The loop that calls kernels, and the kernels for tables and extremes.

Each takes the address of its descriptor and that of the context (`layout` says what stands where); `…_back` pushes
gradients.
"""

from __future__ import annotations

from gradwalk.compile.native.layout import (
    EXTREME_COUNT,
    EXTREME_LIST,
    EXTREME_SIGN,
    EXTREME_WIDTH,
    INDICES,
    LISTS,
    OUT,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
    TAKE_COUNT,
    TAKE_SLOTS,
    TAKE_TABLES,
)  # fmt: skip
from gradwalk.compile.native.microkernels import doubles, ints, invoke, longs

__all__ = ["drive", "drive_back", "extreme", "extreme_back", "take", "take_back"]


# --- the loop --------------------------------------------------------------------------------------------------------
# The table: steps, addresses of kernels, addresses of descriptors, context, outputs, where they are, their values or
# seeds; and for the way back how many runs of gradients are to be cleared, and where they begin and end.


def drive(table: int, unused: int) -> None:
    """Call every kernel in order, then copy the outputs out."""
    t = longs(table)
    kernels, descriptors, context = longs(t[1]), longs(t[2]), t[3]
    for step in range(t[0]):
        invoke(kernels[step], descriptors[step], context)
    places, out = longs(t[5]), doubles(t[6])
    own, parameters = doubles(longs(context)[OWN]), doubles(longs(context)[PARAMETERS])
    for k in range(t[4]):
        out[k] = own[places[k]] if places[k] >= 0 else parameters[~places[k]]


def drive_back(table: int, unused: int) -> None:
    """Clear the gradients, seed those of the outputs, then call every kernel in reverse order."""
    t = longs(table)
    kernels, descriptors, context = longs(t[1]), longs(t[2]), t[3]
    places, seeds = longs(t[5]), doubles(t[6])
    own, parameters = doubles(longs(context)[OWN_GRADS]), doubles(longs(context)[PARAMETER_GRADS])
    runs = longs(t[8])
    for run in range(t[7]):
        for i in range(runs[2 * run], runs[2 * run + 1]):
            own[i] = 0.0
    for k in range(t[4]):
        if places[k] >= 0:
            own[places[k]] += seeds[k]
        else:
            parameters[~places[k]] += seeds[k]
    for back in range(t[0]):
        step = t[0] - 1 - back
        if kernels[step] != 0:
            invoke(kernels[step], descriptors[step], context)


# --- tables and extremes ---------------------------------------------------------------------------------------------


def take(descriptor: int, context: int) -> None:
    """One of a table, by an index that is given at each call."""
    d, c = longs(descriptor), longs(context)
    out, own, parameters = doubles(c[OWN] + 8 * d[OUT]), doubles(c[OWN]), doubles(c[PARAMETERS])
    tables, slots = ints(c[LISTS] + 4 * d[TAKE_TABLES]), ints(c[LISTS] + 4 * d[TAKE_SLOTS])
    lists, index = ints(c[LISTS]), longs(c[INDICES])
    for i in range(d[TAKE_COUNT]):
        place = lists[tables[i] + index[slots[i]]]
        out[i] = own[place] if place >= 0 else parameters[~place]


def take_back(descriptor: int, context: int) -> None:
    """The gradient goes to the one that was taken."""
    d, c = longs(descriptor), longs(context)
    push, own, parameters = doubles(c[OWN_GRADS] + 8 * d[OUT]), doubles(c[OWN_GRADS]), doubles(c[PARAMETER_GRADS])
    tables, slots = ints(c[LISTS] + 4 * d[TAKE_TABLES]), ints(c[LISTS] + 4 * d[TAKE_SLOTS])
    lists, index = ints(c[LISTS]), longs(c[INDICES])
    for i in range(d[TAKE_COUNT]):
        place = lists[tables[i] + index[slots[i]]]
        if place >= 0:
            own[place] += push[i]
        else:
            parameters[~place] += push[i]


def extreme(descriptor: int, context: int) -> None:
    """The largest of each list, or the smallest (sign -1); nan if one of them is."""
    d, c = longs(descriptor), longs(context)
    out, own, parameters = doubles(c[OWN] + 8 * d[OUT]), doubles(c[OWN]), doubles(c[PARAMETERS])
    places, width, sign = ints(c[LISTS] + 4 * d[EXTREME_LIST]), d[EXTREME_WIDTH], d[EXTREME_SIGN]
    for i in range(d[EXTREME_COUNT]):
        place = places[i * width]
        best = own[place] if place >= 0 else parameters[~place]
        for k in range(i * width + 1, i * width + width):
            place = places[k]
            x = own[place] if place >= 0 else parameters[~place]
            better = x > best if sign > 0 else x < best
            best = x if better or x != x else best
        out[i] = best


def extreme_back(descriptor: int, context: int) -> None:
    """The gradient goes to the extreme one, in equal parts if there are several."""
    d, c = longs(descriptor), longs(context)
    out, push = doubles(c[OWN] + 8 * d[OUT]), doubles(c[OWN_GRADS] + 8 * d[OUT])
    own, parameters = doubles(c[OWN]), doubles(c[PARAMETERS])
    own_grads, parameter_grads = doubles(c[OWN_GRADS]), doubles(c[PARAMETER_GRADS])
    places, width = ints(c[LISTS] + 4 * d[EXTREME_LIST]), d[EXTREME_WIDTH]
    for i in range(d[EXTREME_COUNT]):
        ties = 0.0
        for k in range(i * width, i * width + width):
            place = places[k]
            x = own[place] if place >= 0 else parameters[~place]
            ties += 1.0 if x == out[i] else 0.0
        for k in range(i * width, i * width + width):
            place = places[k]
            x = own[place] if place >= 0 else parameters[~place]
            share = (1.0 if x == out[i] else 0.0) / ties * push[i]
            if place >= 0:
                own_grads[place] += share
            else:
                parameter_grads[~place] += share
