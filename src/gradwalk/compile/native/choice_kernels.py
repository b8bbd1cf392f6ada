"""The kernels for tables and extremes: for single samples, and for batches in float64 and float32.

Each takes the address of its descriptor and that of the context (`layout` says what stands where); `…_back` pushes
gradients. A single sample is one lane, which is known when its kernels are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.native.layout import (
    EXTREME_COUNT,
    EXTREME_LIST,
    EXTREME_SIGN,
    EXTREME_WIDTH,
    FIRST,
    INDICES,
    LANES,
    LISTS,
    OUT,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
    PRESENT,
    SAMPLES,
    TAKE_COUNT,
    TAKE_SLOTS,
    TAKE_TABLES,
)
from gradwalk.compile.native.microkernels import doubles, floats, inlined, ints, longs

__all__ = ["KERNELS"]


def _choices(memory: Any, size: int, real: Any, single: bool) -> dict[str, Any]:
    @inlined
    def lanes_of(c: Any) -> Any:
        return 1 if single else c[LANES]

    @inlined
    def number_at(own: Any, parameters: Any, place: Any) -> Any:
        return own[place] if place >= 0 else parameters[~place]

    @inlined
    def add_at(own: Any, parameters: Any, place: Any, x: Any) -> None:
        if place >= 0:
            own[place] += x
        else:
            parameters[~place] += x

    @inlined
    def in_lane(place: Any, lanes: Any, lane: Any) -> Any:
        """Where the number of one sample is."""
        return place * lanes + lane if place >= 0 else np.int64(place)

    @inlined
    def chosen(c: Any, slot: Any) -> Any:
        """The indices that choose, one for each lane at hand."""
        return longs(c[INDICES] + 8 * (slot if single else slot * c[SAMPLES] + c[FIRST]))

    def take(descriptor: int, context: int) -> None:
        """One of a table, by an index that is given at each call."""
        d, c = longs(descriptor), longs(context)
        own, parameters, lists = memory(c[OWN]), memory(c[PARAMETERS]), ints(c[LISTS])
        tables, slots = ints(c[LISTS] + 4 * d[TAKE_TABLES]), ints(c[LISTS] + 4 * d[TAKE_SLOTS])
        lanes, last = lanes_of(c), 0 if single else c[PRESENT] - 1
        out = memory(c[OWN] + size * d[OUT] * lanes)
        for i in range(d[TAKE_COUNT]):
            index, table = chosen(c, slots[i]), tables[i]
            for lane in range(lanes):
                place = lists[table + index[min(lane, last)]]
                out[i * lanes + lane] = number_at(own, parameters, in_lane(place, lanes, lane))

    def take_back(descriptor: int, context: int) -> None:
        """The gradient goes to the one that was taken."""
        d, c = longs(descriptor), longs(context)
        own, parameters, lists = memory(c[OWN_GRADS]), memory(c[PARAMETER_GRADS]), ints(c[LISTS])
        tables, slots = ints(c[LISTS] + 4 * d[TAKE_TABLES]), ints(c[LISTS] + 4 * d[TAKE_SLOTS])
        lanes, last = lanes_of(c), 0 if single else c[PRESENT] - 1
        push = memory(c[OWN_GRADS] + size * d[OUT] * lanes)
        for i in range(d[TAKE_COUNT]):
            index, table = chosen(c, slots[i]), tables[i]
            for lane in range(lanes):
                place = lists[table + index[min(lane, last)]]
                add_at(own, parameters, in_lane(place, lanes, lane), push[i * lanes + lane])

    def extreme(descriptor: int, context: int) -> None:
        """The largest of each list, or the smallest (sign -1); nan if one of them is."""
        d, c = longs(descriptor), longs(context)
        own, parameters, lanes = memory(c[OWN]), memory(c[PARAMETERS]), lanes_of(c)
        places, width, sign = ints(c[LISTS] + 4 * d[EXTREME_LIST]), d[EXTREME_WIDTH], d[EXTREME_SIGN]
        for i in range(d[EXTREME_COUNT]):
            out = memory(c[OWN] + size * (d[OUT] + i) * lanes)
            if single:  # branches that are guessed right are fastest
                best = number_at(own, parameters, places[i * width])
                for k in range(i * width + 1, i * width + width):
                    x = number_at(own, parameters, places[k])
                    wins = x > best if sign > 0 else x < best
                    best = x if wins or x != x else best
                out[0] = best
            else:
                for k in range(i * width, i * width + width):
                    place: Any = np.int64(places[k])
                    line = memory(c[OWN] + size * (place if place > 0 else 0) * lanes)
                    for lane in range(lanes):
                        x = line[lane] if place >= 0 else parameters[~place]
                        wins = x > out[lane] if sign > 0 else x < out[lane]
                        out[lane] = x if wins | (x != x) | (k == i * width) else out[lane]

    def extreme_back(descriptor: int, context: int) -> None:
        """The gradient goes to the extreme one, in equal parts if there are several."""
        d, c = longs(descriptor), longs(context)
        own, parameters, lanes = memory(c[OWN]), memory(c[PARAMETERS]), lanes_of(c)
        own_grads, parameter_grads = memory(c[OWN_GRADS]), memory(c[PARAMETER_GRADS])
        places, width, begin = ints(c[LISTS] + 4 * d[EXTREME_LIST]), d[EXTREME_WIDTH], d[OUT]
        one, none = real(1.0), real(0.0)
        for i in range(d[EXTREME_COUNT]):
            for lane in range(lanes):
                best, push = own[(begin + i) * lanes + lane], own_grads[(begin + i) * lanes + lane]
                ties = none
                for k in range(i * width, i * width + width):
                    ties += one if number_at(own, parameters, in_lane(places[k], lanes, lane)) == best else none
                for k in range(i * width, i * width + width):
                    place = in_lane(places[k], lanes, lane)
                    share = (one if number_at(own, parameters, place) == best else none) / ties * push
                    add_at(own_grads, parameter_grads, place, share)

    return {"take": take, "take_back": take_back, "extreme": extreme, "extreme_back": extreme_back}


#: Kernels by name, for single samples and for each type of number in batches.
KERNELS = {
    "single": _choices(doubles, 8, np.float64, single=True),
    "float64": _choices(doubles, 8, np.float64, single=False),
    "float32": _choices(floats, 4, np.float32, single=False),
}
