"""A scale of magnitudes: how large a gradient is, in a few steps of equal ratio."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gradwalk.walk import readable

__all__ = ["ODD", "STEPS", "Scale", "magnitude", "scale_of"]

STEPS = 6
ODD = -1  # the step of a nan or an infinity, which has no place on the scale
_WIDEST = 1e4  # from the smallest magnitude that has a step of its own to the largest


@dataclass(frozen=True)
class Scale:
    """Step 0 is zero, steps 1 to `STEPS` are of equal ratio between `low` and `high`.

    >>> scale = Scale(1.0, 64.0)
    >>> [scale.step(x) for x in (0.0, 1.0, -3.0, 64.0, float("nan"))], scale.texts()
    ([0, 1, 2, 6, -1], ('1', '2', '4', '8', '16', '32', '64'))
    """

    low: float
    high: float

    def step(self, gradient: Any) -> int | None:
        """The step that a gradient falls in; None if there is no gradient.

        >>> Scale(1.0, 64.0).step(5.0), Scale(1.0, 64.0).step(None)
        (3, None)
        """
        size = magnitude(gradient)
        if size is None:
            return None
        if not math.isfinite(size):
            return ODD
        if size == 0.0:
            return 0
        if size >= self.high:
            return STEPS
        if size <= self.low:
            return 1
        along = (math.log(size) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return min(max(int(along * STEPS) + 1, 1), STEPS)

    def texts(self) -> tuple[str, ...]:
        """Where the steps begin, and where the last ends.

        >>> Scale(0.001, 1000.0).texts()
        ('0.001', '0.01', '0.1', '1', '10', '100', '1000')
        """
        low, high = math.log(self.low), math.log(self.high)
        return tuple(readable(float(f"{math.exp(low + (high - low) * i / STEPS):.2g}")) for i in range(STEPS + 1))


def scale_of(gradients: Iterable[Any]) -> Scale | None:
    """The scale that shows these gradients; None if none of them is finite and other than 0.

    >>> scale_of([0.5, -8.0, 0.0, None])
    Scale(low=0.5, high=8.0)
    >>> scale_of([0.0, float("nan")])
    """
    sizes = [size for size in map(magnitude, gradients) if size and math.isfinite(size)]
    if not sizes:
        return None
    high = max(sizes)
    low = max(min(sizes), high / _WIDEST)
    return Scale(low if low < high else high / 10 or high, high)  # a tenth of the smallest float is 0


def magnitude(gradient: Any) -> float | None:
    """How large a gradient is, whatever its sign; None if it is no number.

    >>> magnitude(-2.0), magnitude(Value(-3.0)), magnitude("steep"), magnitude(None)
    (2.0, 3.0, None, None)
    """
    if getattr(gradient, "many", False) is True:  # of many numbers the largest
        return max(map(abs, gradient.detach().reshape(-1).tolist()), default=None)
    gradient = getattr(gradient, "data", gradient)
    try:
        return abs(float(gradient))
    except (TypeError, ValueError, OverflowError):
        return None
