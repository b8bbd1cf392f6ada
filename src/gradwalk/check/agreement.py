"""Whether a derivative agrees with a measured slope, and within what."""

from __future__ import annotations

import math

from gradwalk.check.numeric import Slope, conditioning
from gradwalk.check.report import InputCheck, show
from gradwalk.errors import SettingError
from gradwalk.ops import number

#: What is allowed beyond the error of the measurement, as a share of the slope and in absolute terms.
RTOL, ATOL = 1e-7, 1e-14


def judged(
    name: str, got: float, slope: Slope, *, rtol: float, atol: float, size: float, rounding: float = 0.0
) -> InputCheck:
    """The verdict on one derivative.

    `size` is the magnitude of the number that was nudged, in so far as it is rounded: where the slope changes within
    one last digit of it, a derivative cannot be held to more. `rounding` is how far a right derivative may be off.
    """
    expected, low, high = slope.value, min(slope.left, slope.right), max(slope.left, slope.right)
    if slope.kink:
        if math.isfinite(low) != math.isfinite(high):  # f jumps, or is vertical: no slope in between is right
            low = high = got if got in (low, high) else low if math.isfinite(low) else high
        expected = min(max(got, low), high) if got == got else low
    if not slope.known:
        note = "f cannot be measured here: a nudge either way leaves its domain, or its slope grows without end"
        return InputCheck(name, got, expected, math.nan, math.inf, "not finite", note)
    doubt = 4 * slope.error
    tolerance = atol + rtol * abs(expected) + doubt + conditioning(slope, size) + rounding
    error = abs(got - expected)
    fine = error <= tolerance or got == expected  # a nan is not fine
    if slope.kink:
        note = f"any slope between {show(low, 6)} and {show(high, 6)} is right"
        if low == high:
            note = "f jumps here or is vertical, and has a slope to one side only"
        return InputCheck(name, got, expected, error, tolerance, "kink" if fine else "wrong", note)
    vague = doubt > 0.01 * max(abs(got), abs(expected)) and doubt > 1e-6
    note = f"known only to ±{doubt:.1g}" if vague else ""
    return InputCheck(name, got, expected, error, tolerance, "ok" if fine else "wrong", note)


def same(x: float, y: float) -> bool:
    """Whether two numbers are equal, or both none."""
    return x == y or (math.isnan(x) and math.isnan(y))


def checked_tolerances(rtol: float, atol: float) -> tuple[float, float]:
    """Both as floats, if they can be tolerances."""
    for name, given in (("rtol", rtol), ("atol", atol)):
        x = number(given)
        if not (0.0 <= x < math.inf):
            raise SettingError(f"{name} is a number from 0 up, and small (such as 1e-7), not {given!r}")
    return float(rtol), float(atol)
