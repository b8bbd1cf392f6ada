"""Which estimate is believed, and how far: in numbers small enough to reckon by hand."""

from __future__ import annotations

import math

import pytest

from gradwalk.check.differences import Pair
from gradwalk.check.estimates import Estimate, estimates, persists, refutes, strays, surest


def pair(central: float = 0.0, *, gap: float = 0.0, fuzz: float = 0.0, step: float = 1.0, **more: float) -> Pair:
    """A pair whose sides lie `gap` apart around the central slope."""
    right, left = more.get("right", central + gap / 2), more.get("left", central - gap / 2)
    return Pair(central, right, left, more.get("plain", central), fuzz, 0.0, step)


def sure(central: float, error: float, step: float = 1.0) -> Estimate:
    return Estimate(pair(central, step=step), error, math.inf, 1)


def second(*pairs: Pair) -> Estimate:
    """What is made of the second of some pairs."""
    return next(estimates(list(pairs)))


# --- how far a pair may be off ------------------------------------------------------------------------------------


def test_the_first_pair_has_none_to_be_judged_by() -> None:
    pairs = [pair(8.0, step=4.0**-k) for k in range(4)]
    assert [found.pair for found in estimates(pairs)] == pairs[1:]
    assert list(estimates(pairs[:1])) == []
    assert list(estimates([])) == []


def test_it_may_be_off_by_as_much_as_it_moved() -> None:
    assert second(pair(8.0), pair(5.0)).error == 3.0
    assert second(pair(5.0), pair(8.0)).error == 3.0


def test_or_by_an_eighth_of_how_far_the_next_moves_on() -> None:
    assert second(pair(8.0), pair(8.0), pair(24.0)).error == 2.0
    assert second(pair(8.0), pair(8.0), pair(-8.0)).error == 2.0
    assert second(pair(9.0), pair(8.0), pair(12.0)).error == 1.0


def test_or_by_the_square_of_what_the_coarser_step_corrects_as_shares_of_the_slope() -> None:
    assert second(pair(8.0), pair(8.0, plain=6.0)).error == 0.5
    assert second(pair(8.0), pair(8.0, plain=10.0)).error == 0.5
    assert second(pair(-8.0), pair(-8.0, plain=-6.0)).error == 0.5
    # Nothing is lost by more than the whole correction, and a slope of 0 has no shares.
    assert second(pair(2.0), pair(2.0, plain=10.0)).error == 8.0
    assert second(pair(0.0), pair(0.0, plain=3.0)).error == 3.0


def test_or_by_half_of_the_gap_between_its_sides_unless_that_shrinks_fast() -> None:
    assert second(pair(gap=16.0), pair(gap=2.0)).error == 1.0  # to an eighth, where a smooth function's shrinks to less
    assert second(pair(gap=-16.0), pair(gap=-2.0)).error == 1.0
    assert second(pair(gap=16.0), pair(gap=1.9375)).error == 0.0
    assert second(pair(gap=-16.0), pair(gap=1.9375)).error == 0.0


def test_or_by_twice_the_rounding_of_its_slopes() -> None:
    assert second(pair(8.0, fuzz=99.0), pair(8.0, fuzz=0.25), pair(8.0, fuzz=99.0)).error == 0.5


def test_the_largest_of_these_counts() -> None:
    parts = {"plain": 6.0, "gap": 0.5, "fuzz": 0.0625}  # 0.5, 0.25 and 0.125
    assert second(pair(8.0), pair(8.0, **parts)).error == 0.5
    assert second(pair(7.0), pair(8.0, **parts)).error == 1.0
    assert second(pair(8.0), pair(8.0, **parts | {"gap": 4.0})).error == 2.0
    assert second(pair(8.0), pair(8.0, **parts | {"fuzz": 2.0})).error == 4.0


def test_a_pair_with_a_side_that_is_missing_gives_no_estimate() -> None:
    whole, half = pair(8.0), pair(math.nan, right=8.0)
    assert list(estimates([half, half, half])) == []
    assert [found.pair for found in estimates([half, half, whole, whole])] == [whole]


# --- how well a gap is known --------------------------------------------------------------------------------------


def test_a_gap_that_stays_is_known_by_how_far_it_moved() -> None:
    found = second(pair(gap=2.0), pair(gap=1.75))
    assert (found.gap_error, found.growth) == (0.25, 1)
    found = second(pair(gap=-2.0), pair(gap=-2.25))
    assert (found.gap_error, found.growth) == (0.25, 1)
    assert second(pair(gap=2.0), pair(gap=2.0, fuzz=0.125)).gap_error == 1.0


@pytest.mark.parametrize("times", [1, 2, 4])
def test_a_gap_may_grow_as_it_does_at_a_jump_or_beside_a_slope_without_end(times: int) -> None:
    found = second(pair(gap=1.0), pair(gap=times + 0.25))
    assert (found.gap_error, found.growth) == (0.25, times)
    found = second(pair(gap=-1.0), pair(gap=-times - 0.25))
    assert (found.gap_error, found.growth) == (0.25, times)


def test_a_gap_that_shrinks_to_half_is_none() -> None:
    assert second(pair(gap=2.0), pair(gap=1.0)).gap_error == math.inf
    assert second(pair(gap=-2.0), pair(gap=1.0)).gap_error == math.inf
    assert second(pair(gap=2.0), pair(gap=1.0 + 2**-10)).gap_error == 1.0 - 2**-10


def test_a_gap_of_a_millionth_of_the_slopes_is_none() -> None:
    for sides in ((1e6, 1e6 - 1.0), (1 - 1e6, -1e6)):
        right, left = sides
        gapped = pair(right=right, left=left)
        assert second(gapped, gapped).gap_error == math.inf
    wider = pair(right=1e6, left=1e6 - 1.0625)
    assert second(wider, wider).gap_error == 0.0
    narrow = pair(right=0.0, left=0.0)
    assert second(narrow, narrow).gap_error == math.inf


# --- which estimate is the surest ---------------------------------------------------------------------------------


def test_an_estimate_is_sharp_below_a_hundredth_of_the_slope() -> None:
    assert not sure(100.0, 1.0).sharp
    assert sure(100.0, 0.9375).sharp
    assert sure(-100.0, 0.9375).sharp
    assert not sure(0.0, 0.0).sharp


def test_without_a_sharp_one_the_least_error_wins() -> None:
    found = [sure(100.0, 3.0, 4.0), sure(90.0, 2.0, 1.0), sure(1.0, 2.5, 0.25)]
    assert surest(found) is found[1]


def test_of_sharp_ones_the_least_share_of_the_slope_wins_and_blunt_ones_do_not_count() -> None:
    found = [sure(100.0, 0.5), sure(400.0, 1.0), sure(8.0, 0.0625), sure(0.0, 0.01)]
    assert surest(found) is found[1]
    assert surest([sure(-400.0, 1.0), sure(100.0, 0.5)]).pair.central == -400.0


def test_a_sharp_one_with_a_shorter_step_overrules_it_if_they_differ_by_more_than_both_their_errors() -> None:
    far = sure(1024.0, 0.25, 4.0)
    assert surest([far, sure(1028.0, 0.75, 1.0)]) is far  # 4 × (0.25 + 0.75): just within
    nearer = sure(1028.0, 0.625, 1.0)
    assert surest([far, nearer]) is nearer
    assert surest([far, sure(1019.0, 0.625, 1.0)]).pair.central == 1019.0
    assert surest([sure(1028.0, 0.625, 16.0), far]) is far
    assert surest([sure(1028.0, 0.625, 4.0), far]) is far  # no shorter than that


def test_and_may_be_overruled_in_its_turn() -> None:
    found = [sure(1000.0, 0.0625, 16.0), sure(2000.0, 1.0, 4.0), sure(3000.0, 6.0, 1.0), sure(2001.0, 6.0, 0.25)]
    assert surest(found) is found[2]
    assert surest(found[:2]) is found[1]


# --- what speaks against a kink, and for it ----------------------------------------------------------------------

KINK = pair(right=9.0, left=5.0, step=4.0)  # around 7, and 4 wide


def test_a_shorter_step_that_knows_its_slope_better_than_the_gap_is_wide_refutes_a_kink() -> None:
    assert refutes(sure(7.0, 0.9375, 1.0), KINK)
    assert not refutes(sure(7.0, 1.0, 1.0), KINK)
    upside_down = pair(right=5.0, left=9.0, step=4.0)
    assert refutes(sure(7.0, 0.9375, 1.0), upside_down)
    assert not refutes(sure(7.0, 1.0, 1.0), upside_down)


def test_and_one_that_sees_a_slope_far_outside_of_the_gap() -> None:
    assert refutes(sure(17.25, 2.0, 1.0), KINK)  # beyond the middle, half the width and four times the error
    assert not refutes(sure(17.0, 2.0, 1.0), KINK)
    assert refutes(sure(-3.25, 2.0, 1.0), KINK)
    assert not refutes(sure(-3.0, 2.0, 1.0), KINK)


def test_but_not_one_that_is_no_nearer() -> None:
    assert not refutes(sure(7.0, 0.0, 4.0), KINK)
    assert not refutes(sure(7.0, 0.0, 16.0), KINK)


def gaps(*widths: float, fuzz: float = 0.0) -> list[Pair]:
    return [pair(gap=width, fuzz=fuzz, step=4.0**-k) for k, width in enumerate(widths)]


def kink_at(pairs: list[Pair], place: int, growth: int = 1) -> Estimate:
    return Estimate(pairs[place], 0.0, 0.0, growth)


def test_a_kink_persists_if_the_gap_stays_within_a_quarter_with_every_shorter_step() -> None:
    for sign in (1.0, -1.0):
        for widths, stays in (
            ((8, 8, 8), True),
            ((8, 6, 10), True),
            ((8, 5.9375, 8), False),
            ((8, 8, 10.0625), False),
            ((8, 8, 8, 8, 2), False),
            ((8, 8, 8, 8, 8), True),
            ((8, -8, -8), False),
        ):
            pairs = gaps(*(sign * width for width in widths))
            assert persists(pairs, kink_at(pairs, 0)) == stays, widths


def test_longer_steps_than_its_own_are_not_asked() -> None:
    pairs = gaps(1, 99, 8, 8, 8)
    assert persists(pairs, kink_at(pairs, 2))
    assert not persists(pairs, kink_at(pairs, 1))


@pytest.mark.parametrize("growth", [2, 4])
def test_at_a_jump_the_gap_must_go_on_growing(growth: int) -> None:
    pairs = gaps(*(growth**k for k in range(5)))
    assert persists(pairs, kink_at(pairs, 0, growth))
    assert not persists(pairs, kink_at(pairs, 0, 1))
    assert not persists(gaps(1, 1, 1, 1), kink_at(gaps(1), 0, growth))


def test_rounding_may_widen_or_close_the_gap() -> None:
    pairs = gaps(8, 8, 26, fuzz=1.0)
    assert persists(pairs, kink_at(pairs, 0))
    pairs = gaps(8, 8, 26.125, fuzz=1.0)
    assert not persists(pairs, kink_at(pairs, 0))


def test_one_shorter_step_alone_might_agree_by_chance() -> None:
    for count, enough in ((1, False), (2, False), (3, True)):
        pairs = gaps(*[8] * count)
        assert persists(pairs, kink_at(pairs, 0)) == enough


def test_how_far_shorter_steps_stray_beyond_rounding() -> None:
    longer, seen, near, nearer = pair(99, step=16), pair(2, step=4), pair(7, fuzz=0.25, step=1), pair(-6, step=0.25)
    assert strays([longer, seen], seen, 0.0) == 0.0
    assert strays([longer, seen, near], seen, 0.0) == 5.0
    assert strays([longer, seen, near], seen, 1.0) == 0.0  # within what is allowed, and 16 times the rounding
    assert strays([longer, seen, near], seen, 0.9375) == 5.0
    assert strays([longer, seen, near, nearer], seen, 0.0) == 8.0
    assert strays([nearer, near], seen, 0.0) == 8.0
    assert strays([pair(7, step=4)], seen, 0.0) == 0.0  # a step no shorter says nothing
