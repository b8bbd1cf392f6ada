"""Taylor remainders: how fast they fall for a right slope, and for a wrong one."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from gradwalk.check.numeric import EPSILON
from gradwalk.check.taylor import CLEAR, ENOUGH, Remainder, remainder

CheckedFunction = Callable[[float], float]


@pytest.mark.parametrize(
    ("f", "right", "off"),
    [
        (lambda t: (3 + t) ** 2, 6.0, 3e-5),
        (lambda t: math.exp(2 + t), math.exp(2), 3e-5),
        (lambda t: math.log(1e-3 + t), 1e3, 1e-2),  # a ValueError for long steps
        (lambda t: math.tanh(5 + t), 1 - math.tanh(5) ** 2, 1e-6),
        (lambda t: 1e6 * math.cos(t), 0.0, 10.0),
    ],
)
def test_the_remainder_falls_fourfold_for_a_right_slope_and_twofold_for_a_wrong_one(
    f: CheckedFunction, right: float, off: float
) -> None:
    found = remainder(f, right)
    assert found.ok
    assert found.fall is not None
    assert 3.8 < found.fall < 4.2
    for wrong in (right + off, right - off, -right - 1e3 * off, 2 * right + 1e3 * off):
        found = remainder(f, wrong)
        assert not found.ok
        assert found.fall is not None
        assert 1.8 < found.fall < 2.3


def test_a_flatter_remainder_falls_faster_and_a_line_has_none() -> None:
    cubic = remainder(lambda t: t**3, 0.0)
    assert cubic.fall == pytest.approx(8.0)
    assert cubic.ok
    line = remainder(lambda t: 5 * t + 1, 5.0)
    assert line.fall is None
    assert line.ok
    assert str(line) == "no remainder beyond rounding"
    assert "by 8 (right: 4 or more, wrong: 2)" in str(cubic)


def test_a_fall_passes_if_it_is_well_above_two() -> None:
    assert [Remainder(fall).ok for fall in (1.0, 2.0, 2.3, ENOUGH, 2.4, 4.0, math.inf)] == [False] * 3 + [True] * 4


def test_a_slope_that_is_right_to_one_side_only_fails() -> None:
    assert not remainder(abs, 1.0).ok
    assert not remainder(abs, -1.0).ok
    assert not remainder(lambda t: max(t, 0.0), 0.0).ok


def test_noise_hides_a_remainder() -> None:
    assert not remainder(lambda t: t * t + t, 0.9).ok
    assert remainder(lambda t: t * t + t, 0.9, noise=1.0).ok


def test_a_remainder_counts_if_it_stands_clear_of_rounding() -> None:
    """At t = 1/4 it is 1/16 here, at 1/8 it is 1/64: two that count make a fall."""
    eighth = 1 / 64
    just = eighth / CLEAR - EPSILON * eighth  # beside the last digit of the value itself
    assert remainder(lambda t: t * t, 0.0, noise=just).fall is None
    assert remainder(lambda t: t * t, 0.0, noise=just * 0.999).fall == 4.0


@pytest.mark.parametrize("offset", [1e3, -1e5, 1e8, -3e10])
def test_the_rounding_of_a_large_offset_is_no_remainder(offset: float) -> None:
    assert remainder(lambda t: offset + t / 3, 1 / 3).fall is None
    assert remainder(lambda t: offset - t / 3, -1 / 3).fall is None


def test_the_rounding_of_a_slope_is_no_remainder() -> None:
    assert remainder(lambda t: t * 0.1 * 3, 0.3).fall is None  # 0.1 × 3 is 0.30000000000000004


def test_a_step_at_which_the_remainder_vanishes_by_chance_does_not_end_the_test() -> None:
    found = remainder(lambda t: t**3 - t / 16, 0.0)  # 0 at the longest step, either way; the slope is -1/16
    assert not found.ok
    assert remainder(lambda t: t**3 - t / 16, -1 / 16).fall == pytest.approx(8.0)
    later = remainder(lambda t: t**3 - t / 1024, 0.0)  # 0 at 1/32, with steps before and after that count
    assert not later.ok
