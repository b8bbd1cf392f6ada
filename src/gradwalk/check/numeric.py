"""The slope of a function of one number, measured, with an honest account of how far the measurement may be off.

Nudge the number by `h` both ways, and again by `h / 4`. The two central slopes, combined so that their leading error
cancels (Richardson), give an estimate far better than either; the next pair down gives another, and how much the two
differ says how good they are. A step too long is wrong because the function bends; one too short drowns in rounding.
So three steps in the middle are tried first, and if they do not settle it, a whole ladder of steps, of which the
best rung is taken. Slopes to the left and to the right are kept apart: where they do not meet there is a kink.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["EPSILON", "Slope", "conditioning", "slope"]

EPSILON = sys.float_info.epsilon
SMALLEST = 5e-324

#: Good enough to stop after the first three steps: an error of this share of the slope.
SETTLED = 1e-9
#: A slope known to this share of itself is a slope; less is only a bound.
SHARP = 1e-2
#: Left and right slopes closer than this share of themselves are one slope.
MEET = 1e-6


@dataclass(frozen=True)
class Slope:
    """A measured slope: `value`, give or take `error`; `left` and `right` differ at a kink.

    `bend` is about the second derivative; `step` is the length of the shortest nudge that was used.

    >>> from gradwalk.check.numeric import slope
    >>> found = slope(lambda x: x**3, 2.0)
    >>> round(found.value, 9), found.error < 1e-7, found.kink
    (12.0, True, False)
    >>> found = slope(abs, 0.0)
    >>> found.left, found.right, found.kink
    (-1.0, 1.0, True)
    """

    value: float
    error: float
    left: float
    right: float
    kink: bool
    bend: float
    step: float

    @property
    def known(self) -> bool:
        """Whether anything at all could be measured.

        >>> from gradwalk.check.numeric import slope
        >>> slope(lambda x: float("nan"), 0.0).known
        False
        """
        return math.isfinite(self.error)


UNKNOWN = Slope(math.nan, math.inf, math.nan, math.nan, kink=False, bend=math.nan, step=math.nan)


def slope(f: Callable[[float], float], x: float, noise: float = 0.0) -> Slope:
    """The slope of `f` at `x`; `noise` is how far a value of `f` may be off by rounding inside it.

    A nudge at which `f` raises or is not finite (the edge of its domain) is left out; at an edge the slope is that of
    the side that exists.

    >>> from gradwalk.check.numeric import slope
    >>> round(slope(lambda x: 1 / x, 1e-3).value, 3)
    -1000000.0
    """
    at = _guarded(f)
    middle = at(x)
    if not math.isfinite(middle):
        return UNKNOWN
    coarsest, start, finest = _ladder(x)
    tried: dict[int, _Rung] = {}

    def rungs(exponents: Sequence[int]) -> list[_Rung]:
        for exponent in exponents:
            if exponent not in tried:
                tried[exponent] = _rung(at, x, middle, math.ldexp(1.0, exponent), noise)
        return [tried[exponent] for exponent in exponents]

    first = _best(rungs((start, start - 2, start - 4)))
    flat = all(rung.right == rung.left == 0.0 for rung in tried.values())
    if flat or (not first.kink and first.error <= SETTLED * abs(first.value)):
        return first
    return _best(rungs(range(coarsest, finest - 1, -2)))


def conditioning(slope: Slope, size: float) -> float:
    """How much a slope changes within a few last digits of a number of this size: it cannot be known better.

    >>> import math
    >>> from gradwalk.check.numeric import conditioning, slope
    >>> conditioning(slope(math.exp, 1.0), 1.0) < 1e-14
    True
    """
    return 8 * EPSILON * size * abs(slope.bend)


def _guarded(f: Callable[[float], float]) -> Callable[[float], float]:
    def at(x: float) -> float:
        try:
            return f(x)
        except Exception:  # outside the domain of f, whatever f says there
            return math.nan

    return at


def _ladder(x: float) -> tuple[int, int, int]:
    """The exponents (of 2) of the longest step, the first to try and the shortest; all differ by even numbers."""
    size = abs(x)
    exact = math.frexp(math.ulp(x))[1] + 5  # a step of 2 to this power or more can be added to x without rounding
    start = max(math.frexp(min(max(size, 0.01), 1.0))[1] - 8, exact + 4)
    longest = min(math.frexp(max(size, 1.0))[1] + 1, 1020)
    shortest = max(math.frexp(min(size, 1.0) or 1.0)[1] - 45, exact)
    return start + 2 * ((longest - start) // 2), start, shortest


@dataclass(frozen=True)
class _Rung:
    """Slopes to the right and to the left over one step; nan on a side where the function does not exist."""

    step: float
    right: float
    left: float
    fuzz: float  # how far they may be off by rounding


def _rung(f: Callable[[float], float], x: float, middle: float, h: float, noise: float) -> _Rung:
    up, down = x + h, x - h
    above, below = f(up), f(down)
    right, left = (above - middle) / (up - x), (middle - below) / (x - down)
    largest = max(abs(y) for y in (above, below, middle) if math.isfinite(y))
    # What a long step gains in sharpness it loses in sight: no more is made of it than of one tenth of the number.
    sight = min(h, max(abs(x), 0.01) / 10)  # tuned: a tenth, and not nothing at 0
    fuzz = (noise + EPSILON * largest + SMALLEST) / sight
    return _Rung(h, right if math.isfinite(right) else math.nan, left if math.isfinite(left) else math.nan, fuzz)


@dataclass(frozen=True)
class _Pair:
    """What two neighbouring rungs say together about a step of length 0."""

    central: float
    right: float
    left: float
    plain: float  # the central slope of the finer rung alone
    fuzz: float
    bend: float
    step: float

    @property
    def gap(self) -> float:
        return self.right - self.left


def _pair(coarse: _Rung, fine: _Rung) -> _Pair:
    def towards_zero(at_coarse: float, at_fine: float, *, shrinks: float) -> float:
        return at_fine + (at_fine - at_coarse) / (shrinks - 1)  # by which the leading error shrinks

    plain = (fine.right + fine.left) / 2
    return _Pair(
        central=towards_zero((coarse.right + coarse.left) / 2, plain, shrinks=16.0),
        right=towards_zero(coarse.right, fine.right, shrinks=4.0),
        left=towards_zero(coarse.left, fine.left, shrinks=4.0),
        plain=plain,
        fuzz=fine.fuzz,
        bend=(fine.right - fine.left) / fine.step,
        step=fine.step,
    )


def _best(rungs: list[_Rung]) -> Slope:
    """What the rungs, longest step first, say together."""
    pairs = [_pair(coarse, fine) for coarse, fine in pairwise(rungs)]
    estimates = list(_estimates(pairs))
    if not estimates:  # the function ends here on one side, or on both
        right = _one_sided(pairs, "right")
        return right if right.known else _one_sided(pairs, "left")
    kinks = [found for found in estimates if found.gap_error < abs(found.pair.gap) / 10]
    if kinks:
        kink = min(kinks, key=lambda found: found.gap_error)
        # What looks like a kink from afar may be smooth from near, if rounding lets us go as near as that.
        smooth = [found for found in estimates if _refutes(found, kink.pair)]
        if not smooth and _persists(pairs, kink):
            return _at_kink(kink.pair, _one_sided(pairs, "left"), _one_sided(pairs, "right"))
        estimates = smooth or estimates
    best = _surest(estimates)
    here, error = best.pair, best.error
    if not best.sharp:  # where shorter steps see steeper slopes, still shorter ones may see steeper slopes yet
        error = max(error, 16 * _wild(pairs, here, 4 * error))  # tuned: two more rungs of slopes that grow fourfold
    return Slope(here.central, error, here.central, here.central, kink=False, bend=here.bend, step=here.step)


@dataclass(frozen=True)
class _Estimate:
    """How far a pair may be off if the function is smooth, and how well its gap is known if there is a kink."""

    pair: _Pair
    error: float
    gap_error: float
    growth: int  # of the gap from pair to pair: 1 at a kink, more at a jump

    @property
    def sharp(self) -> bool:
        return self.error < SHARP * abs(self.pair.central)


def _surest(estimates: list[_Estimate]) -> _Estimate:
    """The best estimate that no sharp one with a shorter step contradicts."""
    # From too far a wild function looks tame: slopes small, and so their errors. A share of the slope misleads less.
    sharp = [found for found in estimates if found.sharp]
    if not sharp:
        return min(estimates, key=lambda found: found.error)
    best = min(sharp, key=lambda found: found.error / abs(found.pair.central))
    nearer = [
        found
        for found in sharp
        if found.pair.step < best.pair.step
        and abs(found.pair.central - best.pair.central) > 4 * (found.error + best.error)  # tuned: errors are estimates
    ]
    return _surest(nearer) if nearer else best


def _refutes(found: _Estimate, kink: _Pair) -> bool:
    """Whether a shorter step sees no kink: one slope, better known than the gap is wide, or far outside of the gap."""
    if found.pair.step >= kink.step:
        return False
    middle, width = (kink.right + kink.left) / 2, abs(kink.gap)
    doubt = 4 * found.error  # tuned: an error is an estimate
    return doubt < width or abs(found.pair.central - middle) > width / 2 + doubt


def _persists(pairs: list[_Pair], kink: _Estimate) -> bool:
    """Whether the gap goes on as it should with every shorter step, as far as rounding lets us see."""
    expected, shorter = kink.pair.gap, [pair for pair in pairs if pair.step < kink.pair.step]
    for pair in shorter:
        expected *= kink.growth
        allowed = abs(expected) / 4 + 16 * pair.fuzz  # tuned: either side may bend, and both are rounded
        if abs(pair.gap - expected) > allowed:
            return False
    return len(shorter) >= 2  # tuned: one might agree by chance


def _wild(pairs: list[_Pair], seen: _Pair, allowed: float) -> float:
    """How far shorter steps stray from what was seen, beyond rounding; 0 if they do not."""
    found = 0.0
    for pair in pairs:
        stray = abs(pair.central - seen.central)
        if pair.step < seen.step and stray > allowed + 16 * pair.fuzz:  # tuned: rounding, at its very worst
            found = max(found, stray)
    return found


def _estimates(pairs: list[_Pair]) -> Iterator[_Estimate]:
    """Each pair of rungs judged by its neighbours, one with a longer and one with a shorter step."""
    for before, here, after in zip(pairs, pairs[1:], [*pairs[2:], None], strict=False):
        spread = abs(here.central - before.central)
        if after is not None:  # that an estimate moves little may be chance: ask on
            spread = max(spread, abs(after.central - here.central) / 8)  # tuned: a shorter step has more rounding
        correction = abs(here.central - here.plain)
        squared = min(correction, correction * correction / abs(here.central) if here.central else correction)
        # From pair to pair the gap between the sides shrinks 64-fold where the function is smooth; at a kink it stays,
        # at a jump it grows fourfold, and beside a slope without end (a square root at 0) twofold.
        gap, gap_before = abs(here.gap), abs(before.gap)
        error = max(spread, squared, 0.0 if gap < gap_before / 8 else gap / 2, 2 * here.fuzz)
        stays = gap > gap_before / 2 and gap > MEET * max(abs(here.right), abs(here.left))
        moved, growth = min((abs(here.gap - times * before.gap), times) for times in (1, 2, 4))
        gap_error = moved + 8 * here.fuzz if stays else math.inf  # tuned: four values, each off twice
        if error == error:
            yield _Estimate(here, error, gap_error, growth)


def _at_kink(kink: _Pair, left: Slope, right: Slope) -> Slope:
    """A side on which the slope grows without end, as it does at a jump, has the slope inf."""
    to_left = left.value if left.known else math.copysign(math.inf, kink.left)
    to_right = right.value if right.known else math.copysign(math.inf, kink.right)
    error = max((side.error for side in (left, right) if side.known), default=0.0)
    return Slope(kink.central, error, to_left, to_right, kink=True, bend=0.0, step=kink.step)


def _one_sided(pairs: list[_Pair], side: str) -> Slope:
    """The slope on one side; estimates that move ever more (the square root at 0) are none."""
    values = [getattr(pair, side) for pair in pairs]
    best = UNKNOWN
    for i in range(2, len(pairs)):
        moved, moved_before = abs(values[i] - values[i - 1]), abs(values[i - 1] - values[i - 2])
        fuzz = 6 * pairs[i].fuzz  # tuned: three estimates, each off by twice a rung's
        error = moved + fuzz
        if error < best.error and moved <= moved_before + fuzz:
            best = Slope(values[i], error, values[i], values[i], kink=False, bend=0.0, step=pairs[i].step)
    return best
