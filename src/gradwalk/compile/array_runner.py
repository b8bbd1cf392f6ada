"""An array tape bound to memory: every row has its array, made once, and a replay writes into them, by NumPy.

Large products of matrices may be our own, which are quicker, and differ from NumPy's in the last digits. Where
something turns on these digits, because it is rounded, sorted or decided on, they are NumPy's.

Views are made when the tape is bound. What NumPy can write into an array that is there, it does; so nothing is made
anew at a call but what few functions make on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradwalk.compile.native.array_products import product_into
from gradwalk.compile.trace.array_tape import At, NumberAt, Row, replaced
from gradwalk.tensor import numpy_arrays

__all__ = ["ArrayRunner"]

Step = Callable[[], Any]

MOVING = ("reshape", "permute", "expand")
#: Where the last digits of what they are given can turn the result.
JUMPING = {"floor", "ceil", "round", "trunc", "sign", "//", "%", "argmax", "argsort", "nonzero", "<", "<=", ">", ">=",
           "==", "!="}  # fmt: skip


class ArrayRunner:
    """Rows bound to memory; `number` gives the plain numbers among what they are given.

    >>> rows = [Row("input", (0,), (2,), "float64"), Row("exp", (At(0),), (2,), "float64")]
    >>> runner = ArrayRunner([], number=None)
    >>> steps = runner.bind(rows, [0, 1], constants=[])
    >>> runner.arrays[0][:] = 0.0
    >>> runner.run(steps.values())
    >>> runner.arrays[1].tolist()
    [1.0, 1.0]
    """

    def __init__(self, parameters: Sequence[Any], number: Any, exact: Iterable[int] = ()) -> None:
        self.parameters = parameters  # their arrays
        self.number = number
        self.exact = frozenset(exact)  # rows that must be NumPy's to the last digit
        self.arrays: list[Any] = []  # by row; None for those that nobody needs

    def bind(self, rows: Sequence[Row], needed: Iterable[int], constants: Sequence[Any]) -> dict[int, Step]:
        """Make the arrays of some rows that were not bound yet, and say what is to be done for each at a call."""
        self.arrays += [None] * (len(rows) - len(self.arrays))
        steps = {}
        for i in needed:
            if self.arrays[i] is None:
                step = self._bind_row(i, rows[i], constants)
                if step is not None:
                    steps[i] = step
        return steps

    def into(self, row: Row, out: Any) -> Step:
        """What writes a row to another array than its own."""
        given = replaced(row.given, lambda x: self.arrays[x.row])
        return (row.word == "matmul" and product_into(out, *given)) or lowered(row.word, given, out)

    def _bind_row(self, i: int, row: Row, constants: Sequence[Any]) -> Step | None:
        if row.word == "parameter":
            self.arrays[i] = self.parameters[row.given[0]]
            return None
        if row.word == "constant":
            self.arrays[i] = constants[row.given[0]]
            return None
        if not row.is_leaf:
            given = replaced(row.given, lambda x: self.arrays[x.row] if isinstance(x, At) else x)
            if row.word in MOVING or (row.word == "index" and not row.given[2]):
                view = getattr(numpy_arrays, row.word)(*given)
                if np.shares_memory(view, given[0]):
                    self.arrays[i] = view
                    return None
        out = self.arrays[i] = row.array()
        if row.word == "numbers":
            return partial(self._write_numbers, out, row.given[0])
        if row.is_leaf:
            return None
        if any(isinstance(x, NumberAt) for x in given):
            return partial(self._with_numbers, row.word, given, out)
        own = product_into(out, *given) if row.word == "matmul" and i not in self.exact else None
        return own or lowered(row.word, given, out)

    def _write_numbers(self, out: Any, nodes: tuple[Any, ...]) -> None:
        flat = [self.number(x) if isinstance(x, NumberAt) else x for x in nodes]
        out[...] = np.array(flat, out.dtype).reshape(out.shape)

    def _with_numbers(self, word: str, given: tuple[Any, ...], out: Any) -> None:
        np.copyto(out, numpy_arrays.bare[word](*[self.number(x) if isinstance(x, NumberAt) else x for x in given]))

    def run(self, steps: Iterable[Step]) -> None:
        """Do what there is to do."""
        numpy_arrays.quietly(_all, steps)


def _all(steps: Iterable[Step]) -> None:
    for step in steps:
        step()


def lowered(word: str, given: tuple[Any, ...], out: Any) -> Step:
    """What writes the result of an op on arrays into `out`.

    >>> x, out = np.array([1.0, 4.0]), np.empty(2)
    >>> lowered("sqrt", (x,), out)().tolist()
    [1.0, 2.0]
    """
    function = numpy_arrays.bare.get(word)
    if isinstance(function, np.ufunc):
        return partial(function, *given, out=out)
    if word in _INTO:
        return partial(_INTO[word], out, *given)
    return partial(_copied, out, function or getattr(numpy_arrays, word), given)


def _copied(out: Any, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    np.copyto(out, function(*given))


def _choose(out: Any, condition: Any, yes: Any, no: Any) -> None:
    """`choose`; where one side is 0, as on the way back through a relu, by a product with the bits of the other."""
    if yes.__class__ is float and numpy_arrays.has_no_bits(yes):
        condition, yes, no = ~condition, no, yes
    fits = condition.dtype == bool and condition.shape == out.shape == np.shape(yes) and yes.dtype == out.dtype
    if fits and out.dtype in numpy_arrays.BITS and no.__class__ is float and numpy_arrays.has_no_bits(no):
        bits = numpy_arrays.BITS[out.dtype]
        np.multiply(yes.view(bits), condition, out=out.view(bits))
        return
    np.copyto(out, numpy_arrays.bare["choose"](condition, yes, no))


def _scatter(out: Any, g: Any, shape: Any, basic: Any, wholes: Any) -> None:
    out.fill(0)
    if wholes:
        places: Any = tuple([slice(None) if part is None else part for part in wholes])
        np.add.at(out[basic] if basic else out, places, g)
    else:
        out[basic] = g


#: Functions of the provider that can write into an array, which they are given first.
_INTO: dict[str, Callable[..., Any]] = {
    "relu": lambda out, x: np.maximum(x, 0.0, out=out),
    "matmul": lambda out, a, b: np.matmul(a, b, out),
    "total": lambda out, x, axes, keep: np.add.reduce(x, axes, out=out, keepdims=keep),
    "largest": lambda out, x, axes, keep: np.maximum.reduce(x, axes, out=out, keepdims=keep),
    "cumsum": lambda out, x, axis: np.cumsum(x, axis, None, out),
    "concat": lambda out, parts, axis: np.concatenate(parts, axis, out),
    "cast": lambda out, x, dtype: np.copyto(out, x, "unsafe"),
    "scatter": _scatter,
    "choose": _choose,
}
