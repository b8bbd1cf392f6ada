"""The loop over a batch: some lanes of samples at a time go all the way forward and back, while they are in cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.native.layout import (
    FIRST,
    LANES,
    OWN,
    OWN_GRADS,
    PARAMETER_GRADS,
    PARAMETERS,
    PRESENT,
    SAMPLES,
    SUMS,
)
from gradwalk.compile.native.microkernels import doubles, floats, inlined, invoke, longs

__all__ = ["DRIVERS"]

#: Words of the table that a driver is given.
(STEPS, FORWARD, BACKWARD, END, DESCRIPTORS, CONTEXT, INPUTS, INPUT_COUNT, BEGIN, STOP, OUTPUTS, PLACES, TOTALS, EACH,
 SEEDS, WITH_GRADIENTS, CLEAR_COUNT, CLEAR, PARAMETER_COUNT, SUMS_SIZE, INPUT_GRADS,
 VALUES, OWN_COUNT, GRADIENTS, SHARED, SHARED_THERE, SHARED_BACK, SHARED_OUTPUTS,
 SHARED_SEEDS) = range(29)  # fmt: skip


def _driver(memory: Any, size: int, real: Any) -> Any:
    @inlined
    def cleared(address: Any, count: Any) -> None:
        numbers = memory(address)
        for i in range(count):
            numbers[i] = real(0.0)

    @inlined
    def any_nan(address: Any, count: Any) -> Any:
        numbers, found = memory(address), 0
        for i in range(count):
            found |= numbers[i] != numbers[i]
        return found != 0

    def drive(table: int, unused: int) -> None:
        t = longs(table)
        context = t[CONTEXT]
        c = longs(context)
        forward, backward, end = longs(t[FORWARD]), longs(t[BACKWARD]), longs(t[END])
        descriptors = longs(t[DESCRIPTORS])
        places, totals, each, seeds = longs(t[PLACES]), doubles(t[TOTALS]), doubles(t[EACH]), doubles(t[SEEDS])
        lanes, samples, runs = c[LANES], c[SAMPLES], longs(t[CLEAR])
        if t[VALUES] != 0:  # where there is one thread, it also brings the parameters and takes away their gradients
            parameters, values = memory(c[PARAMETERS]), doubles(t[VALUES])
            for i in range(t[OWN_COUNT]):
                parameters[i] = real(values[i])
            if t[SHARED] > 0:  # numbers that depend on parameters alone
                there, outputs = longs(t[SHARED_THERE]), doubles(t[SHARED_OUTPUTS])
                invoke(there[0], there[1], 0)
                for i in range(t[SHARED]):
                    parameters[t[OWN_COUNT] + i] = real(outputs[i])
        by_itself = False  # whether each of the samples that do not fill the lanes gets all lanes
        while True:
            for j in range(t[OUTPUTS]):
                totals[j] = 0.0
            cleared(c[SUMS], t[SUMS_SIZE])
            cleared(c[PARAMETER_GRADS], t[PARAMETER_COUNT])
            start = t[BEGIN]
            while start < t[STOP]:
                present = min(lanes, t[STOP] - start)
                alone = by_itself and present < lanes
                if alone:
                    present = 1
                c[FIRST] = start
                c[PRESENT] = present
                for k in range(t[INPUT_COUNT]):
                    line, given = memory(c[OWN] + size * k * lanes), memory(t[INPUTS] + size * (k * samples + start))
                    for lane in range(present):
                        line[lane] = given[lane]
                    for lane in range(present, lanes):  # the rest repeat a real sample: made-up numbers might be
                        line[lane] = given[present - 1]  # outside a function's domain
                for step in range(t[STEPS]):
                    invoke(forward[step], descriptors[step], context)
                for j in range(t[OUTPUTS]):
                    line = memory(c[OWN] + size * max(places[j], 0) * lanes)
                    for lane in range(present):
                        x = np.float64(line[lane] if places[j] >= 0 else memory(c[PARAMETERS])[~places[j]])
                        totals[j] += x
                        each[j * samples + start + lane] = x
                if t[WITH_GRADIENTS]:
                    for run in range(t[CLEAR_COUNT]):
                        first, last = runs[2 * run], runs[2 * run + 1]
                        cleared(c[OWN_GRADS] + size * first * lanes, (last - first) * lanes)
                    for j in range(t[OUTPUTS]):
                        line = memory(c[OWN_GRADS] + size * max(places[j], 0) * lanes)
                        for lane in range(present):
                            seed = seeds[j * samples + start + lane]
                            if places[j] < 0:
                                memory(c[PARAMETER_GRADS])[~places[j]] += real(seed)
                            elif alone:
                                for share in range(lanes):
                                    line[share] += real(seed / lanes)
                            else:
                                line[lane] += real(seed)
                    for after in range(t[STEPS]):
                        step = t[STEPS] - 1 - after
                        if backward[step] != 0:
                            invoke(backward[step], descriptors[step], context)
                    if t[INPUT_GRADS] != 0:
                        for k in range(t[INPUT_COUNT]):
                            line = memory(c[OWN_GRADS] + size * k * lanes)
                            given = memory(t[INPUT_GRADS] + size * (k * samples + start))
                            for lane in range(present):
                                given[lane] = line[lane] * real(lanes) if alone else line[lane]
                start += present
            if not t[WITH_GRADIENTS]:
                return
            for step in range(t[STEPS]):
                if end[step] != 0:
                    invoke(end[step], descriptors[step], context)
            # Lanes that repeat a sample push 0 times its slopes, which is nothing unless a slope is infinite. Then they
            # make nan where there may be none, and everything is done again without such lanes.
            if by_itself or (t[STOP] - t[BEGIN]) % lanes == 0 or not any_nan(c[PARAMETER_GRADS], t[PARAMETER_COUNT]):
                break
            by_itself = True
        if t[GRADIENTS] != 0:
            gradients, added_up = doubles(t[GRADIENTS]), memory(c[PARAMETER_GRADS])
            for i in range(t[OWN_COUNT]):
                gradients[i] += np.float64(added_up[i])
            if t[SHARED] > 0:  # the walk goes on through what all samples share
                back, shares = longs(t[SHARED_BACK]), doubles(t[SHARED_SEEDS])
                for i in range(t[SHARED]):
                    shares[i] = np.float64(added_up[t[OWN_COUNT] + i])
                invoke(back[0], back[1], 0)

    return drive


DRIVERS = {"float64": _driver(doubles, 8, np.float64), "float32": _driver(floats, 4, np.float32)}
