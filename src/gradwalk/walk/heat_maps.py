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

from gradwalk.walk.formatting import ordinal, readable
from gradwalk.walk.many import STRUCTURE, Many

__all__ = ["MOST", "NOT_FINITE", "SIDES", "WRITTEN", "HeatMap", "heat_map", "short", "spread", "spread_of"]

WRITTEN = 6  # rows and columns up to which the numbers are written in the cells
MOST = 100  # rows and columns that are shown; of more, only some are
SIDES = 5  # steps of colour on each side of 0
NOT_FINITE = SIDES + 1  # the step of a nan or an infinity
_LONGEST = 6  # characters of a number in a cell


@dataclass(frozen=True)
class HeatMap:
    """Rows of numbers as they are shown: those of a tensor of this shape, or one row and column of `every` so many.

    >>> found = heat_map(gradwalk.Tensor([[-2.0, 0.0, 1.0]]))
    >>> found.cells, [found.step(x) for x in found.cells[0]], found.written
    (((-2.0, 0.0, 1.0),), [-5, 0, 3], True)
    """

    cells: tuple[tuple[float, ...], ...]
    shape: tuple[int, ...]
    every: tuple[int, int] = (1, 1)

    @property
    def block(self) -> int:
        """How many rows make a block, of a tensor of three dims or more; 0 where there are none.

        >>> heat_map(gradwalk.zeros(2, 3, 4)).block, heat_map(gradwalk.zeros(3, 4)).block
        (3, 0)
        """
        return self.shape[-2] if len(self.shape) > 2 and self.every == (1, 1) else 0

    @property
    def sampled(self) -> str:
        """Which rows and columns these are, if they are not all.

        >>> heat_map(gradwalk.zeros(300, 7)).sampled
        'every 3rd row'
        """
        parts = zip(self.every, ("row", "column"), strict=True)
        return ", ".join(f"every {ordinal(step)} {what}" for step, what in parts if step > 1)

    def place(self, i: int, j: int) -> tuple[int, ...]:
        """Where a cell stands in the tensor.

        >>> heat_map(gradwalk.zeros(2, 3, 4)).place(4, 1), heat_map(gradwalk.zeros(300)).place(0, 2)
        ((1, 1, 1), (6,))
        """
        row, found = i * self.every[0], [j * self.every[1]]
        for n in reversed(self.shape[:-1]):
            row, at = divmod(row, n)
            found.insert(0, at)
        return tuple(found)

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
                found.append(f"±{self.reach}")
        if self.odd:
            found.append(", ".join(f"{n:,} {name}" for name, n in self.odd.items()))
        return (*found, *((self.sampled,) if self.sampled else ()))

    @property
    def reach(self) -> str:
        """How far the scale goes, in three digits.

        >>> heat_map(gradwalk.Tensor([-0.123456, 0.1])).reach
        '0.123'
        """
        return readable(float(f"{self.largest:.3g}"))

    @cached_property
    def odd(self) -> dict[str, int]:
        """How many numbers are nan, inf or −inf.

        >>> heat_map(gradwalk.Tensor([1.0, float("-inf")])).odd
        {'−inf': 1}
        """
        found = Counter(str(x) for x in chain(*self.cells) if not math.isfinite(x))
        return {name.replace("-", "−"): n for name, n in sorted(found.items())}

    @cached_property
    def ends(self) -> tuple[tuple[float, tuple[int, ...]], tuple[float, tuple[int, ...]]] | None:
        """The least and the greatest finite number, each with the first place where it stands.

        >>> heat_map(gradwalk.Tensor([[1.0, -2.0], [0.0, 4.0]])).ends
        ((-2.0, (0, 1)), (4.0, (1, 1)))
        """
        finite = [(x, i, j) for i, row in enumerate(self.cells) for j, x in enumerate(row) if math.isfinite(x)]
        if not finite:
            return None
        low, high = min(finite), max(finite, key=lambda cell: (cell[0], -cell[1], -cell[2]))
        return (low[0], self.place(*low[1:])), (high[0], self.place(*high[1:]))

    @cached_property
    def counts(self) -> tuple[int, int]:
        """How many numbers are below 0, and how many are 0.

        >>> heat_map(gradwalk.Tensor([[1.0, -2.0], [0.0, 4.0]])).counts
        (1, 1)
        """
        below = sum(x < 0.0 and math.isfinite(x) for x in chain(*self.cells))
        return below, sum(x == 0.0 for x in chain(*self.cells))

    @cached_property
    def words(self) -> str:
        """The map for whoever cannot see it.

        >>> heat_map(gradwalk.Tensor([[1.0, -2.0], [0.0, 4.0]])).words
        'from −2 at [0, 1] to 4 at [1, 1]; 1 below 0, 1 equal to 0'
        """
        parts = []
        if self.ends:
            (low, first), (high, last) = self.ends
            if low == high:
                parts.append(f"all {readable(low)}")
            else:
                least, greatest = f"{readable(low)} at {[*first]}", f"{readable(high)} at {[*last]}"
                below, zeros = self.counts
                parts += [f"from {least} to {greatest}", f"{below:,} below 0, {zeros:,} equal to 0"]
        if self.odd:
            count = sum(self.odd.values())
            parts.append(f"{count:,} {'number' if count == 1 else 'numbers'} not finite")
        if self.sampled:
            parts.append(f"of {self.sampled}")
        return "; ".join(parts)


def heat_map(tensor: Any) -> HeatMap | None:
    """The map of a tensor, or of `Many` numbers; None for one number, and for none at all.

    A vector is a row. Of three dims or more, the last two are a block, and the blocks stand below each other.

    >>> heat_map(gradwalk.Tensor(3.0)) is None, len(heat_map(gradwalk.zeros(2, 3, 4)).cells)
    (True, 6)
    """
    shape = tuple(tensor.shape)
    if not shape or 0 in shape:
        return None
    columns = shape[-1]
    rows = math.prod(shape[:-1])
    down, along = -(-rows // MOST), -(-columns // MOST)
    if isinstance(tensor, Many):
        cells = tuple(row[::along] for row in tensor.rows[::down])
    else:
        table = tensor.detach().reshape(rows, columns)
        if (down, along) != (1, 1):
            table = table[::down, ::along]
        cells = tuple(tuple(float(x) for x in row) for row in table.tolist())
    return HeatMap(cells, shape, (down, along))


def short(x: float) -> str:
    """A number for a cell, in three digits.

    >>> short(-0.123456), short(2.0), short(123456.0), short(1e-300), short(float("-inf"))
    ('−0.123', '2', '1.2e5', '1e−300', '−inf')
    >>> [short(x) for x in (-123456.0, 1.2e-10, -1.2e-10, -0.0012, -0.00123)]
    ['−1.2e5', '1.2e−10', '−1e−10', '−0.0012', '−1.2e−3']
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
    return spread_of(getattr(target.primitive, "name", ""), tuple(source.shape), tuple(target.shape))


def spread_of(op: str, before: tuple[int, ...], after: tuple[int, ...]) -> str:
    """What an op does with an operand, by its name and the two shapes.

    >>> spread_of("*", (3,), (4, 3)), spread_of("reshape", (3,), (1, 3)), spread_of("max", (4, 3), (3,))
    ('fan', '', 'funnel')
    """
    was, now = math.prod(before), math.prod(after)
    if op in ("sum", "max") and was > now:
        return "funnel"
    return "fan" if (op not in STRUCTURE or op == "expand") and now > was else ""
