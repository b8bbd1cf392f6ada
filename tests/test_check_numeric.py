"""The measuring of slopes: how good it is, that it knows how good it is, and what it says at kinks and edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_check_estimates import pair

from gradwalk.check.differences import Pair
from gradwalk.check.numeric import EPSILON, SETTLED, UNKNOWN, Slope, at_kink, best, conditioning, one_sided, slope

CheckedFunction = Callable[[float], float]

#: name: function, point, slope, how well it must be known (as a share of the slope)
SMOOTH: dict[str, tuple[CheckedFunction, float, float, float]] = {
    "line": (lambda x: 3 * x + 1, 2.0, 3.0, 1e-9),
    "square": (lambda x: x * x, 3.0, 6.0, 1e-9),
    "steep exp": (math.exp, 30.0, math.exp(30.0), 1e-9),
    "tiny exp": (math.exp, -30.0, math.exp(-30.0), 1e-9),
    "pole nearby": (lambda x: 1 / x, 1e-3, -1e6, 1e-9),
    "eighth power": (lambda x: x**8, 3.0, 8 * 3.0**7, 1e-9),
    "huge power": (lambda x: x**8, 1e8, 8e56, 1e-9),
    "huge square": (lambda x: x * x, -1e8, -2e8, 1e-9),
    "log of little": (math.log, 1e-8, 1e8, 1e-9),
    "log of next to nothing": (math.log, 1e-100, 1e100, 1e-8),
    "sine of little": (math.sin, 1e-8, 1.0, 1e-9),
    "sine of much": (math.sin, 1e8, math.cos(1e8), 1e-9),
    "brisk sine": (lambda x: math.sin(100 * x), 0.3, 100 * math.cos(30.0), 1e-9),
    "quick sine": (lambda x: math.sin(1e4 * x), 0.3, 1e4 * math.cos(3e3), 1e-9),
    "sharp tanh": (lambda x: math.tanh(1e8 * x), 1e-8, 1e8 / math.cosh(1.0) ** 2, 1e-9),
    "narrow bump": (lambda x: math.exp(-((1e8 * x) ** 2)) + x, 1e-8, 1 - 2e8 / math.e, 1e-9),
    "gentle cosine": (math.cos, 1e-8, -1e-8, 1e-3),
    "large offset": (lambda x: 1e8 + x, 1.0, 1.0, 1e-5),
    "square root": (math.sqrt, 1e-6, 500.0, 1e-9),
    "next to the edge": (math.asin, 1 - 1e-6, 1 / math.sqrt(1 - (1 - 1e-6) ** 2), 1e-8),
    "beside a kink": (lambda x: max(x - 3.0, 0.0), 3.0 + 1e-7, 1.0, 1e-9),
    "left of a kink": (abs, -1e-9, -1.0, 1e-9),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_functions_are_measured_well_and_the_error_is_honest(name: str) -> None:
    f, x, exact, share = SMOOTH[name]
    found = slope(f, x)
    assert not found.kink
    assert found.left == found.right == found.value
    assert abs(found.value - exact) <= 4 * found.error + 4 * EPSILON * abs(exact)
    assert found.error <= share * abs(exact)


@settings(max_examples=300, deadline=None)
@given(st.tuples(*[st.floats(-100, 100)] * 4), st.floats(-50, 50))
@example((5e-324, 0.0, 0.0, 0.0), 8.5)
@example((0.0, 5e-324, 0.0, 0.0), 20.5)
def test_a_cubic_lies_within_the_error_that_is_claimed(coefficients: tuple[float, ...], x: float) -> None:
    a, b, c, d = coefficients
    exact = float(3 * Fraction(a) * Fraction(x) ** 2 + 2 * Fraction(b) * Fraction(x) + Fraction(c))
    size = abs(a * x**3) + abs(b * x**2) + abs(c * x) + abs(d)
    # Numbers next to nothing have no last digits to lose: each of the three products may be off by half of 5e-324.
    noise = 4 * EPSILON * size + 5e-324 * (1 + abs(x) + x * x)
    found = slope(lambda x: ((a * x + b) * x + c) * x + d, x, noise)
    assert not found.kink
    assert abs(found.value - exact) <= 4 * found.error


def test_an_easy_function_costs_seven_evaluations_and_a_hard_one_not_hundreds() -> None:
    calls = []

    def counted(f: CheckedFunction) -> CheckedFunction:
        def g(x: float) -> float:
            calls.append(x)
            return f(x)

        return g

    for easy in (math.sin, lambda x: 7.0, lambda x: 3 * x):
        slope(counted(easy), 1.0)
        assert len(calls) == 7
        assert len(set(calls)) == 7
        calls.clear()
    slope(counted(lambda x: 1 / x), 1e-3)
    assert 7 < len(calls) <= 100


#: number: the first step, the longest and the shortest, as powers of 2
STEPS = {
    0.0: (-14, 2, -44),
    1e-3: (-14, 2, -54),
    0.25: (-9, 1, -45),
    1.0: (-7, 1, -43),
    -2.0: (-7, 3, -43),
    128.0: (-7, 9, -39),  # 64 of the number's last digits, and no less
    -1e13: (1, 45, -3),
    1e16: (11, 55, 7),
    5e307: (980, 1020, 976),
    1.5e308: (981, 1019, 977),  # not so long that it would overflow
}


@pytest.mark.parametrize("x", STEPS)
def test_the_ladder_of_steps(x: float) -> None:
    """Each step is a quarter of the one before, and is added to the number without rounding."""
    first, longest, shortest = STEPS[x]
    seen = []

    def kinked(y: float) -> float:
        seen.append(y)
        return abs(y / 4 - x / 4)

    assert slope(kinked, x).kink
    assert seen[:7] == [x, *(x + sign * 2.0**k for k in (first, first - 2, first - 4) for sign in (1, -1))]
    ladder = [2.0**k for k in range(longest, shortest - 1, -2)]
    assert sorted(set(seen)) == sorted({x, *(x + h for h in ladder), *(x - h for h in ladder)})
    assert len(seen) == len(set(seen))


def test_bend_and_step_are_told() -> None:
    found = slope(math.exp, 1.0)
    assert found.bend == pytest.approx(math.e, rel=1e-6)
    assert found.step == 2.0**-11
    assert slope(lambda x: -x * x, 3.0).bend == pytest.approx(-2.0, rel=1e-9)
    assert slope(abs, 0.0).bend == 0.0
    assert slope(lambda x: x * x if x >= 1 else math.nan, 1.0).bend == 0.0


def test_the_error_of_a_constant_is_its_rounding_over_the_shortest_step() -> None:
    assert slope(lambda x: 7.0, 2.0).error == pytest.approx(2 * 7 * EPSILON * 2**11)
    assert slope(lambda x: -7.0, 2.0, noise=1e-9).error == pytest.approx(2 * (1e-9 + 7 * EPSILON) * 2**11)
    assert 0.0 < slope(lambda x: 0.0, 2.0).error < 1e-300


@pytest.mark.parametrize("x", [0.0, 5e-324, -1e-300, 1e-20, 1e13, -1e16, 1e200, -1e300])
def test_no_number_is_too_small_or_too_large_to_be_nudged(x: float) -> None:
    found = slope(lambda x: 3 * x, x)
    assert found.value == pytest.approx(3.0, rel=1e-9)
    assert found.error < 1e-8
    assert not found.kink


def test_a_constant_has_slope_0_at_once() -> None:
    found = slope(lambda x: 7.0, 2.0)
    assert (found.value, found.kink) == (0.0, False)
    assert 0.0 < found.error < 1e-10


#: function, point, slope to the left, slope to the right
KINKS: list[tuple[CheckedFunction, float, float, float]] = [
    (abs, 0.0, -1.0, 1.0),
    (lambda x: max(x, 0.0), 0.0, 0.0, 1.0),
    (lambda x: max(x, 0.0) + 1.0, 0.0, 0.0, 1.0),
    (lambda x: -abs(x - 3.0), 3.0, 1.0, -1.0),
    (lambda x: x + 1e-4 * max(x, 0.0), 0.0, 1.0, 1.0001),
    (lambda x: abs(x) * math.exp(x) + x * x + 5.0, 0.0, -1.0, 1.0),
    (lambda x: 1e6 * abs(x - 1e8), 1e8, -1e6, 1e6),
    (lambda x: 1e-6 * abs(x), 0.0, -1e-6, 1e-6),
    (lambda x: max(math.sin(x), math.cos(x)), math.pi / 4, -math.sqrt(0.5), math.sqrt(0.5)),
    (lambda x: 1e8 + max(x - 3.0, 0.0), 3.0 + 1e-12, 0.0, 1.0),  # nearer to it than rounding lets us see
]


@pytest.mark.parametrize(("f", "x", "left", "right"), KINKS)
def test_kinks_are_seen_with_both_their_slopes(f: CheckedFunction, x: float, left: float, right: float) -> None:
    found = slope(f, x)
    assert found.kink
    assert found.left == pytest.approx(left, rel=1e-6, abs=1e-6 * abs(right - left))
    assert found.right == pytest.approx(right, rel=1e-6, abs=1e-6 * abs(right - left))


def test_a_kink_is_not_seen_where_only_the_second_derivative_jumps() -> None:
    found = slope(lambda x: max(x, 0.0) ** 2, 0.0)
    assert not found.kink
    assert abs(found.value) <= 4 * found.error < 1e-6


def test_at_a_jump_the_slope_of_one_side_is_without_end() -> None:
    for f, sides in (
        (lambda x: 1.0 if x > 0 else 0.0, (0.0, math.inf)),
        (lambda x: 0.0 if x > 0 else 1.0, (0.0, -math.inf)),
        (lambda x: 1.0 if x >= 0 else 0.0, (math.inf, 0.0)),
        (lambda x: math.sqrt(max(x, 0.0)), (0.0, math.inf)),
    ):
        found = slope(f, 0.0)
        assert found.kink
        assert (found.left, found.right) == pytest.approx(sides, abs=1e-9)


def test_at_the_edge_of_a_domain_the_side_that_exists_counts() -> None:
    right = slope(lambda x: x**1.5 if x >= 0 else math.nan, 0.0)
    assert right.known
    assert abs(right.value) <= right.error * 4 < 1e-5
    left = slope(lambda x: math.log1p(-x) if x <= 0.5 else math.inf, 0.5)
    assert left.value == pytest.approx(-2.0, rel=1e-6)
    raising = slope(lambda x: 2 * x + math.sqrt(x - 1) ** 2, 1.0)  # a ValueError below 1
    assert raising.value == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize(
    "f", [math.sqrt, lambda x: math.nan, lambda x: math.inf, lambda x: 1.0 if x == 0 else math.nan]
)
def test_what_cannot_be_measured_is_not_known(f: CheckedFunction) -> None:
    found = slope(f, 0.0)
    assert not found.known
    assert not found.kink
    assert math.isnan(found.value)
    assert found.error == math.inf


def test_noise_that_is_told_widens_the_error() -> None:
    quiet, noisy = slope(math.sin, 1.0), slope(math.sin, 1.0, noise=1e-6)
    assert quiet.error < 1e-10
    assert 1e-6 < noisy.error < 1e-3
    assert abs(noisy.value - math.cos(1.0)) < noisy.error


def test_a_function_that_is_rounded_to_steps_is_measured_over_long_ones() -> None:
    found = slope(lambda x: (x + 1e8) - 1e8, 1.0, noise=EPSILON * 1e8)
    assert abs(found.value - 1.0) <= 4 * found.error < 1e-3


@pytest.mark.parametrize("speed", [1e9, 1e11, 1e12, 1e13, 1e14])
@pytest.mark.parametrize("x", [0.7, 1.0, 2.3])
def test_a_function_too_wild_to_be_measured_is_not_claimed_to_be_tame(speed: float, x: float) -> None:
    found = slope(lambda x: math.sin(speed * x), x, noise=EPSILON * speed * x)
    exact = speed * math.cos(speed * x)
    assert abs(found.value - exact) <= 4 * found.error or (found.kink and found.left <= exact <= found.right)


def test_conditioning_grows_with_the_bend_and_the_number() -> None:
    bent = Slope(1.0, 0.0, 1.0, 1.0, kink=False, bend=1e10, step=1.0)
    assert conditioning(bent, 2.0) == 2 * conditioning(bent, 1.0) == pytest.approx(16e10 * EPSILON)


def test_three_steps_will_do_if_they_settle_it_and_else_all_are_taken() -> None:
    calls = []

    def line(x: float) -> float:
        calls.append(x)
        return x

    shortest = 2.0**-11
    enough = SETTLED / 2 * shortest - EPSILON * (1 + shortest)  # what may be off beside the last digit of the value
    assert slope(line, 1.0, noise=enough).error == SETTLED
    assert len(calls) == 7
    calls.clear()
    assert slope(line, 1.0, noise=1.001 * enough).error < SETTLED
    assert len(calls) > 20


# --- what all steps say together ------------------------------------------------------------------------------------


def gaps(*widths: float, around: float = 0.0) -> list[Pair]:
    """Pairs with sides so far apart around the same slope, each with a quarter of the step before."""
    return [pair(around, gap=width, step=4.0**-k) for k, width in enumerate(widths)]


def test_a_gap_known_to_a_tenth_of_itself_is_a_kink() -> None:
    assert not best(gaps(11.0, 10.0, 9.0, 8.0)).kink  # each moves by a tenth, or more
    found = best(gaps(11.5, 10.5, 9.5, 8.5))
    assert found.kink
    assert found.step == 0.25
    assert best(gaps(-11.5, -10.5, -9.5, -8.5)).kink


def test_the_kink_that_is_known_best_is_told() -> None:
    pairs = gaps(8.5, 8.25, 8.25, 8.0, 8.0625, 8.0)
    assert best(pairs).step == pairs[2].step


def test_a_gap_that_does_not_persist_is_no_kink_though_nothing_refutes_it() -> None:
    found = best(gaps(8.0, 8.0, 8.0, 5.5))
    assert not found.kink
    assert (found.error, found.step) == (2.75, 4.0**-3)


def test_a_gap_that_rounding_may_hide_is_no_kink_if_a_shorter_step_refutes_it() -> None:
    """Then only those steps are believed that refute it, though a longer one may claim to know the slope better."""
    hidden = pair(1024.0, fuzz=0.375, step=4.0**-6)
    pairs = [*gaps(0.0, 0.0, 8.0, 8.0, 8.0, 8.0, around=1024.0), hidden]
    found = best(pairs)
    assert not found.kink
    assert (found.value, found.error, found.step) == (1024.0, 0.75, hidden.step)
    assert found.left == found.right == 1024.0


def test_where_the_slope_is_only_a_bound_it_is_widened_by_what_shorter_steps_see() -> None:
    far = [pair(5.0, step=16.0), pair(3.0, step=4.0)]  # 3, give or take 2
    assert best(far).error == 2.0
    tame = pair(11.0, gap=16.0, step=1.0)  # within four times that
    assert best([*far, tame]).error == 2.0
    wild = pair(11.25, gap=16.5, step=1.0)
    assert best([*far, wild]).error == 16 * 8.25
    assert best([*far, wild]).value == 3.0
    rounded = pair(11.25, gap=16.5, fuzz=1.0, step=1.0)
    assert best([*far, rounded]).error == 2.0


def test_a_slope_that_is_sharp_is_not_widened() -> None:
    sharp = [pair(1000.0, step=16.0), pair(1000.5, step=4.0), pair(1004.0, gap=100.0, step=1.0)]
    assert best(sharp).error == 0.5


def test_where_one_side_is_missing_the_other_counts_and_the_right_one_first() -> None:
    right = [pair(math.nan, right=3.0, left=math.nan, step=4.0**-k) for k in range(4)]
    left = [pair(math.nan, right=math.nan, left=5.0, step=4.0**-k) for k in range(4)]
    both = [pair(math.nan, right=3.0, left=5.0, step=4.0**-k) for k in range(4)]
    assert [best(pairs).value for pairs in (right, left, both)] == [3.0, 5.0, 3.0]
    assert best(right[:2]) is UNKNOWN
    assert best([]) is UNKNOWN


def one_side(*values: float, fuzz: float = 0.0) -> list[Pair]:
    return [pair(right=value, fuzz=fuzz, step=4.0**-k) for k, value in enumerate(values)]


def test_one_side_is_known_by_how_far_its_slope_moved_and_the_least_move_counts() -> None:
    found = one_sided(one_side(16.0, 8.0, 6.0, 5.0, 6.0), "right")
    assert found == Slope(5.0, 1.0, 5.0, 5.0, kink=False, bend=0.0, step=4.0**-3)
    rising = one_sided(one_side(-16.0, -8.0, -6.0, -5.0), "right")
    assert (rising.value, rising.error) == (-5.0, 1.0)
    assert one_sided(one_side(8.0, 6.0, 6.0, fuzz=0.125), "right").error == 0.75
    assert one_sided(one_side(8.0, 7.0), "right") is UNKNOWN
    mirrored = [pair(left=value, step=1.0) for value in (8.0, 6.0, 5.0)]
    assert one_sided(mirrored, "left").value == 5.0


def test_the_slope_of_a_side_that_moves_ever_more_is_not_known() -> None:
    assert one_sided(one_side(1.0, 2.0, 4.0, 8.0), "right") is UNKNOWN
    assert one_sided(one_side(8.0, 7.0, 5.0, 2.0), "right") is UNKNOWN
    assert one_sided(one_side(1.0, 2.0, 3.0), "right").error == 1.0  # no more than before
    assert one_sided(one_side(1.0, 2.0, 4.5, fuzz=0.25), "right").value == 4.5  # no more, but for rounding
    assert one_sided(one_side(1.0, 2.0, 4.75, fuzz=0.25), "right") is UNKNOWN


def side(value: float, error: float) -> Slope:
    return Slope(value, error, value, value, kink=False, bend=0.0, step=1.0)


def test_a_kink_is_told_with_both_its_slopes_and_the_larger_error() -> None:
    here = pair(1.5, right=4.0, left=-1.0, step=0.25)
    found = at_kink(here, side(-1.25, 0.5), side(4.25, 0.25))
    assert found == Slope(1.5, 0.5, -1.25, 4.25, kink=True, bend=0.0, step=0.25)
    assert at_kink(here, side(-1.25, 0.25), side(4.25, 0.5)).error == 0.5


def test_a_side_of_a_kink_that_is_not_known_has_a_slope_without_end_in_the_way_it_went() -> None:
    here = pair(1.5, right=4.0, left=-1.0, step=0.25)
    found = at_kink(here, UNKNOWN, side(4.25, 0.5))
    assert (found.left, found.right, found.error) == (-math.inf, 4.25, 0.5)
    found = at_kink(here, side(-1.25, 0.5), UNKNOWN)
    assert (found.left, found.right, found.error) == (-1.25, math.inf, 0.5)
    found = at_kink(here, UNKNOWN, UNKNOWN)
    assert (found.left, found.right, found.error) == (-math.inf, math.inf, 0.0)


def test_a_cusp_is_a_kink_with_slopes_without_end() -> None:
    found = slope(lambda x: math.sqrt(abs(x)), 0.0)
    assert (found.kink, found.left, found.right, found.error) == (True, -math.inf, math.inf, 0.0)
