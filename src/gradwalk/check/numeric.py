"""The slope of a function of one number, measured, with an honest account of how far the measurement may be off.

Nudge the number by `h` both ways, and again by `h / 4`. The two central slopes, combined so that their leading error
cancels (Richardson), give an estimate far better than either; the next pair down gives another, and how much the two
differ says how good they are. A step too long is wrong because the function bends; one too short drowns in rounding.
So three steps in the middle are tried first, and if they do not settle it, a whole ladder of steps, of which the
best rung is taken. Slopes to the left and to the right are kept apart: where they do not meet there is a kink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gradwalk.check.differences import EPSILON, Pair, Rung, ladder, pair, rung
from gradwalk.check.estimates import estimates, persists, refutes, strays, surest

__all__ = ["EPSILON", "Slope", "conditioning", "slope"]

#: Good enough to stop after the first three steps: an error of this share of the slope.
SETTLED = 1e-9


@dataclass(frozen=True)
class Slope:
    """A measured slope: `value`, give or take `error`; `left` and `right` differ at a kink.

    `bend` is about the second derivative; `step` is the length of the shortest nudge that was used.

    >>> found = slope(lambda x: x**3, 2.0)
    >>> round(found.value, 9), found.error < 1e-7, found.kink
    (12.0, True, False)
    >>> found = slope(abs, 0.0)
    >>> found.left, found.right, found.kink
    (-1.0, 1.0, True)
    """

    value: float
    error: float
    left: float
    right: float
    kink: bool
    bend: float
    step: float

    @property
    def known(self) -> bool:
        """Whether anything at all could be measured.

        >>> slope(lambda x: float("nan"), 0.0).known
        False
        """
        return math.isfinite(self.error)


UNKNOWN = Slope(math.nan, math.inf, math.nan, math.nan, kink=False, bend=math.nan, step=math.nan)


def slope(f: Callable[[float], float], x: float, noise: float = 0.0) -> Slope:
    """The slope of `f` at `x`; `noise` is how far a value of `f` may be off by rounding inside it.

    A nudge at which `f` raises or is not finite (the edge of its domain) is left out; at an edge the slope is that of
    the side that exists.

    >>> round(slope(lambda x: 1 / x, 1e-3).value, 3)
    -1000000.0
    """
    at = _guarded(f)
    middle = at(x)
    if not math.isfinite(middle):
        return UNKNOWN
    coarsest, start, finest = ladder(x)
    tried: dict[int, Rung] = {}

    def pairs(exponents: Sequence[int]) -> list[Pair]:
        for exponent in exponents:
            if exponent not in tried:
                tried[exponent] = rung(at, x, middle, math.ldexp(1.0, exponent), noise)
        return [pair(tried[coarse], tried[fine]) for coarse, fine in pairwise(exponents)]

    first = best(pairs((start, start - 2, start - 4)))
    flat = all(one.right == one.left == 0.0 for one in tried.values())
    if flat or first.error <= SETTLED * abs(first.value):
        return first
    return best(pairs(range(coarsest, finest - 1, -2)))


def conditioning(slope: Slope, size: float) -> float:
    """How much a slope changes within a few last digits of a number of this size: it cannot be known better.

    >>> conditioning(slope(math.exp, 1.0), 1.0) < 1e-14
    True
    """
    return 8 * EPSILON * size * abs(slope.bend)


def _guarded(f: Callable[[float], float]) -> Callable[[float], float]:
    def at(x: float) -> float:
        try:
            return f(x)
        except Exception:  # outside the domain of f, whatever f says there
            return math.nan

    return at


def best(pairs: list[Pair]) -> Slope:
    """What pairs of rungs, longest step first, say together."""
    found = list(estimates(pairs))
    if not found:  # the function ends here on one side, or on both
        right = one_sided(pairs, "right")
        return right if right.known else one_sided(pairs, "left")
    kinks = [one for one in found if one.gap_error < abs(one.pair.gap) / 10]
    if kinks:
        kink = min(kinks, key=lambda one: one.gap_error)
        # What looks like a kink from afar may be smooth from near, if rounding lets us go as near as that.
        smooth = [one for one in found if refutes(one, kink.pair)]
        if not smooth and persists(pairs, kink):
            return at_kink(kink.pair, one_sided(pairs, "left"), one_sided(pairs, "right"))
        found = smooth or found
    chosen = surest(found)
    here, error = chosen.pair, chosen.error
    if not chosen.sharp:  # where shorter steps see steeper slopes, still shorter ones may see steeper slopes yet
        error = max(error, 16 * strays(pairs, here, 4 * error))  # tuned: two more rungs of slopes that grow fourfold
    return Slope(here.central, error, here.central, here.central, kink=False, bend=here.bend, step=here.step)


def at_kink(kink: Pair, left: Slope, right: Slope) -> Slope:
    """The two slopes at a kink; a side on which they grow without end, as they do at a jump, has the slope inf."""
    to_left = left.value if left.known else math.copysign(math.inf, kink.left)
    to_right = right.value if right.known else math.copysign(math.inf, kink.right)
    error = max((side.error for side in (left, right) if side.known), default=0.0)
    return Slope(kink.central, error, to_left, to_right, kink=True, bend=0.0, step=kink.step)


def one_sided(pairs: list[Pair], side: str) -> Slope:
    """The slope on one side; estimates that move ever more (the square root at 0) are none."""
    values = [getattr(one, side) for one in pairs]
    best = UNKNOWN
    for i in range(2, len(pairs)):
        moved, moved_before = abs(values[i] - values[i - 1]), abs(values[i - 1] - values[i - 2])
        fuzz = 6 * pairs[i].fuzz  # tuned: three estimates, each off by twice a rung's
        error = moved + fuzz
        if error < best.error and moved <= moved_before + fuzz:
            best = Slope(values[i], error, values[i], values[i], kink=False, bend=0.0, step=pairs[i].step)
    return best
