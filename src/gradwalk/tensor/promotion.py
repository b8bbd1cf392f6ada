"""Which dtype numbers have together, by PyTorch's rules."""

from __future__ import annotations

from typing import Any

from gradwalk import ops
from gradwalk.errors import NotANumberError
from gradwalk.ops import Op
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.entries import Entry
from gradwalk.tensor.making import LARGEST, array_of, whole

__all__: list[str] = []

#: Ops whose value on ints is an int.
_WHOLE = {
    ops.add,
    ops.sub,
    ops.mul,
    ops.neg,
    ops.abs,
    ops.maximum,
    ops.minimum,
    ops.clamp,
    ops.where,
    ops.relu,
    ops.pow,
}
_RANKS = {BOOL: 0, INT64: 1, FLOAT32: 2, FLOAT64: 3}


def joined(op: Op, numbers: list[Any]) -> tuple[list[Any], str]:
    """The numbers in one dtype, by PyTorch's rules: one of no dims, or a plain one, does not ask for more digits."""
    cast = arrays.now.cast
    looked_at = numbers[1:] if op is ops.where else numbers
    found = _together(looked_at)
    if not found.startswith("float"):
        below_zero = op is ops.pow and _any_negative(numbers[1])
        if op not in _WHOLE or below_zero:
            found = FLOAT64
        elif found == BOOL and op is not ops.where:
            raise no_number(op.name)
    joined = [x if isinstance(x, (int, float)) else cast(x, found) for x in looked_at]
    fit = ops.number if found.startswith("float") else whole
    joined = [fit(x) if isinstance(x, int) else x for x in joined]
    return [*numbers[: len(numbers) - len(joined)], *joined], found


def no_number(name: str) -> NotANumberError:
    """What is said of arithmetic on bools.

    >>> no_number("add")  # doctest: +ELLIPSIS
    NotANumberError('add of bools is not a number; ...')
    """
    return NotANumberError(
        f"{name} of bools is not a number; convert them first with .float() or .long(), or use &, | and ~"
    )


def _together(numbers: list[Any]) -> str:
    """The dtype of numbers of several, before an op asks for more."""
    dtype_of, found = arrays.now.dtype_of, ""
    for names in (
        [dtype_of(x) for x in numbers if not isinstance(x, (int, float)) and x.ndim],
        [dtype_of(x) for x in numbers if not isinstance(x, (int, float)) and not x.ndim],
        [BOOL if isinstance(x, bool) else INT64 if isinstance(x, int) else FLOAT64 for x in numbers if isinstance(x,
        (int, float))],
    ):  # fmt: skip
        highest = max(names, key=_RANKS.__getitem__, default="")
        if not found or (highest and min(_RANKS[highest], 2) > min(_RANKS[found], 2)):
            found = highest
    return found


def alike(numbers: list[Any]) -> list[Any]:
    """What is compared, as floats of the same digits if one is a float: in float32, 0.1 is 0.1.

    >>> [arrays.now.dtype_of(x) for x in alike([arrays.now.new([0.1], FLOAT32), 0.1])]
    ['float32', 'float32']
    """
    dtype_of = arrays.now.dtype_of
    kinds = {FLOAT64 if x.__class__ is float else "" if isinstance(x, int) else dtype_of(x) for x in numbers}
    if "" in kinds:  # of the largest ints floats are made, too
        numbers = [ops.number(x) if isinstance(x, int) and abs(x) >= LARGEST else x for x in numbers]
    if len(kinds) == 1 or kinds == {FLOAT64, ""} or not kinds & {FLOAT32, FLOAT64}:
        return numbers
    found = _together(numbers)
    return [
        arrays.now.full((), x, found) if isinstance(x, (int, float)) else arrays.now.cast(x, found) for x in numbers
    ]


def refuse_whole_division(name: str, x: Any, y: Any) -> None:
    """Bools are not divided. Ints have no infinity: what NumPy makes of a division by 0 is a 0 that is none.

    >>> refuse_whole_division("//", arrays.now.new([1.0], FLOAT64), 0)
    """
    kind = _together([x, y])
    if kind == BOOL:
        raise no_number(name)
    if kind == INT64 and ((y == 0) if isinstance(y, int) else _any_zero(y)):
        raise NotANumberError(f"{name} of ints by 0 has no answer; make floats of them first, with .double()")


def _any_zero(x: Any) -> bool:
    count = arrays.now.total(arrays.now.functions["=="](x, 0), tuple(range(x.ndim)), False)
    return bool(arrays.now.tolist(count))


def _any_negative(x: Any) -> bool:
    if isinstance(x, (int, float)):
        return x < 0
    return bool(x.size) and bool(
        arrays.now.tolist(arrays.now.largest(arrays.now.functions["<"](x, 0), tuple(range(x.ndim)), False))
    )


def one_dtype(numbers: list[Any], op: Entry) -> list[Any]:
    """What an entry is given, of one dtype."""
    numbers = [array_of(x) if isinstance(x, (int, float)) else x for x in numbers]
    found = dict.fromkeys(arrays.now.dtype_of(x) for x in numbers)  # in their order
    if BOOL in found and len(found) == 1 and op.name in ("matmul", "einsum"):
        raise NotANumberError(
            f"{op.name} of bools would say whether, not how many; convert them with .float() or .long()"
        )
    if len(found) > 1:
        if op.name in ("matmul", "einsum") and all(name.startswith("float") for name in found):
            raise NotANumberError(
                f"{op.name} of {' and '.join(found)}: give all the same dtype, with .float() or .double()"
            )
        widest = max(found, key=_RANKS.__getitem__)
        return [arrays.now.cast(x, widest) for x in numbers]
    return numbers
