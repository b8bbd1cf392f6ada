"""A tensor's numbers as a field of colours: one scale with 0 in the middle, numbers where there are few of them.

A map has its own scale, from minus its largest magnitude to plus that: gradients are often thousands of times smaller
than data, and would all look like 0 on a common one. How far the scale goes is written below the map.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from gradwalk.drawing.text import counted
from gradwalk.walk import readable

__all__ = ["MOST", "NOT_FINITE", "SIDES", "WRITTEN", "HeatMap", "heat_map", "short", "spread"]

WRITTEN = 6  # rows and columns up to which the numbers are written in the cells
MOST = 100  # rows and columns that are shown; of more, only some are
SIDES = 5  # steps of colour on each side of 0
NOT_FINITE = SIDES + 1  # the step of a nan or an infinity
_LONGEST = 6  # characters of a number in a cell


@dataclass(frozen=True)
class HeatMap:
    """Rows of numbers as they are shown, in blocks of `block` rows for a tensor of three dims or more.

    >>> found = heat_map(gradwalk.Tensor([[-2.0, 0.0, 1.0]]))
    >>> found.cells, [found.step(x) for x in found.cells[0]], found.written
    (((-2.0, 0.0, 1.0),), [-5, 0, 3], True)
    """

    cells: tuple[tuple[float, ...], ...]
    block: int
    sampled: str = ""  # which rows and columns these are, if they are not all

    @cached_property
    def largest(self) -> float:
        """The largest magnitude among the finite numbers shown; 0 if there is none.

        >>> heat_map(gradwalk.Tensor([-3.0, float("inf"), 2.0])).largest
        3.0
        """
        return max((abs(x) for x in chain(*self.cells) if math.isfinite(x)), default=0.0)

    @property
    def written(self) -> bool:
        """Whether there are so few numbers that they are written out.

        >>> heat_map(gradwalk.zeros(6, 6)).written, heat_map(gradwalk.zeros(7)).written
        (True, False)
        """
        return len(self.cells) <= WRITTEN and len(self.cells[0]) <= WRITTEN

    def step(self, x: float) -> int:
        """From -SIDES to SIDES, 0 for zero alone; NOT_FINITE for what is not finite.

        >>> heat_map(gradwalk.Tensor([10.0, 1.0])).step(1e-9)
        1
        """
        if not math.isfinite(x):
            return NOT_FINITE
        if x == 0.0:
            return 0
        share = abs(x) / self.largest * SIDES  # of the smallest floats, too, at most SIDES
        return int(math.copysign(max(1, min(SIDES, math.ceil(share - 1e-9))), x))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What stands below the map: how far its scale goes, what is not finite, which numbers were left out.

        >>> heat_map(gradwalk.zeros(300, 7)).notes
        ('all 0', 'every 3rd row')
        """
        found = []
        if not self.written:
            only = self.cells[0][0]
            if all(x == only for x in chain(*self.cells)):
                found.append(f"all {readable(only)}")
            elif self.largest:
                found.append(f"±{readable(float(f'{self.largest:.3g}'))}")
        odd = Counter(str(x) for x in chain(*self.cells) if not math.isfinite(x))
        if odd:
            found.append(", ".join(f"{n:,} {name.replace('-', '−')}" for name, n in sorted(odd.items())))
        return (*found, *((self.sampled,) if self.sampled else ()))

    @cached_property
    def words(self) -> str:
        """The map for whoever cannot see it.

        >>> heat_map(gradwalk.Tensor([[1.0, -2.0], [0.0, 4.0]])).words
        'from −2 to 4; 1 below 0, 1 equal to 0'
        """
        every = [x for row in self.cells for x in row]
        finite = [x for x in every if math.isfinite(x)]
        parts = []
        if finite:
            low, high = min(finite), max(finite)
            parts.append(f"all {readable(low)}" if low == high else f"from {readable(low)} to {readable(high)}")
            if low != high:
                parts.append(f"{sum(x < 0.0 for x in finite):,} below 0, {finite.count(0.0):,} equal to 0")
        if len(finite) < len(every):
            parts.append(f"{counted(len(every) - len(finite), 'number')} not finite")
        if self.sampled:
            parts.append(f"of {self.sampled}")
        return "; ".join(parts)


def heat_map(tensor: Any) -> HeatMap | None:
    """The map of a tensor of several numbers; None for one number, and for none at all.

    A vector is a row. Of three dims or more, the last two are a block, and the blocks stand below each other.

    >>> heat_map(gradwalk.Tensor(3.0)) is None, len(heat_map(gradwalk.zeros(2, 3, 4)).cells)
    (True, 6)
    """
    shape = tensor.shape
    if not shape or 0 in shape:
        return None
    columns = shape[-1]
    rows = math.prod(shape[:-1])
    table = tensor.detach().reshape(rows, columns)
    down, along = -(-rows // MOST), -(-columns // MOST)
    sampled = [f"every {_nth(step)} {what}" for step, what in ((down, "row"), (along, "column")) if step > 1]
    if sampled:
        table = table[::down, ::along]
    cells = tuple(tuple(float(x) for x in row) for row in table.tolist())
    return HeatMap(cells, shape[-2] if len(shape) > 2 and not sampled else 0, ", ".join(sampled))


def _nth(n: int) -> str:
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


def short(x: float) -> str:
    """A number for a cell, in three digits.

    >>> short(-0.123456), short(2.0), short(123456.0), short(1e-300), short(float("-inf"))
    ('−0.123', '2', '1.2e5', '1e−300', '−inf')
    """
    text = f"{x:.3g}"
    if "e" in text or len(text) > _LONGEST + 1:
        digits, _, power = f"{x:.1e}".partition("e")
        text = f"{digits.removesuffix('.0')}e{int(power)}"
        if len(text) > _LONGEST + 1:
            text = f"{x:.0e}".partition("e")[0] + f"e{int(power)}"
    return text.replace("-", "−")


# --- lines between tensors -------------------------------------------------------------------------------------------


def spread(source: Any, target: Any) -> str:
    """What a line between two nodes does: "fan" if numbers are repeated, "funnel" if many become few, else nothing.

    >>> x, b = gradwalk.ones(4, 3), gradwalk.ones(3)
    >>> y = x + b
    >>> spread(b, y), spread(x, y), spread(y, y.sum())
    ('fan', '', 'funnel')
    """
    if not (getattr(target, "many", False) is True and hasattr(source, "shape")):
        return ""
    op, before, after = target.primitive, math.prod(source.shape), math.prod(target.shape)
    name = getattr(op, "name", "")
    if name in ("sum", "max") and before > after:
        return "funnel"
    by_elements = hasattr(op, "partials") or name == "expand"
    return "fan" if by_elements and after > before else ""
