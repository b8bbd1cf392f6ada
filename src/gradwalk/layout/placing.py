"""Where in its column a box stands: beside what it belongs to, and never too near its neighbours.

Column by column, every box wants to be where the boxes it is tied to are. Where several want the same place they share
the way out of it: the least squares answer that keeps order and distances, found by pooling neighbours that are in
each other's way. Sweeping from the leaves centres a box on its operands; the last sweep comes from the root and makes
lines straight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["placed"]

MOST_SWEEPS, LEAST_SWEEPS = 10, 3  # each there and back
WORK = 40_000  # vertices × sweeps: about half a second
LOOSE = 0.001  # how much a box that is tied to nothing on this side wants to stay where it is
FIRM = 1000.0  # how much more than a leaf a box wants to stay where it is, in the end
STRAIGHT = 8.0  # how much more a bend of a line wants to be straight than a box wants to be in the middle


def placed(
    columns: Sequence[Sequence[int]],
    before: Sequence[Sequence[int]],
    after: Sequence[Sequence[int]],
    reach_up: Sequence[float],
    reach_down: Sequence[float],
    gap: Sequence[float],
    bends: int,
    room: float = math.inf,
    straight: float = STRAIGHT,
) -> list[float]:
    """Where each vertex stands across its column; vertices from `bends` on are bends of lines.

    A vertex reaches so far up and down from where lines meet it; between two neighbours is at least the larger of
    their gaps. All of it stays within `room`, or takes as much as it likes.

    >>> placed([[0, 1], [2]], [[], [], [0, 1]], [[2], [2], []], [5, 5, 5], [5, 5, 5], [2, 2, 2], 3)
    [5.0, 17.0, 11.0]
    """
    at = [0.0] * len(gap)
    offsets = []  # how far from the first of its column each vertex is if all stand as near as they may
    limits = []  # between which the first of its column stands
    for column in columns:
        reach = [0.0]
        for v, w in pairwise(column):
            reach.append(reach[-1] + reach_down[v] + reach_up[w] + max(gap[v], gap[w]))
        offsets.append(reach)
        low, high = reach_up[column[0]], room - reach[-1] - reach_down[column[-1]]
        limits.append((low, max(low, high)) if room < math.inf else (-room, room))
        start = sum(limits[-1]) / 2 if room < math.inf else -reach[-1] / 2
        for v, x in zip(column, reach, strict=True):
            at[v] = start + x

    def sweep(order: range, sides: Sequence[Sequence[int]]) -> None:
        for c in order:
            wanted, weights = [], []
            for v in columns[c]:
                ties = sides[v]
                if not ties:
                    wanted.append(at[v])
                    weights.append(LOOSE)
                else:
                    wanted.append(_mean(at, ties))
                    weights.append(straight if v >= bends else 1.0)
            for v, x in zip(columns[c], _spread(wanted, weights, offsets[c], *limits[c]), strict=True):
                at[v] = x

    forth, back = range(1, len(columns)), range(len(columns) - 2, -1, -1)
    for _ in range(max(LEAST_SWEEPS, min(MOST_SWEEPS, WORK // max(1, len(gap))))):
        sweep(back, after)
        sweep(forth, before)
    for c in back:  # leaves go where they are used, as far as the others let them
        firm = [FIRM if before[v] else 1.0 for v in columns[c]]
        wanted = [at[v] if before[v] or not after[v] else _mean(at, after[v]) for v in columns[c]]
        for v, x in zip(columns[c], _spread(wanted, firm, offsets[c], *limits[c]), strict=True):
            at[v] = x
    if room < math.inf:
        return at
    edge = min((x - reach_up[v] for v, x in enumerate(at)), default=0.0)
    return [x - edge for x in at]


def _mean(at: list[float], ties: Sequence[int]) -> float:
    return at[ties[0]] if len(ties) == 1 else sum(at[x] for x in ties) / len(ties)


def _spread(wanted: list[float], weights: list[float], offsets: list[float], low: float, high: float) -> list[float]:
    """The places nearest to those wanted, by weighted squares, that keep their order, distances and limits."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, many = want - offset, 1
        while pools and pools[-1][0] > mean:
            other, other_weight, other_many = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight += other_weight
            many += other_many
        pools.append((mean, weight, many))
    spread = []
    for mean, _, many in pools:
        spread += [min(max(mean, low), high)] * many
    return [x + offset for x, offset in zip(spread, offsets, strict=True)]
