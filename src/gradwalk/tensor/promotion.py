"""Which dtype numbers have together, by PyTorch's rules."""

from __future__ import annotations

from typing import Any

from gradwalk import ops
from gradwalk.errors import NotANumberError
from gradwalk.ops import Op
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.entries import Entry
from gradwalk.tensor.making import array_of

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
    dtype_of, cast = arrays.now.dtype_of, arrays.now.cast
    looked_at = numbers[1:] if op is ops.where else numbers
    found = ""
    for names in (
        [dtype_of(x) for x in looked_at if not isinstance(x, (int, float)) and x.ndim],
        [dtype_of(x) for x in looked_at if not isinstance(x, (int, float)) and not x.ndim],
        [BOOL if isinstance(x, bool) else INT64 if isinstance(x, int) else FLOAT64 for x in looked_at if isinstance(x,
        (int, float))],
    ):  # fmt: skip
        highest = max(names, key=_RANKS.__getitem__, default="")
        if not found or (highest and min(_RANKS[highest], 2) > min(_RANKS[found], 2)):
            found = highest
    if not found.startswith("float"):
        below_zero = op is ops.pow and _any_negative(numbers[1])
        if op not in _WHOLE or below_zero:
            found = FLOAT64
        elif found == BOOL and op is not ops.where:
            raise NotANumberError(
                f"{op.name} of bools is not a number; convert them first with .float() or .long(), or use &, | and ~"
            )
    joined = [x if isinstance(x, (int, float)) else cast(x, found) for x in looked_at]
    if found.startswith("float"):
        joined = [float(x) if isinstance(x, int) else x for x in joined]
    return [*numbers[: len(numbers) - len(joined)], *joined], found


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
    if len(found) > 1:
        if op.name in ("matmul", "einsum") and all(name.startswith("float") for name in found):
            raise NotANumberError(
                f"{op.name} of {' and '.join(found)}: give all the same dtype, with .float() or .double()"
            )
        widest = max(found, key=_RANKS.__getitem__)
        return [arrays.now.cast(x, widest) for x in numbers]
    return numbers
