"""The steps that are taken, the slopes over one of them, and what two of them say together."""

from __future__ import annotations

import math

import pytest

from gradwalk.check.differences import EPSILON, Rung, ladder, pair, rung

#: number: the longest step, the first to try and the shortest, as powers of 2
LADDERS = {
    0.0: (2, -14, -45),
    5e-324: (2, -14, -1068),
    1e-3: (2, -14, -54),
    0.01: (2, -14, -51),
    0.25: (1, -9, -46),
    1.0: (1, -7, -44),
    -2.0: (3, -7, -44),
    128.0: (9, -7, -39),  # 64 of the number's last digits, and no less
    1e16: (55, 11, 7),
    1.5e308: (1019, 981, 977),  # not so long that it would overflow
}


@pytest.mark.parametrize("x", LADDERS)
def test_the_longest_step_the_first_and_the_shortest(x: float) -> None:
    assert ladder(x) == ladder(-x) == LADDERS[x]


@pytest.mark.parametrize("x", [*LADDERS, 3.0, 1 / 3, 1e5, 1e100])
def test_every_step_can_be_added_without_rounding_and_the_first_has_room_on_both_sides(x: float) -> None:
    longest, first, shortest = ladder(x)
    assert longest >= first
    assert (longest - first) % 2 == 0
    assert first - 4 >= shortest
    for exponent in (longest, first, shortest):
        step = 2.0**exponent
        assert (x + step) - x == step == x - (x - step)


def test_a_rung_holds_the_slopes_to_either_side() -> None:
    found = rung(lambda x: x * x, 1.0, 1.0, 0.5, noise=0.25)
    assert (found.step, found.right, found.left) == (0.5, 2.5, 1.5)
    assert found.fuzz == (0.25 + EPSILON * 2.25) / 0.1  # the largest of the values, over a tenth of the number


@pytest.mark.parametrize(
    ("x", "step", "sight"),
    [
        (1.0, 2**-4, 2**-4),  # a short step counts as it is
        (-64.0, 16.0, 6.4),  # a long one as a tenth of the number
        (0.0, 0.25, 0.001),  # and at 0 there is still something to see
        (0.001, 0.25, 0.001),
    ],
)
def test_rounding_counts_the_more_the_shorter_the_step_but_a_long_step_gains_little(
    x: float, step: float, sight: float
) -> None:
    assert rung(lambda y: 3.0, x, 3.0, step, noise=1.0).fuzz == pytest.approx((1 + 3 * EPSILON) / sight, rel=1e-15)
    assert rung(lambda y: -3.0, x, -3.0, step, noise=0.0).fuzz == pytest.approx(3 * EPSILON / sight, rel=1e-15)


def test_even_a_function_that_is_0_is_rounded() -> None:
    assert 0.0 < rung(lambda x: 0.0, 1.0, 0.0, 2.0**-10, noise=0.0).fuzz < 1e-320


def test_on_a_side_where_the_function_is_not_finite_there_is_no_slope() -> None:
    for beyond in (math.nan, math.inf, -math.inf):
        right_only = rung({1.875: beyond, 2.125: 2.125}.__getitem__, 2.0, 2.0, 0.125, noise=0.0)
        assert right_only.right == 1.0
        assert math.isnan(right_only.left)
        assert right_only.fuzz == 2.125 * EPSILON / 0.125
        left_only = rung({1.875: 1.875, 2.125: beyond}.__getitem__, 2.0, 2.0, 0.125, noise=0.0)
        assert left_only.left == 1.0
        assert math.isnan(left_only.right)
        assert left_only.fuzz == 2.0 * EPSILON / 0.125
    overflow = rung(lambda x: math.copysign(1.7e308, x), 0.0, 1.0, 2.0**-10, noise=0.0)  # each value is finite
    assert math.isnan(overflow.right)
    assert math.isnan(overflow.left)


def test_a_pair_takes_away_the_leading_error_of_its_slopes() -> None:
    found = pair(Rung(4.0, right=10.0, left=-6.0, fuzz=9.0), Rung(1.0, right=4.0, left=-0.5, fuzz=0.5))
    assert found.plain == 1.75
    assert found.central == 1.75 - 0.25 / 15  # from 2 at the coarser step: the error shrinks 16-fold
    assert found.right == 4.0 - 6.0 / 3  # fourfold
    assert found.left == -0.5 + 5.5 / 3
    assert found.gap == found.right - found.left
    assert (found.fuzz, found.step, found.bend) == (0.5, 1.0, 4.5)
    assert pair(Rung(2.0, 0.0, 0.0, 0.0), Rung(0.5, 3.0, 1.0, 0.0)).bend == 4.0


def test_a_pair_is_exact_for_a_cubic_and_its_sides_for_a_parabola() -> None:
    cubic = [rung(lambda x: x**3 - x, 1.0, 0.0, step, noise=0.0) for step in (0.5, 0.125)]
    assert pair(*cubic).central == 2.0
    parabola = [rung(lambda x: x * x, 1.0, 1.0, step, noise=0.0) for step in (0.5, 0.125)]
    found = pair(*parabola)
    assert (found.central, found.right, found.left, found.gap) == (2.0, 2.0, 2.0, 0.0)
