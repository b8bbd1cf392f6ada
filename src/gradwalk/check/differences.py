"""The slopes of a function over one step, to either side, and what two neighbouring steps say together.

A rung is one step of the ladder: how fast the function changes from a number to that number ± `step`. Two rungs make a
pair: their slopes, combined so that the leading error cancels (Richardson), as if the step were 0.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

EPSILON = sys.float_info.epsilon
SMALLEST = 5e-324


def ladder(x: float) -> tuple[int, int, int]:
    """The exponents (of 2) of the longest step, the first to try and the shortest; all differ by even numbers."""
    size = abs(x)
    exact = math.frexp(math.ulp(x))[1] + 5  # a step of 2 to this power or more can be added to x without rounding
    start = max(math.frexp(min(max(size, 0.01), 1.0))[1] - 8, exact + 4)
    longest = min(math.frexp(max(size, 1.0))[1] + 1, 1020)
    shortest = max(math.frexp(min(size, 1.0))[1] - 45, exact)
    return start + 2 * ((longest - start) // 2), start, shortest


@dataclass(frozen=True)
class Rung:
    """Slopes to the right and to the left over one step; nan on a side where the function does not exist."""

    step: float
    right: float
    left: float
    fuzz: float  # how far they may be off by rounding


def rung(f: Callable[[float], float], x: float, middle: float, step: float, noise: float) -> Rung:
    """The rung of `f` at `x`, where it is `middle`; `noise` is how far a value of `f` may be off."""
    up, down = x + step, x - step
    above, below = f(up), f(down)
    right, left = (above - middle) / (up - x), (middle - below) / (x - down)
    largest = max(abs(y) for y in (above, below, middle) if math.isfinite(y))
    # What a long step gains in sharpness it loses in sight: no more is made of it than of one tenth of the number.
    sight = min(step, max(abs(x), 0.01) / 10)  # tuned: a tenth, and not nothing at 0
    fuzz = (noise + EPSILON * largest + SMALLEST) / sight
    return Rung(step, right if math.isfinite(right) else math.nan, left if math.isfinite(left) else math.nan, fuzz)


@dataclass(frozen=True)
class Pair:
    """What two neighbouring rungs say together about a step of length 0."""

    central: float
    right: float
    left: float
    plain: float  # the central slope of the finer rung alone
    fuzz: float
    bend: float
    step: float  # of the finer rung

    @property
    def gap(self) -> float:
        """By how much the slope to the right is above that to the left."""
        return self.right - self.left


def pair(coarse: Rung, fine: Rung) -> Pair:
    """Two rungs combined, the finer with a quarter of the other's step."""

    def towards_zero(at_coarse: float, at_fine: float, *, shrinks: float) -> float:
        return at_fine + (at_fine - at_coarse) / (shrinks - 1)  # by which the leading error shrinks

    plain = (fine.right + fine.left) / 2
    return Pair(
        central=towards_zero((coarse.right + coarse.left) / 2, plain, shrinks=16.0),
        right=towards_zero(coarse.right, fine.right, shrinks=4.0),
        left=towards_zero(coarse.left, fine.left, shrinks=4.0),
        plain=plain,
        fuzz=fine.fuzz,
        bend=(fine.right - fine.left) / fine.step,
        step=fine.step,
    )
