"""Functions over lists of numbers, the same under every interpreter: softmax, logsumexp, max, min, dot, linear, take.

They take Values and plain numbers alike. None overflows, however large the numbers: exponentials are only ever taken of
what is left after the largest number has been subtracted. None looks at the number inside a Value where an interpreter
could not follow.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from typing import Any

from gradwalk import modes, ops
from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.messages import say
from gradwalk.ops import Op, choose, equal, number

__all__ = ["dot", "linear", "logsumexp", "max", "min", "softmax", "take"]


# --- choosing ----------------------------------------------------------------------------------------------------


def take(table: Any, index: Any) -> Any:
    """One entry of a table by its position, counted from 0: a Value of a list, or a row of a list of rows.

    For a plain index it is `table[index]`. An index that is known only later has a method `__gradwalk_take__(table)`
    and chooses in its own way; the gradient goes to the entry that was taken.

    >>> table = [[Value(1.0), Value(2.0)], [Value(3.0), Value(4.0)]]
    >>> [v.data for v in take(table, 1)]
    [3.0, 4.0]
    """
    if hasattr(index, "__gradwalk_take__"):
        return index.__gradwalk_take__(table)
    if not hasattr(type(table), "__len__"):
        raise InputSizeError(f"take was given {type(table).__name__} for a table; give a list of entries")
    return table[checked_index(index, len(table))]


def checked_index(index: Any, length: int) -> int:
    """`index` as an int, if it is the position of one of `length` entries."""
    try:
        position = operator.index(index)
    except TypeError:
        raise SettingError(
            f"take takes a whole number as its index, not {type(index).__name__}: {index!r:.60}"
        ) from None
    if not 0 <= position < length:
        raise SettingError(
            f"take was given index {position}, and the table has {length} entr{'y' if length == 1 else 'ies'}, "
            f"counted from 0"
        )
    return position


def max(values: Any, *others: Any, **settings: Any) -> Any:
    """The largest of a list, or of several numbers; a tie shares the gradient evenly. Of a tensor, its `max`.

    >>> xs = [gradwalk.Value(x) for x in (1.0, 3.0, 3.0)]
    >>> gradwalk.max(xs).backward()
    >>> [x.grad for x in xs]
    [0.0, 0.5, 0.5]
    """
    if getattr(values, "many", False):
        return values.max(*others, **settings)
    return _extreme("max", (values, *others) if others else values)


def min(values: Any, *others: Any, **settings: Any) -> Any:
    """The smallest of a list, or of several numbers; a tie shares the gradient evenly. Of a tensor, its `min`.

    >>> gradwalk.min([gradwalk.Value(2.0), 1.0, gradwalk.Value(3.0)]).data
    1.0
    """
    if getattr(values, "many", False):
        return values.min(*others, **settings)
    return _extreme("min", (values, *others) if others else values)


def _extreme(name: str, values: Any) -> Any:
    found = given_list(values, name)
    return found[0] if len(found) == 1 else _extreme_op(name, len(found))(*found)


def is_extreme(op: Op) -> bool:
    """Whether an op is the largest or smallest of a list, as `max` and `min` make them."""
    return op.name in ("max", "min") and _extreme_op(op.name, op.arity) is op


@lru_cache(maxsize=256)
def _extreme_op(name: str, arity: int) -> Op:
    """The largest or smallest of so many; each rule shares the gradient among all that are equal to it."""
    pairwise = ops.maximum.value if name == "max" else ops.minimum.value

    def rule(position: int) -> Any:
        def slope(*operands_and_out: Any) -> Any:
            *operands, out = operands_and_out
            ties = sum(choose(equal(x, out), 1.0, 0.0) for x in operands)
            share = choose(equal(operands[position], out), ops.div(1.0, ties), ops.CUT)
            return choose(equal(out, out), share, math.nan)  # as in PyTorch

        return slope

    def at_once(*operands_and_out: float) -> list[float]:
        *operands, out = operands_and_out
        share = ops.div(1.0, float(operands.count(out))) if out == out else math.nan
        return [share if x == out else ops.CUT if out == out else math.nan for x in operands]

    return Op(
        name,
        name,
        lambda *operands: reduce(pairwise, operands),
        tuple(rule(i) for i in range(arity)),
        at_once=at_once,
        cuts=True,
    )


# --- softmax and its relatives -----------------------------------------------------------------------------------


def softmax(values: Any, dim: Any = None, **settings: Any) -> Any:
    """Numbers turned into shares of 1, each in proportion to its exponential; of a tensor, along a dim.

    >>> [p.data for p in softmax([Value(1000.0), Value(1000.0), Value(-1000.0)])]
    [0.5, 0.5, 0.0]
    """
    if getattr(values, "many", False):
        return values.softmax(dim, **settings)
    exponentials = [ops.exp(v) for v in less_peak(row_of_values(values, "softmax"))]
    scale = 1.0 / total(exponentials)  # one division and many products, which cost less
    return [e * scale for e in exponentials]


def logsumexp(values: Any, dim: Any = None, **settings: Any) -> Any:
    """The logarithm of the sum of the exponentials: a smooth maximum; of a tensor, over dims.

    >>> round(logsumexp([Value(1000.0), Value(1000.0)]).data, 6)
    1000.693147
    """
    if getattr(values, "many", False):
        return values.logsumexp(dim, **settings)
    row = row_of_values(values, "logsumexp")
    peak = peak_of(row)
    peak = ops.where(
        peak - peak, 0.0, peak
    )  # inf - inf would be nan, and the answer is inf: then nothing is subtracted
    return log_total([v - peak for v in row]) + peak


def less_peak(row: list[Any]) -> list[Any]:
    """Each value less the largest, a constant here: what follows does not depend on it, so neither does a gradient."""
    peak = peak_of(row)
    return [v - peak for v in row]


def peak_of(row: list[Any]) -> Any:
    """The largest number of the row, cut off from the graph."""
    if modes.active and not modes.knows_numbers():
        return modes.top().detach(_extreme("max", row))
    return reduce(ops.maximum.value, [v.data if isinstance(v, Value) else v for v in row])


def log_total(row: list[Any]) -> Any:
    """The logarithm of the sum of the exponentials, as it stands."""
    return ops.log(total([ops.exp(v) for v in row]))


def total(values: Sequence[Any]) -> Any:
    """The sum, without the node that starting from 0 would cost."""
    return sum(values[1:], values[0])


# --- products ----------------------------------------------------------------------------------------------------


def dot(xs: Any, ys: Any) -> Any:
    """The sum of the products of two lists, number by number.

    >>> dot([Value(1.0), Value(2.0)], [3.0, 4.0]).data
    11.0
    """
    if getattr(xs, "many", False) or getattr(ys, "many", False):
        return xs.dot(ys) if getattr(xs, "many", False) else ys.dot(xs)
    left, right = given_list(xs, "dot"), given_list(ys, "dot")
    if len(left) != len(right):
        raise InputSizeError(
            f"dot needs two lists of the same length, and was given lengths {len(left)} and {len(right)}"
        )
    return total([x * y for x, y in zip(left, right, strict=True)])


def size(what: str, n: Any) -> int:
    """A number of inputs, of neurons, of features: a whole number of at least 1.

    >>> size("nin", 3)
    3
    """
    try:
        if isinstance(n, bool):
            raise TypeError
        found = operator.index(n)
    except TypeError:
        raise SettingError(
            say(
                "{what} is a whole number of at least 1, not {kind}: {given}",
                what=what,
                kind=type(n).__name__,
                given=f"{n!r:.60}",
            )
        ) from None
    if found < 1:
        raise SettingError(say("{what} is a whole number of at least 1, not {n}", what=what, n=found))
    if found >= 2**40:
        raise SettingError(f"{what} is more than memory holds: {found:.3g}")
    return found


def linear(x: Any, weights: Any, bias: Any = None) -> Any:
    """A matrix times a vector, plus a bias if there is one: for each row of weights its dot product with `x`.

    >>> [v.data for v in linear([1.0, 2.0], [[Value(3.0), Value(4.0)], [Value(5.0), Value(6.0)]], [0.5, -0.5])]
    [11.5, 16.5]
    """
    if getattr(x, "many", False) or getattr(weights, "many", False):
        if not hasattr(weights, "T"):
            raise NotANumberError(f"linear of a tensor takes its weights as one, not {type(weights).__name__}")
        product = x @ weights.T
        return product if bias is None else product + bias
    rows = listed(weights, "linear", "rows of weights")
    inputs = given_list(x, "linear")
    products = []
    for i, row in enumerate(rows, start=1):
        if not hasattr(row, "__len__") or len(row) != len(inputs):
            held = f"has length {len(row)}" if hasattr(row, "__len__") else f"is a {type(row).__name__}"
            raise InputSizeError(
                f"each row of the weights of linear has a number for each input: row {i} {held}, "
                f"the input {len(inputs)}"
            )
        products.append(dot(row, inputs))
    if bias is None:
        return products
    biases = given_list(bias, "linear")
    if len(biases) != len(rows):
        raise InputSizeError(
            f"linear was given {len(rows)} rows of weights and {len(biases)} biases; give one for each row"
        )
    return [product + b for product, b in zip(products, biases, strict=True)]


# --- what was given ----------------------------------------------------------------------------------------------


def given_list(values: Any, taker: str) -> list[Any]:
    """`values` as a list of Values and floats, at least one."""
    if values is not None and is_single(values):
        raise InputSizeError(f"{taker} was given a single number; give a list of them")
    found = listed(values, taker, "values")
    if not found:
        raise InputSizeError(f"{taker} was given an empty list; give at least one number")
    return [operand(x, f"{taker}: value", i) for i, x in enumerate(found, start=1)]


def row_of_values(values: Any, taker: str) -> list[Any]:
    """As `given_list`, numbers made into Values."""
    return [Value(x) if isinstance(x, float) else x for x in given_list(values, taker)]


def listed(x: Any, taker: str, what: str) -> list[Any]:
    """`x` as a list; one number or Value becomes a list of one."""
    if x is None or isinstance(x, (str, bytes, bytearray, dict, set, frozenset)):
        raise NotANumberError(f"{taker} takes {what} as a list of numbers or Values, not {type(x).__name__}: {x!r:.60}")
    return [x] if is_single(x) else list(x)


def operand(x: Any, what: str, position: int) -> Any:
    """`x` if it can be computed with as it is, else as a float."""
    return x if hasattr(x, "__gradwalk_op__") else real(x, what, position)


def real(x: Any, what: str, position: int | str) -> float:
    """`x` as a float; an error says which of several it was."""
    try:
        return number(x)
    except NotANumberError as error:
        raise NotANumberError(f"{what} {position}: {error}") from None


def is_single(x: Any) -> bool:
    """Whether `x` is one thing rather than several."""
    if isinstance(x, Iterable):
        return False
    try:
        iter(x)
    except TypeError:
        return True
    return False
