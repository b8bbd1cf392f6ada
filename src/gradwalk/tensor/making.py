"""From what people have to arrays: numbers, nested lists, arrays of NumPy's, tensors."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from gradwalk import modes
from gradwalk.errors import NotANumberError, NumberTooLargeError
from gradwalk.ops import comes_later, number
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.shapes import refuse_depth, shape_error

__all__ = ["array_of", "converted", "keep_kinds", "numbers_in", "whole"]

LARGEST = 2**63


def array_of(data: Any, dtype: str | None = None) -> Any:
    """A new array of what was given; without a dtype that of its numbers.

    >>> array_of([[1, 2], [3, 4.5]]).tolist()
    [[1.0, 2.0], [3.0, 4.5]]
    """
    provider = arrays.now
    if data.__class__ is float and (dtype is None or dtype == FLOAT64):
        return provider.new(data, FLOAT64)
    if getattr(data, "many", False):
        data = data.array
    if getattr(data, "holds_stand_ins", False):  # numbers that are not known yet, which the provider knows
        return provider.new(data, dtype or "")
    if provider.is_array(data) or hasattr(data, "dtype"):
        return _from_array(data, dtype)
    later: list[Any] = []
    nested, kinds = _nested(data, [], later)
    if dtype is None and float not in kinds:
        keep_kinds(later)
    kinds |= {x.kind_of_number for x in later}
    wide = FLOAT64 if float in kinds or not kinds else INT64 if int in kinds else BOOL
    if dtype in (INT64, FLOAT32) and wide == FLOAT64 and not later:
        return converted(provider.new(nested, FLOAT64), dtype)
    return provider.new(nested, dtype or wide)


def converted(array: Any, dtype: str) -> Any:
    """An array in another dtype, as somebody asked for: a float that no int64 can hold is refused.

    >>> converted(arrays.now.new([2.5], FLOAT64), INT64).tolist()
    [2]
    """
    provider = arrays.now
    own = provider.dtype_of(array)
    if own == dtype:
        return array
    if dtype == INT64 and own.startswith("float") and isinstance(provider, ModuleType):  # numbers are known
        held = provider.functions["<"](provider.functions["abs"](array), float(LARGEST))  # which nan is not
        if provider.tolist(provider.total(held, tuple(range(array.ndim)), False)) != array.size:
            raise NotANumberError("a float that is nan, inf or larger than 64 bits has no int; choose a number for it")
    return provider.quietly(provider.cast, array, dtype)


def whole(x: int) -> int:
    """An int that int64 holds.

    >>> whole(3)
    3
    """
    if -LARGEST <= x < LARGEST:
        return x
    raise NumberTooLargeError(f"an int of {x.bit_length()} bits does not fit int64; write it as a float")


def _from_array(data: Any, dtype: str | None) -> Any:
    provider = arrays.now
    kind = getattr(data.dtype, "kind", "")
    if kind == "O" and any(map(comes_later, data.ravel().tolist())):
        return array_of(data.tolist(), dtype)
    if kind == "O":
        raise NotANumberError(
            "an array of objects holds no plain numbers; for an array of Values there is Tensor.of(array)"
        )
    own = provider.dtype_of(data) if provider.is_array(data) else getattr(data.dtype, "name", str(data.dtype))
    by_lists = own.startswith("torch.") or (provider.name == "python" and not provider.is_array(data))
    own = own.removeprefix("torch.")
    if hasattr(data, "filled") and hasattr(data, "mask"):
        raise NotANumberError(
            "a masked array would lose its mask; give array.filled(x), and the mask as a tensor of bools"
        )
    if own == "uint64" and data.size and int(data.max()) >= LARGEST:
        raise NumberTooLargeError(f"{int(data.max())} does not fit int64; give floats, as in array.astype(float)")
    if own in ("float16", "bfloat16"):
        own = FLOAT32
    wide = (
        own if own in (FLOAT64, FLOAT32) else INT64 if own.startswith(("int", "uint")) else BOOL if own == BOOL else ""
    )
    if not wide:
        raise NotANumberError(f"a tensor holds floats, ints or bools, and this array is of {own}")
    if by_lists:
        return converted(provider.reshape(provider.new(data.tolist(), wide), tuple(data.shape)), dtype or wide)
    return converted(provider.new(data, wide), dtype or wide)


def numbers_in(x: Any, dtype: str) -> Any:
    """`x` as an array of this dtype, copied where somebody else may write to it.

    >>> numbers_in(3, "float32").tolist()
    3.0
    """
    if getattr(x, "many", False):
        return converted(x.array, dtype)
    return array_of(x, dtype)


def keep_kinds(later: Iterable[Any]) -> None:
    """Let numbers that are not known yet make a tensor of the same dtype whenever they are: one float is enough.

    >>> keep_kinds([])
    """
    numbers = list(later)
    for x in next(([x] for x in numbers if x.kind_of_number is float), numbers):
        x.keep_kind()


def _nested(data: Any, path: list[int], later: list[Any]) -> tuple[Any, set[type]]:
    """Nested lists of plain numbers, and which kinds of them; an error says where something else is.

    What is not known yet is added to `later`, and its kind is not among these.
    """
    if isinstance(data, (list, tuple, range)):
        refuse_depth(len(path))
        rows, kinds = [], set()
        for i, part in enumerate(data):
            row, found = _nested(part, [*path, i], later)
            rows.append(row)
            kinds |= found
        shapes = {_shape_of(row) for row in rows}
        if len(shapes) > 1:
            first, other = list(dict.fromkeys(map(_shape_of, rows)))[:2]
            where = f" at {path}" if path else ""
            raise shape_error(f"a tensor's rows have one shape, and these{where} have {first} and {other}")
        return rows, kinds
    if getattr(data, "many", False):
        if data.requires_grad and (not data.is_leaf or data.is_surely_trained) and modes.recording():
            raise NotANumberError(
                "a tensor would lose its history in a list; gradwalk.stack makes one tensor of several, and item() or "
                f"detach() says that numbers are meant{_at(path)}"
            )
        return _nested(data.tolist(), path, later)
    if comes_later(data):
        later.append(data)
        return data, set()
    if isinstance(data, bool):
        return data, {bool}
    if isinstance(data, int):
        return whole(data), {int}
    if hasattr(data, "backward"):
        raise NotANumberError(
            f"a Value would lose its history in Tensor(...); Tensor.of(values) makes one node of many Values{_at(path)}"
        )
    if hasattr(data, "tolist"):  # an array, or a number of NumPy's
        return _nested(data.tolist(), path, later)
    try:
        return number(data), {float}
    except NotANumberError:
        shown = f"{type(data).__name__}: {data!r:.60}"
        raise NotANumberError(
            f"a tensor holds real numbers, in lists of lists or an array, not {shown}{_at(path)}"
        ) from None


def _at(path: list[int]) -> str:
    return f", at {path}" if path else ""


def _shape_of(nested: Any) -> tuple[int, ...]:
    if not isinstance(nested, list):
        return ()
    return (len(nested), *(_shape_of(nested[0]) if nested else ()))
