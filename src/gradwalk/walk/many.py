"""The numbers of a tensor at one moment of a walk, and what stands in the place of its slopes: a map.

A walk is plain data, so what it keeps of an array is a shape and a tuple of numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gradwalk import tree
from gradwalk.errors import GraphError

__all__ = ["MAP", "MOST_NUMBERS", "STRUCTURE", "Many", "Numbers", "kept"]

MOST_NUMBERS = 200_000  # in the nodes of one recorded graph: each is kept once for data, and for gradients as they grow

#: Ops that move, take or add up numbers, and do not go number by number.
STRUCTURE = {
    "sum", "max", "reshape", "permute", "expand", "index", "add_at", "cat", "pad", "cumsum", "@", "matmul", "einsum",
    "of", "to",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Many:
    """Many numbers, in the order of reading.

    >>> found = kept(gradwalk.Tensor([[1.0, 2.0], [3.0, 4.0]]).array)
    >>> found.shape, found.numbers, found[1, 0]
    ((2, 2), (1.0, 2.0, 3.0, 4.0), 3.0)
    """

    shape: tuple[int, ...]
    numbers: tuple[float, ...]

    def __getitem__(self, place: tuple[int, ...]) -> float:
        at = 0
        for i, n in zip(place, self.shape, strict=True):
            at = at * n + i
        return self.numbers[at]

    @property
    def rows(self) -> list[tuple[float, ...]]:
        """The numbers as rows along the last dim.

        >>> kept(gradwalk.Tensor([1.0, 2.0]).array).rows
        [(1.0, 2.0)]
        """
        n = self.shape[-1] if self.shape else 1
        return [self.numbers[i : i + n] for i in range(0, len(self.numbers), n)] if n else []


class _Map:
    """Stands for the slope of a tensor op: a linear map between arrays, which no single number tells."""

    def __repr__(self) -> str:
        return "MAP"


MAP: Any = _Map()
Numbers = Any  # a float, or of a tensor `Many`


def kept(x: Any) -> Any:
    """A number as it is, and an array as `Many`.

    >>> kept(2.0), kept(None)
    (2.0, None)
    """
    shape = getattr(x, "shape", None)
    if shape is None or isinstance(x, Many):
        return x
    return Many(tuple(shape), tuple(map(float, tree.flatten(x.tolist())[0])))


def checked_size(shapes: list[tuple[int, ...]]) -> None:
    """Refuse a graph of more numbers than anyone will look at."""
    count = sum(map(math.prod, shapes))
    if count > MOST_NUMBERS:
        raise GraphError(
            f"the tensors of this graph hold {count:,} numbers, and a walk in steps keeps up to {MOST_NUMBERS:,}; take "
            "fewer samples, or walk one number: gradwalk.explain(loss, W, index=(0, 3)).root"
        )
