"""Small two-class data sets in the plane, to learn on: moons, circles, xor and spiral.

Each gives `(X, y)`: points `[x1, x2]` and their labels, −1 or +1, half of them each (for an odd `n` there is one more
of −1), shuffled. The same settings give the same points, on every machine. `noise` is the standard deviation of the
jitter on both coordinates; without it the points lie exactly on their curve or corner.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from typing import Any

from gradwalk.errors import SettingError

__all__ = ["BY_NAME", "circles", "moons", "spiral", "xor"]

Data = tuple[list[list[float]], list[int]]
Curve = Callable[[int, float], tuple[float, float]]

LARGEST = 1_000_000  # points; more is a typing error in an engine of scalars
SPIRAL_TURNS = 1.25
SPIRAL_RADII = (0.2, 2.0)


def moons(n: int = 100, noise: float = 0.1, seed: int = 1337) -> Data:
    """Two half circles that reach into each other: the upper one is −1, the lower one +1.

    >>> X, y = moons(n=4, noise=0.0)
    >>> sorted(zip(y, [[round(x1, 3), round(x2, 3)] for x1, x2 in X]))
    [(-1, [-1.0, 0.0]), (-1, [1.0, 0.0]), (1, [0.0, 0.5]), (1, [2.0, 0.5])]
    """

    def moon(label: int, t: float) -> tuple[float, float]:
        x1, x2 = math.cos(math.pi * t), math.sin(math.pi * t)
        return (x1, x2) if label < 0 else (1.0 - x1, 0.5 - x2)

    return _sampled(moon, n, noise, seed)


def circles(n: int = 100, noise: float = 0.1, seed: int = 1337) -> Data:
    """A circle of radius 1 (−1) around one of radius 0.4 (+1).

    >>> X, y = circles(n=6, noise=0.0)
    >>> [round(math.hypot(*x), 3) for x, label in zip(X, y) if label > 0]
    [0.4, 0.4, 0.4]
    """

    def circle(label: int, t: float) -> tuple[float, float]:
        radius = 1.0 if label < 0 else 0.4
        return radius * math.cos(2.0 * math.pi * t), radius * math.sin(2.0 * math.pi * t)

    return _sampled(circle, n, noise, seed, closed=True)


def xor(n: int = 100, noise: float = 0.25, seed: int = 1337) -> Data:
    """Four clouds on the corners (±1, ±1): −1 where the signs agree, +1 where they differ.

    >>> X, y = xor(n=4, noise=0.0)
    >>> sorted(zip(X, y))
    [([-1.0, -1.0], -1), ([-1.0, 1.0], 1), ([1.0, -1.0], 1), ([1.0, 1.0], -1)]
    """

    def corner(label: int, t: float) -> tuple[float, float]:
        x1 = -1.0 if t < 0.5 else 1.0
        return x1, -label * x1

    return _sampled(corner, n, noise, seed, closed=True)


def spiral(n: int = 100, noise: float = 0.1, seed: int = 1337) -> Data:
    """Two arms that wind around each other one and a quarter times: the hardest of the four.

    >>> X, y = spiral(n=100)
    >>> y.count(-1), y.count(1)
    (50, 50)
    """

    def arm(label: int, t: float) -> tuple[float, float]:
        nearest, farthest = SPIRAL_RADII
        radius = label * (nearest + (farthest - nearest) * t)
        angle = 2.0 * math.pi * SPIRAL_TURNS * t
        return radius * math.cos(angle), radius * math.sin(angle)

    return _sampled(arm, n, noise, seed)


#: The data sets by name, for command lines and loops.
BY_NAME: dict[str, Callable[..., Data]] = {"moons": moons, "circles": circles, "xor": xor, "spiral": spiral}


def _sampled(curve: Curve, n: int, noise: float, seed: int, *, closed: bool = False) -> Data:
    """`n` points spread evenly along the curve of each label (0 ≤ t ≤ 1; < 1 if closed), with jitter, shuffled."""
    count = _whole("n", "the number of points", n)
    if not 2 <= count <= LARGEST:
        raise SettingError(f"n, the number of points, lies between 2 (one of each class) and {LARGEST}, not {_told(n)}")
    spread = _checked_noise(noise)
    rng = random.Random(_whole("seed", "which fixes the random numbers", seed))
    points = []
    for label, share in ((-1, count - count // 2), (1, count // 2)):
        last = share if closed else share - 1
        for i in range(share):
            x1, x2 = curve(label, i / last if last else 0.0)
            points.append(([x1 + spread * rng.gauss(0.0, 1.0), x2 + spread * rng.gauss(0.0, 1.0)], label))
    rng.shuffle(points)
    return [point for point, _ in points], [label for _, label in points]


def _checked_noise(noise: Any) -> float:
    try:
        spread = math.nan if isinstance(noise, (str, bytes)) else float(noise)
    except (TypeError, ValueError, OverflowError):
        spread = math.nan
    if not 0.0 <= spread < math.inf:
        raise SettingError(
            f"noise, the standard deviation of the jitter, is a finite number from 0 up, not {_told(noise)}"
        )
    return spread


def _whole(name: str, meaning: str, x: Any) -> int:
    try:
        if not isinstance(x, bool):
            return operator.index(x)
    except TypeError:
        pass
    raise SettingError(f"{name}, {meaning}, is a whole number, not {type(x).__name__} {_told(x)}")


def _told(x: Any) -> str:
    try:
        text = repr(x)
    except ValueError:  # Python refuses to write out ints of more than a few thousand digits
        return "an int of so many digits"
    return text if len(text) <= 40 else text[:37] + "..."
