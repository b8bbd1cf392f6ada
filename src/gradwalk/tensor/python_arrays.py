"""Arrays in plain Python: a flat list of numbers, a shape, and strides that say how far apart neighbours lie.

Written to be read. An array is a way of looking at a list: `flat[offset + i * strides[0] + j * strides[1] + …]` is the
number at `[i, j, …]`. So another order of axes, a slice, or a repetition needs no new numbers, only other strides: a
stride of 0 shows the same number again and again.
"""

from __future__ import annotations

import array
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from gradwalk import ops
from gradwalk.tensor.shapes import Shape, broadcast, size_of

__all__: list[str] = []

name = "python"


class Array:
    """Numbers in a list, and how to look at them."""

    __slots__ = ("dtype", "flat", "locked", "offset", "shape", "strides")

    def __init__(
        self, flat: list[Any], shape: Shape, dtype: str, strides: Shape | None = None, offset: int = 0
    ) -> None:
        self.flat, self.shape, self.dtype, self.offset = flat, shape, dtype, offset
        self.strides = row_major(shape) if strides is None else strides
        self.locked = False  # whether numbers may be written

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return size_of(self.shape)

    def places(self) -> list[int]:
        """Where in the list each number is, in the order of reading: the last axis runs fastest."""
        found = [self.offset]
        for n, stride in zip(self.shape, self.strides, strict=True):
            found = [place + i * stride for place in found for i in range(n)]
        return found

    def numbers(self) -> list[Any]:
        """The numbers in the order of reading."""
        if len(self.flat) == self.size and not self.offset and self.strides == row_major(self.shape):
            return self.flat
        flat = self.flat
        return [flat[place] for place in self.places()]

    def __getitem__(self, key: Any) -> Any:
        found = index(self, _spelt_out(key, self.ndim), ())
        return found.numbers()[0] if not found.shape else found

    def __setitem__(self, key: Any, x: Any) -> None:
        if self.locked:
            raise ValueError("this array is read-only; write to the data of a leaf")
        target = index(self, _spelt_out(key, self.ndim), ())
        source = expand(x if isinstance(x, Array) else new(x, self.dtype), target.shape)
        for place, number in zip(target.places(), source.numbers(), strict=True):
            self.flat[place] = _fit(number, self.dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def tolist(self) -> Any:
        return tolist(self)

    def __repr__(self) -> str:
        return f"Array({tolist(self)})"


def _spelt_out(key: Any, ndim: int) -> tuple[Any, ...]:
    """What stands between brackets, with the slices that `...` stands for."""
    parts = key if isinstance(key, tuple) else (key,)
    at = next((i for i, part in enumerate(parts) if part is ...), None)
    if at is None:
        return parts
    return (*parts[:at], *(slice(None),) * (ndim + 1 - len(parts)), *parts[at + 1 :])


def row_major(shape: Shape) -> Shape:
    """The strides of a list that holds an array in the order of reading.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _fit(x: Any, dtype: str) -> Any:
    """A number as its dtype has it."""
    if dtype == "float64":
        return float(x)
    if dtype == "float32":
        return array.array("f", [x])[0]
    return bool(x) if dtype == "bool" else _in_64_bits(int(x))


def _in_64_bits(x: int) -> int:
    """An int as 64 bits hold it: past the highest comes the lowest."""
    return x if -(2**63) <= x < 2**63 else (x + 2**63) % 2**64 - 2**63


def _made(numbers: list[Any], shape: Shape, dtype: str) -> Array:
    """A new array of computed numbers, as its dtype has them."""
    if dtype == "float32":
        numbers = list(array.array("f", numbers))
    elif dtype == "int64":
        numbers = [_in_64_bits(int(x)) for x in numbers]
    else:
        numbers = list(map(float if dtype == "float64" else bool, numbers))
    return Array(numbers, shape, dtype)


# --- number by number ------------------------------------------------------------------------------------------------


def _function(f: Callable[..., Any], gives: str = "") -> Callable[..., Array]:
    """A function of numbers as one of arrays; it gives the dtype of its operands unless told otherwise."""

    def function(*operands: Any) -> Array:
        arrays = [x for x in operands if isinstance(x, Array)]
        if not arrays:
            return f(*operands)  # type: ignore[no-any-return]  # plain numbers stay plain
        shape = broadcast([x.shape for x in arrays])
        columns = [expand(x, shape).numbers() if isinstance(x, Array) else [x] * size_of(shape) for x in operands]
        return _made([f(*row) for row in zip(*columns, strict=True)], shape, gives or _joined(operands))

    return function


def _joined(operands: Sequence[Any]) -> str:
    """The dtype that holds all operands; numbers that are no arrays do not ask for more digits."""
    found = [x.dtype for x in operands if isinstance(x, Array)]
    for dtype in ("float64", "float32"):
        if dtype in found:
            return dtype
    if any(isinstance(x, float) for x in operands):
        return "float64"
    return "int64" if "int64" in found or any(type(x) is int for x in operands) else "bool"


def _floats(f: Callable[..., float]) -> Callable[..., Array]:
    def function(*operands: Any) -> Array:
        joined = _joined(operands)
        return _function(lambda *row: f(*map(float, row)), joined if joined.startswith("float") else "float64")(
            *operands
        )

    return function


def _whole(f: Callable[[float], int]) -> Callable[..., Array]:
    return _function(lambda x: math.copysign(f(x), x) if type(x) is float and math.isfinite(x) else x)


def _power(x: Any, y: Any) -> Any:
    return x**y if type(x) is int and type(y) is int else ops.pow.forward(float(x), float(y))


functions: dict[str, Callable[..., Array]] = {
    **{name: _floats(op.forward) for name, op in ops.TABLE.items()},
    "+": _function(lambda x, y: x + y), "-": _function(lambda x, y: x - y), "*": _function(lambda x, y: x * y),
    "/": _floats(ops.div.forward), "**": _function(_power), "neg": _function(lambda x: -x),
    "<": _function(lambda x, y: x < y, "bool"), "<=": _function(lambda x, y: x <= y, "bool"),
    ">": _function(lambda x, y: x > y, "bool"), ">=": _function(lambda x, y: x >= y, "bool"),
    "==": _function(lambda x, y: x == y, "bool"), "!=": _function(lambda x, y: x != y, "bool"),
    "&": _function(lambda x, y: x & y), "|": _function(lambda x, y: x | y), "^": _function(lambda x, y: x ^ y),
    "~": _function(lambda x: not x, "bool"),
    "choose": lambda condition, x, y: _function(lambda c, x, y: x if c else y, _joined((x, y)))(condition, x, y),
    "where": lambda condition, x, y: _function(lambda c, x, y: x if c else y, _joined((x, y)))(condition, x, y),
    "abs": _function(abs), "maximum": _function(ops.maximum.value), "minimum": _function(ops.minimum.value),
    "clamp": _function(ops.clamp.value), "relu": _function(ops.relu.value),
    "floor": _whole(math.floor), "ceil": _whole(math.ceil), "round": _whole(round), "trunc": _whole(math.trunc),
    "sign": _function(lambda x: (x > 0) - (x < 0)),
    "isfinite": _function(math.isfinite, "bool"), "isnan": _function(math.isnan, "bool"),
    "isinf": _function(math.isinf, "bool"),
    "//": _function(lambda x, y: x // y if y else 0 if type(x) is type(y) is int else ops.div.forward(x, y)),
    "%": _function(lambda x, y: x % y if y else 0 if type(x) is type(y) is int else math.nan),
}  # fmt: skip


bare = functions
on_one: dict[str, Any] = {}


def _operator(symbol: str) -> tuple[Callable[..., Any], ...]:
    """An operator between arrays and numbers, as in `w.data * 0.5`, its reflected form, and `w.data *= 0.5`."""

    def forth(self: Array, other: Any) -> Any:
        return functions[symbol](self, other) if isinstance(other, (int, float, Array)) else NotImplemented

    def back(self: Array, other: Any) -> Any:
        return functions[symbol](other, self) if isinstance(other, (int, float)) else NotImplemented

    def in_place(self: Array, other: Any) -> Any:
        found = forth(self, other)
        if found is not NotImplemented:
            if found.dtype.startswith("float") and not self.dtype.startswith("float"):
                raise TypeError(f"an array of {self.dtype} cannot hold a result of {found.dtype}")
            self[...] = found
        return found if found is NotImplemented else self

    return forth, back, in_place


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.items():
    for _prefix, _method in zip(("", "r", "i"), _operator(_symbol), strict=True):
        setattr(Array, f"__{_prefix}{_name}__", _method)


def quietly(f: Callable[..., Any], *arguments: Any) -> Any:
    return f(*arguments)


def each(f: Callable[..., float], arrays: Sequence[Any]) -> Array:
    return _floats(f)(*arrays)


# --- making and looking ----------------------------------------------------------------------------------------------


def is_array(x: Any) -> bool:
    return isinstance(x, Array)


def settled(x: Any) -> Array:
    return x  # type: ignore[no-any-return]


def new(nested: Any, dtype: str) -> Array:
    if isinstance(nested, Array):
        return Array([_fit(x, dtype) for x in nested.numbers()], nested.shape, dtype)
    shape, level = [], [nested]
    while level and isinstance(level[0], (list, tuple, range, Array)):  # one axis after another
        shape.append(len(level[0]))
        level = [part for row in level for part in row]
    return Array([_fit(x, dtype) for x in level], tuple(shape), dtype)


def full(shape: Shape, x: float, dtype: str) -> Array:
    return Array([_fit(x, dtype)] * size_of(shape), shape, dtype)


def arange(n: int) -> Array:
    return Array(list(range(n)), (n,), "int64")


def cast(a: Array, dtype: str) -> Array:
    return a if a.dtype == dtype else new(a, dtype)


def dtype_of(a: Array) -> str:
    return a.dtype


def copy(a: Array) -> Array:
    return Array(list(a.numbers()), a.shape, a.dtype)


def read_only(a: Array) -> Array:
    view = Array(a.flat, a.shape, a.dtype, a.strides, a.offset)
    view.locked = True
    return view


def same(a: Array, b: Array) -> bool:
    return (a.shape, a.dtype) == (b.shape, b.dtype) and all(
        math.copysign(1.0, x) == math.copysign(1.0, y) if x == y else x != x and y != y
        for x, y in zip(a.numbers(), b.numbers(), strict=True)
    )


def have_nan(arrays: Sequence[Array]) -> bool:
    return any(x != x for a in arrays for x in a.numbers())


def tolist(a: Array) -> Any:
    if not isinstance(a, Array):  # a tensor that was made with another provider may be looked at here
        return a.tolist()
    rows: list[Any] = list(a.numbers())
    if 0 in a.shape:
        return _empty(a.shape)
    for n in reversed(a.shape[1:]):
        rows = [rows[i : i + n] for i in range(0, len(rows), n)]
    return rows if a.shape else rows[0]


def _empty(shape: Shape) -> list[Any]:
    return [_empty(shape[1:]) for _ in range(shape[0])] if shape[0] else []


# --- structure -------------------------------------------------------------------------------------------------------


def reshape(a: Array, shape: Shape) -> Array:
    return Array(a.numbers(), shape, a.dtype)


def permute(a: Array, order: Shape) -> Array:
    return Array(a.flat, tuple(a.shape[i] for i in order), a.dtype, tuple(a.strides[i] for i in order), a.offset)


def expand(a: Array, shape: Shape) -> Array:
    if a.shape == shape:
        return a
    new_axes = len(shape) - a.ndim
    strides = [stride if n != 1 else 0 for n, stride in zip(a.shape, a.strides, strict=True)]
    return Array(a.flat, shape, a.dtype, (0,) * new_axes + tuple(strides), a.offset)


def index(a: Array, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Array:
    shape: list[int] = []
    strides: list[int] = []
    offset, axis = a.offset, 0
    for part in basic:
        if part is None:  # a new axis
            shape.append(1)
            strides.append(0)
            continue
        n, stride = a.shape[axis], a.strides[axis]
        axis += 1
        if isinstance(part, slice):
            start, stop, step = part.indices(n)
            count = len(range(start, stop, step))
            offset += start * stride
            shape.append(count)
            strides.append(step * stride)
        else:
            offset += (part + n if part < 0 else part) * stride
    view = Array(a.flat, (*shape, *a.shape[axis:]), a.dtype, (*strides, *a.strides[axis:]), offset)
    return _at_places(view, wholes) if wholes else view


def _at_places(a: Array, wholes: tuple[Any, ...]) -> Array:
    """Numbers at places that arrays of ints name; the new axes stand where these were, or in front if apart."""
    wholes = (*wholes, *[None] * (a.ndim - len(wholes)))
    given = [axis for axis, part in enumerate(wholes) if part is not None]
    picked = broadcast([wholes[axis].shape for axis in given])
    columns = [expand(wholes[axis], picked).numbers() for axis in given]
    rest = [axis for axis in range(a.ndim) if axis not in given]
    front = given[0] if given == list(range(given[0], given[-1] + 1)) else 0
    before, after = rest[:front], rest[front:]
    first = [sum(i * a.strides[axis] for i, axis in zip(at, before, strict=True)) for at in _all(a, before)]
    last = [sum(i * a.strides[axis] for i, axis in zip(at, after, strict=True)) for at in _all(a, after)]
    chosen = [
        sum((i + a.shape[axis] if i < 0 else i) * a.strides[axis] for i, axis in zip(at, given, strict=True))
        for at in zip(*columns, strict=True)
    ]
    flat = [a.flat[a.offset + x + y + z] for x in first for y in chosen for z in last]
    return Array(flat, (*[a.shape[i] for i in before], *picked, *[a.shape[i] for i in after]), a.dtype)


def _all(a: Array, axes: list[int]) -> Iterator[tuple[int, ...]]:
    return product(*[range(a.shape[axis]) for axis in axes])


def scatter(g: Array, shape: Shape, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Array:
    out = full(shape, 0.0, g.dtype)
    places = Array(list(range(out.size)), shape, "int64")  # each number is its own place
    for place, share in zip(index(places, basic, wholes).numbers(), g.numbers(), strict=True):
        out.flat[place] += share
    return out


def concat(parts: Sequence[Array], axis: int) -> Array:
    front = parts[0].shape[:axis]
    rows: list[list[Any]] = [[] for _ in range(size_of(front))]
    for part in parts:
        numbers, n = part.numbers(), size_of(part.shape[axis:])
        for i, row in enumerate(rows):
            row += numbers[i * n : (i + 1) * n]
    n = sum(part.shape[axis] for part in parts)
    return Array([x for row in rows for x in row], (*front, n, *parts[0].shape[axis + 1 :]), parts[0].dtype)


def pad(a: Array, widths: tuple[tuple[int, int], ...], x: float) -> Array:
    out = full(tuple(low + n + high for n, (low, high) in zip(a.shape, widths, strict=True)), x, a.dtype)
    out[tuple(slice(low, low + n) for n, (low, _) in zip(a.shape, widths, strict=True))] = a
    return out


# --- sums and products -----------------------------------------------------------------------------------------------


def _reduce(a: Array, axes: Shape, keep: bool, f: Callable[[list[Any]], Any], dtype: str) -> Array:
    """`f` of the numbers along axes, for each place along the others."""
    kept = [axis for axis in range(a.ndim) if axis not in axes]
    shape = tuple(a.shape[axis] for axis in kept)
    numbers, n = permute(a, (*kept, *axes)).numbers(), size_of([a.shape[axis] for axis in axes])
    out = [_fit(f(numbers[i * n : (i + 1) * n]), dtype) for i in range(size_of(shape))]
    return Array(out, tuple(1 if i in axes else m for i, m in enumerate(a.shape)) if keep else shape, dtype)


def total(a: Array, axes: Shape, keep: bool) -> Array:
    return _reduce(a, axes, keep, sum_of, "int64" if a.dtype == "bool" else a.dtype)


def largest(a: Array, axes: Shape, keep: bool) -> Array:
    return _reduce(a, axes, keep, max_of, a.dtype)


def sum_of(row: list[Any]) -> Any:
    found = row[0] if row else 0.0
    for x in row[1:]:  # from left to right; Python's own sum of floats rounds differently from version to version
        found += x
    return found


def max_of(row: list[Any]) -> Any:
    found = row[0]
    for x in row:
        if x > found or x != x:
            found = x
        if found != found:
            break
    return found


def matmul(a: Array, b: Array) -> Array:
    rows, columns = (a if a.ndim > 1 else reshape(a, (1, *a.shape))), (b if b.ndim > 1 else reshape(b, (*b.shape, 1)))
    batch = broadcast([rows.shape[:-2], columns.shape[:-2]])
    (m, k), n = rows.shape[-2:], columns.shape[-1]
    left = expand(rows, (*batch, m, k)).numbers()
    turned = permute(columns, (*range(columns.ndim - 2), columns.ndim - 1, columns.ndim - 2))
    right = expand(turned, (*batch, n, k)).numbers()
    out = [
        sum_of([x * y for x, y in zip(left[i : i + k], right[j : j + k], strict=True)])
        for matrix in range(size_of(batch))
        for i in range(matrix * m * k, (matrix + 1) * m * k, k or 1)[:m] or [0] * m
        for j in range(matrix * n * k, (matrix + 1) * n * k, k or 1)[:n] or [0] * n
    ]
    shape = (*batch, *([m] if a.ndim > 1 else []), *([n] if b.ndim > 1 else []))
    dtype = _joined((a, b))  # on the way back, ints may stand beside floats
    return Array([_fit(x, dtype) for x in out], shape, dtype)


def einsum(spec: str, parts: Sequence[Array]) -> Array:
    terms, result = spec.split("->")
    sizes: dict[str, int] = {}
    for letters, part in zip(terms.split(","), parts, strict=True):
        sizes |= dict(zip(letters, part.shape, strict=True))
    summed = [letter for letter in sizes if letter not in result]
    letters_in_order = [*result, *summed]
    strides = []
    for letters, part in zip(terms.split(","), parts, strict=True):
        each_letter = dict.fromkeys(letters_in_order, 0)
        for letter, stride in zip(letters, part.strides, strict=True):
            each_letter[letter] += stride  # twice the same letter walks down a diagonal
        strides.append([each_letter[letter] for letter in letters_in_order])
    out, shape = [], tuple(sizes[letter] for letter in result)
    for outer in product(*[range(n) for n in shape]):
        row = []
        for inner in product(*[range(sizes[letter]) for letter in summed]):
            at = (*outer, *inner)
            row.append(
                math.prod(
                    part.flat[part.offset + sum(i * step for i, step in zip(at, steps, strict=True))]
                    for part, steps in zip(parts, strides, strict=True)
                )
            )
        out.append(sum_of(row))
    dtype = _joined(parts)
    return Array([_fit(x, dtype) for x in out], shape, dtype)


def cumsum(a: Array, axis: int) -> Array:
    order = (*[i for i in range(a.ndim) if i != axis], axis)
    turned = permute(a, order)
    numbers, n = list(turned.numbers()), a.shape[axis]
    for i in range(len(numbers)):
        if i % n:
            numbers[i] += numbers[i - 1]
    back = sorted(range(a.ndim), key=order.__getitem__)
    return permute(_made(numbers, turned.shape, "int64" if a.dtype == "bool" else a.dtype), tuple(back))


def argmax(a: Array, axis: int) -> Array:
    def place(row: list[Any]) -> int:
        most = max_of(row)
        return next(i for i, x in enumerate(row) if x == most or (x != x and most != most))

    return _reduce(a, (axis,), False, place, "int64")


def argsort(a: Array, axis: int, descending: bool) -> Array:
    order = (*[i for i in range(a.ndim) if i != axis], axis)
    turned = permute(a, order)
    numbers, n = turned.numbers(), a.shape[axis]
    out: list[int] = []
    for start in range(0, len(numbers), n or 1):
        row = numbers[start : start + n]
        sign = -1 if descending else 1
        out += sorted(range(n), key=lambda i: ((row[i] != row[i]) * sign, row[i] * sign if row[i] == row[i] else 0))
    back = sorted(range(a.ndim), key=order.__getitem__)
    return permute(Array(out, turned.shape, "int64"), tuple(back))


def nonzero(a: Array) -> list[Array]:
    found = [at for at, x in zip(_all(a, list(range(a.ndim))), a.numbers(), strict=True) if x]
    return [Array([at[axis] for at in found], (len(found),), "int64") for axis in range(a.ndim)]
