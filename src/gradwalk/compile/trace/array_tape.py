"""A traced function as ops on whole arrays: what is written where single numbers would be too many.

A row is an array: one that is there before (a parameter, an argument, a constant, numbers of the scalar tape), or what
a function of an array provider makes of others. The words are those of `tensor.arrays.Provider`; so whoever provides
arrays can run it. What stands behind `rows` in a walk back is written in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ArrayTape", "At", "NumberAt", "Row", "each_at", "replaced"]

#: Rows that are there before anything is computed.
LEAVES = ("parameter", "input", "numbers", "constant", "seed")


class At(NamedTuple):
    """An operand that is an array: the number of its row."""

    row: int


class NumberAt(NamedTuple):
    """An operand that is a plain number of the scalar tape: its node there, and the type that it has."""

    node: int
    kind: type


class Row(NamedTuple):
    """One array: how it is made, of what, and its shape and dtype."""

    word: str
    given: tuple[Any, ...]  # arrays as `At`, numbers that come later as `NumberAt`, all else as it is
    shape: tuple[int, ...]
    dtype: str
    layout: tuple[int, ...] = ()  # its axes, the outermost in memory first, unless they are in order

    def array(self) -> Any:
        """An empty array for it, laid out as NumPy lays it out: sums are added up in that order.

        >>> Row("exp", (), (2, 3), "float32", (1, 0)).array().T.flags.c_contiguous
        True
        """
        if not self.layout:
            return np.empty(self.shape, self.dtype)
        return np.empty([self.shape[axis] for axis in self.layout], self.dtype).transpose(np.argsort(self.layout))

    @property
    def is_leaf(self) -> bool:
        """Whether it is there before anything is computed.

        >>> Row("parameter", (0,), (2, 3), "float32").is_leaf
        True
        """
        return self.word in LEAVES


def replaced(given: Any, change: Callable[[Any], Any]) -> Any:
    """What an op was given, with something else in place of each array and each number that comes later.

    >>> replaced((At(1), (At(2), 3.0)), lambda x: x.row)
    (1, (2, 3.0))
    """
    if isinstance(given, (At, NumberAt)):
        return change(given)
    if type(given) in (tuple, list):
        return type(given)([replaced(part, change) for part in given])
    return given


def each_at(given: Any) -> Iterator[At]:
    """The arrays among what an op was given.

    >>> list(each_at((At(1), (At(2), 3.0))))
    [At(row=1), At(row=2)]
    """
    if isinstance(given, At):
        yield given
    elif type(given) in (tuple, list):
        for part in given:
            yield from each_at(part)


@dataclass(eq=False)
class ArrayTape:
    """A function of parameters, inputs and numbers, array by array; operands stand before what is made of them.

    >>> print(ArrayTape([Row("parameter", (0,), (2,), "float32"), Row("exp", (At(0),), (2,), "float32")], outputs=[1]))
    a0 = parameter 0: float32 (2,)
    a1 = exp(a0): float32 (2,)
    gives a1
    """

    rows: list[Row]
    outputs: list[int]
    constants: list[Any] = None  # type: ignore[assignment]  # arrays
    late: list[tuple[int, int]] = None  # type: ignore[assignment]  # rows, and which of their numbers were read

    def __post_init__(self) -> None:
        self.constants = self.constants or []
        self.late = self.late or []

    def needed(self, wanted: Any) -> list[int]:
        """The rows that some rows are made of, in order, these included.

        >>> tape = ArrayTape([Row("seed", (), (), "float64"), Row("exp", (At(0),), (), "float64")], [1])
        >>> tape.needed([0]), tape.needed([1])
        ([0], [0, 1])
        """
        seen: set[int] = set()
        ahead = list(wanted)
        while ahead:
            row = ahead.pop()
            if row not in seen:
                seen.add(row)
                ahead += [at.row for at in each_at(self.rows[row].given)]
        return sorted(seen)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayTape) or (self.outputs, self.late) != (other.outputs, other.late):
            return False
        if self.rows != other.rows and not _same(self.rows, other.rows):  # nearly always they are equal at once
            return False
        return len(self.constants) == len(other.constants) and all(
            a is b
            or (a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
            for a, b in zip(self.constants, other.constants, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for i, row in enumerate(self.rows):
            if row.is_leaf:
                made = " ".join([row.word, *map(str, row.given[:1])])
            else:
                made = f"{row.word}({', '.join(map(_text, row.given))})"
            yield f"a{i} = {made}: {row.dtype} {row.shape}"
        yield f"gives {', '.join(f'a{i}' for i in self.outputs)}"


def _same(x: Any, y: Any) -> bool:
    """Whether rows are equal, where nan is nan: each time that a function is run it may make another one."""
    if isinstance(x, (tuple, list)):
        return type(x) is type(y) and len(x) == len(y) and all(map(_same, x, y))
    return bool(x == y) or (isinstance(x, float) and isinstance(y, float) and x != x and y != y)


def _text(x: Any) -> str:
    if isinstance(x, At):
        return f"a{x.row}"
    if isinstance(x, NumberAt):
        return f"n{x.node}"
    if type(x) in (tuple, list):
        return f"({', '.join(map(_text, x))}{',' * (len(x) == 1)})"
    return f"{x:g}" if isinstance(x, float) else str(getattr(x, "__qualname__", x))
