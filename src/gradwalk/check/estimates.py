"""Which of several estimates of a slope to believe, and how far: each is judged by the steps around it.

From too far a function looks smoother than it is, and what is smooth may look like a kink; from too near all is
rounding. So a shorter step may overrule a longer one, if rounding lets it see at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from gradwalk.check.differences import Pair

#: A slope known to this share of itself is a slope; less is only a bound.
SHARP = 1e-2
#: Left and right slopes closer than this share of themselves are one slope.
MEET = 1e-6


@dataclass(frozen=True)
class Estimate:
    """How far a pair may be off if the function is smooth, and how well its gap is known if there is a kink."""

    pair: Pair
    error: float
    gap_error: float
    growth: int  # of the gap from pair to pair: 1 at a kink, more at a jump

    @property
    def sharp(self) -> bool:
        """Whether this is a slope, and not only a bound."""
        return self.error < SHARP * abs(self.pair.central)


def estimates(pairs: list[Pair]) -> Iterator[Estimate]:
    """Each pair of rungs, longest step first, judged by its neighbours, one with a longer and one with a shorter step.

    The first has no neighbour with a longer step, and gives no estimate.
    """
    for before, here, after in zip(pairs, pairs[1:], [*pairs[2:], None], strict=False):
        spread = abs(here.central - before.central)
        if after is not None:  # that an estimate moves little may be chance: ask on
            spread = max(spread, abs(after.central - here.central) / 8)  # tuned: a shorter step has more rounding
        correction = abs(here.central - here.plain)
        squared = min(correction, correction * correction / abs(here.central) if here.central else correction)
        error = max(spread, squared, 2 * here.fuzz)
        # From pair to pair the gap between the sides shrinks 64-fold where the function is smooth; at a kink it stays,
        # at a jump it grows fourfold, and beside a slope without end (a square root at 0) twofold.
        gap, gap_before = abs(here.gap), abs(before.gap)
        if gap >= gap_before / 8:
            error = max(error, gap / 2)
        stays = gap > gap_before / 2 and gap > MEET * max(abs(here.right), abs(here.left))
        moved, growth = min((abs(here.gap - times * before.gap), times) for times in (1, 2, 4))
        gap_error = moved + 8 * here.fuzz if stays else math.inf  # tuned: four values, each off twice
        if error == error:
            yield Estimate(here, error, gap_error, growth)


def surest(found: list[Estimate]) -> Estimate:
    """The best estimate that no sharp one with a shorter step contradicts."""
    # From too far a wild function looks tame: slopes small, and so their errors. A share of the slope misleads less.
    sharp = [one for one in found if one.sharp]
    if not sharp:
        return min(found, key=lambda one: one.error)
    best = min(sharp, key=lambda one: one.error / abs(one.pair.central))
    nearer = [
        one
        for one in sharp
        if one.pair.step < best.pair.step
        and abs(one.pair.central - best.pair.central) > 4 * (one.error + best.error)  # tuned: errors are estimates
    ]
    return surest(nearer) if nearer else best


def refutes(found: Estimate, kink: Pair) -> bool:
    """Whether a shorter step sees no kink: one slope, better known than the gap is wide, or far outside of the gap."""
    if found.pair.step >= kink.step:
        return False
    middle, width = (kink.right + kink.left) / 2, abs(kink.gap)
    doubt = 4 * found.error  # tuned: an error is an estimate
    return doubt < width or abs(found.pair.central - middle) > width / 2 + doubt


def persists(pairs: list[Pair], kink: Estimate) -> bool:
    """Whether the gap goes on as it should with every shorter step, as far as rounding lets us see."""
    expected, shorter = kink.pair.gap, [pair for pair in pairs if pair.step < kink.pair.step]
    for pair in shorter:
        expected *= kink.growth
        allowed = abs(expected) / 4 + 16 * pair.fuzz  # tuned: either side may bend, and both are rounded
        if abs(pair.gap - expected) > allowed:
            return False
    return len(shorter) >= 2  # tuned: one might agree by chance


def strays(pairs: list[Pair], seen: Pair, allowed: float) -> float:
    """How far shorter steps stray from what was seen, beyond rounding; 0 if they do not."""
    found = 0.0
    for pair in pairs:
        stray = abs(pair.central - seen.central)
        if pair.step < seen.step and stray > allowed + 16 * pair.fuzz:  # tuned: rounding, at its very worst
            found = max(found, stray)
    return found
