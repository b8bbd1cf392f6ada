"""The verdict on one derivative, and what each part of the tolerance allows."""

from __future__ import annotations

import math

import pytest

from gradwalk.check import InputCheck
from gradwalk.check.agreement import judged
from gradwalk.check.numeric import EPSILON, Slope


def verdict(got: float, expected: float = 1.0, error: float = 0.0, **options: float) -> InputCheck:
    bend = options.pop("bend", 0.0)
    measured = Slope(expected, error, expected, expected, kink=False, bend=bend, step=1.0)
    return judged("x", got, measured, **{"rtol": 0.0, "atol": 0.0, "size": 0.0} | options)


@pytest.mark.parametrize(
    ("allowed", "options"),
    [
        (0.5, {"atol": 0.5}),
        (0.5, {"rtol": 0.25, "expected": -2.0}),
        (0.5, {"error": 0.125}),
        (0.5, {"rounding": 0.5}),
        (0.5, {"size": 2.0, "bend": -0.5 / (16 * EPSILON)}),
        (2.5, {"atol": 0.5, "rtol": 0.5, "error": 0.125, "rounding": 0.5, "size": 1.0, "bend": 0.0625 / EPSILON}),
    ],
)
def test_each_part_of_the_tolerance_counts_and_together_they_add_up(allowed: float, options: dict[str, float]) -> None:
    expected = options.get("expected", 1.0)
    for sign in (1, -1):
        entry = verdict(expected + sign * allowed, **options)
        assert (entry.status, entry.tolerance, entry.error) == ("ok", allowed, allowed)
        assert verdict(expected + sign * (allowed + 1e-9), **options).status == "wrong"


def test_a_derivative_that_is_not_finite_is_never_within_a_tolerance() -> None:
    for got in (math.nan, math.inf, -math.inf):
        assert verdict(got, rtol=0.5, atol=1e300).status == "wrong"


@pytest.mark.parametrize(
    ("expected", "error", "note"),
    [
        (1.0, 0.1, "known only to ±0.4"),
        (1.0, 0.0026, "known only to ±0.01"),
        (1.0, 0.0025, ""),  # to one part in a hundred
        (0.0, 2.6e-7, "known only to ±1e-06"),
        (0.0, 2.5e-7, ""),  # nothing to speak of
        (1.0, 1e-5, ""),
    ],
)
def test_a_measurement_is_called_vague_above_a_hundredth_of_the_slope(expected: float, error: float, note: str) -> None:
    assert verdict(expected, expected, error).note == note


def test_at_a_kink_the_nearest_slope_between_the_two_sides_is_expected() -> None:
    def at_kink(got: float, left: float, right: float) -> tuple[str, float]:
        measured = Slope(0.0, 0.0, left, right, kink=True, bend=0.0, step=1.0)
        entry = judged("x", got, measured, rtol=0.0, atol=0.0, size=1.0)
        return entry.status, entry.expected

    assert at_kink(0.5, 2.0, -1.0) == ("kink", 0.5)
    assert at_kink(2.5, 2.0, -1.0) == ("wrong", 2.0)
    assert at_kink(-1.5, 2.0, -1.0) == ("wrong", -1.0)
    assert at_kink(math.inf, 0.0, math.inf) == ("kink", math.inf)
    assert at_kink(math.nan, 0.0, math.inf) == ("wrong", 0.0)
    assert at_kink(math.nan, -math.inf, 3.0) == ("wrong", 3.0)
    thirds = Slope(0.5, 0.0, 2 / 3, 1 / 3, kink=True, bend=0.0, step=1.0)
    entry = judged("x", 0.5, thirds, rtol=0.0, atol=0.0, size=1.0)
    assert entry.note == "any slope between 0.333333 and 0.666667 is right"
