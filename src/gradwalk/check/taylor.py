"""The Taylor-remainder test: no step to choose, no tolerance to tune.

With the right slope `g`, what `f(x) + t·g` misses of `f(x + t)` shrinks fourfold when the step `t` is halved. With a
wrong slope it shrinks only twofold. The finest steps at which the remainder still stands clear of rounding decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gradwalk.check.numeric import EPSILON

__all__ = ["Remainder", "remainder"]

#: A remainder counts as long as it is this many times what rounding alone could make of it.
CLEAR = 32  # tuned: far enough above rounding that a fall is known to a few hundredths
#: Falls below this lie nearer to 2 (a wrong slope) than to 4 (a right one).
ENOUGH = 2.0**1.25


@dataclass(frozen=True)
class Remainder:
    """How the remainder falls when the step is halved; None where it never stood clear of rounding.

    >>> round(remainder(lambda t: (3 + t) ** 2, 6.0).fall), round(remainder(lambda t: (3 + t) ** 2, 6.1).fall)
    (4, 2)
    >>> remainder(lambda t: 5 * t, 5.0).fall is None
    True
    """

    fall: float | None

    @property
    def ok(self) -> bool:
        """Whether the slope passes.

        >>> remainder(lambda t: (3 + t) ** 2, 6.0).ok, remainder(lambda t: (3 + t) ** 2, 6.1).ok
        (True, False)
        """
        return self.fall is None or self.fall >= ENOUGH

    def __str__(self) -> str:
        if self.fall is None:
            return "no remainder beyond rounding"
        return f"halving the step divides the remainder by {self.fall:.2g} (right: 4 or more, wrong: 2)"


def remainder(f: Callable[[float], float], slope: float, noise: float = 0.0) -> Remainder:
    """The test of `slope` for a function of the distance from the point, both ways; the worse way counts.

    >>> remainder(lambda t: abs(t), 1.0).ok  # right to one side only
    False
    """
    falls = (_fall(f, slope, noise), _fall(lambda t: f(-t), -slope, noise))
    return Remainder(min((fall for fall in falls if fall is not None), default=None))


def _fall(f: Callable[[float], float], slope: float, noise: float) -> float | None:
    middle = f(0.0)
    before: float | None = None
    fall: float | None = None
    for k in range(2, 46):  # tuned: from a quarter down to where nothing is left but rounding
        t = 2.0**-k
        try:
            there = f(t)
        except Exception:  # outside the domain; a shorter step may be inside
            there = math.nan
        left_over = abs(there - middle - t * slope)
        fuzz = noise + EPSILON * (abs(there) + abs(middle) + abs(t * slope))
        if left_over > CLEAR * fuzz:
            if before is not None:
                fall = before / left_over
            before = left_over
        else:  # buried in rounding, for good or by chance; or outside the domain
            before = None
    return fall
