"""What the op table cannot say: ops on the structure of arrays. Each is a value and the way back, side by side.

`pull(i, g, inputs, out)` is what flows back to operand `i` when `g` arrives at the result. It is written with other
entries, and an entry runs on arrays and on tensors alike; so the same line serves a first derivative and a tenth.
What an operand was repeated for by broadcasting is summed in one place for all ops, `unbroadcast`; a pull need not
think of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

from gradwalk.tensor import arrays
from gradwalk.tensor.kernels import call
from gradwalk.tensor.shapes import Shape, shape_error, size_of

__all__ = ["Entry", "unbroadcast"]


def unbroadcast(g: Any, shape: Shape) -> Any:
    """`g` summed down to the shape of an operand: an operand that was used many times gets the sum of what comes back.

    >>> unbroadcast(arrays.now.full((2, 3), 1.0, "float64"), (1, 3)).tolist()
    [[2.0, 2.0, 2.0]]
    """
    own = g.shape
    if own == shape:
        return g
    extra = len(own) - len(shape)
    if own[extra:] == shape and arrays.now.is_array(g):  # as of a bias, which most are: without a detour
        return arrays.now.total(g, tuple(range(extra)), False)
    repeated = [axis for axis, n in enumerate(own) if axis < extra or (n != 1 and shape[axis - extra] == 1)]
    return Reshape(shape)(Sum(tuple(repeated), keep=True)(g))


class Entry:
    """An op on structure, with its settings. Call it on arrays to get an array, on tensors to get a tensor.

    >>> Sum((0,), keep=False)(arrays.now.new([[1.0, 2.0], [3.0, 4.0]], "float64")).tolist()
    [4.0, 6.0]
    """

    __slots__: tuple[str, ...] = ()

    name: str = ""
    cuts = False  # whether it takes some numbers and leaves others

    @property
    def symbol(self) -> str:
        """What it is called in drawings.

        >>> MatMul().symbol
        '@'
        """
        return self.name

    def value(self, *operands: Any) -> Any:
        """What it gives, on arrays."""
        raise NotImplementedError

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        """What flows back to operand `i`, if `g` comes back to the result; None where nothing does."""
        raise NotImplementedError

    def __call__(self, *operands: Any) -> Any:  # noqa: D102
        for x in operands:
            apply = getattr(x, "__gradwalk_op__", None)
            if apply is not None:
                return apply(self, operands)
        return self.value(*operands)

    def __repr__(self) -> str:
        settings = [f"{slot}={getattr(self, slot)!r}" for slot in self.__slots__]
        return f"<{self.name}{' ' if settings else ''}{', '.join(settings)}>"


# --- shape -----------------------------------------------------------------------------------------------------------


class Reshape(Entry):
    """The same numbers in another shape."""

    __slots__ = ("shape",)
    name = "reshape"

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def value(self, x: Any) -> Any:
        return arrays.now.reshape(x, self.shape)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        return Reshape(inputs[0].shape)(g)


class Permute(Entry):
    """The axes in another order; back, in the order they came from."""

    __slots__ = ("order",)
    name = "permute"

    def __init__(self, order: Shape) -> None:
        self.order = order

    def value(self, x: Any) -> Any:
        return arrays.now.permute(x, self.order)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        return Permute(tuple(sorted(range(len(self.order)), key=self.order.__getitem__)))(g)


class Expand(Entry):
    """Repeated along axes of size 1, and along new ones in front; the way back, a sum, is `unbroadcast`."""

    __slots__ = ("shape",)
    name = "expand"

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    def value(self, x: Any) -> Any:
        return arrays.now.expand(x, self.shape)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        return g


class Pad(Entry):
    """More numbers around; back, what is around is cut off."""

    __slots__ = ("widths", "x")
    name = "pad"

    def __init__(self, widths: tuple[tuple[int, int], ...], x: float = 0.0) -> None:
        self.widths, self.x = widths, x

    def value(self, x: Any) -> Any:
        return arrays.now.pad(x, self.widths, self.x)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        sizes = zip(self.widths, inputs[0].shape, strict=True)
        return Index(tuple(slice(low, low + n) for (low, _), n in sizes))(g)


class Concat(Entry):
    """One after another along an axis; back, each its own part."""

    __slots__ = ("axis",)
    name = "cat"

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def value(self, *parts: Any) -> Any:
        return arrays.now.concat(parts, self.axis)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        start = sum(x.shape[self.axis] for x in inputs[:i])
        part = slice(start, start + inputs[i].shape[self.axis])
        return Index((*(slice(None),) * self.axis, part))(g)


class Index(Entry):
    """Numbers at places: first ints, slices and new axes (`basic`), then whole arrays of ints; see `indexing.py`."""

    __slots__ = ("basic", "wholes")
    name = "index"
    cuts = True

    def __init__(self, basic: tuple[Any, ...], wholes: tuple[Any, ...] = ()) -> None:
        self.basic, self.wholes = basic, wholes

    def value(self, x: Any) -> Any:
        return arrays.now.index(x, self.basic, self.wholes)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        return Scatter(inputs[0].shape, self.basic, self.wholes)(g)


class Scatter(Entry):
    """The way back of `Index`: zeros with each number added at its place, so that a place named twice gets both."""

    __slots__ = ("basic", "shape", "wholes")
    name = "add_at"

    def __init__(self, shape: Shape, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> None:
        self.shape, self.basic, self.wholes = shape, basic, wholes

    def value(self, x: Any) -> Any:
        return arrays.now.scatter(x, self.shape, self.basic, self.wholes)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        return Index(self.basic, self.wholes)(g)


# --- many numbers into few -------------------------------------------------------------------------------------------


def kept(shape: Shape, axes: Shape) -> Shape:
    """A shape after a reduction that keeps its axes, with size 1.

    >>> kept((2, 3), (1,))
    (2, 1)
    """
    return tuple(1 if axis in axes else n for axis, n in enumerate(shape))


class Sum(Entry):
    """The sum over axes; back, each number that was summed gets all of it."""

    __slots__ = ("axes", "keep")
    name = "sum"

    def __init__(self, axes: Shape, keep: bool) -> None:
        self.axes, self.keep = axes, keep

    def value(self, x: Any) -> Any:
        return arrays.now.total(x, self.axes, self.keep)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        shape = inputs[0].shape
        if arrays.now.is_array(g):  # the same without a detour
            fits = self.keep or g.size == 1
            return arrays.now.expand(g if fits else arrays.now.reshape(g, kept(shape, self.axes)), shape)
        return Expand(shape)(g if self.keep else Reshape(kept(shape, self.axes))(g))


class Max(Entry):
    """The largest over axes; back, shared evenly by all that are as large, and the others get nothing."""

    __slots__ = ("axes", "keep")
    name = "max"
    cuts = True

    def __init__(self, axes: Shape, keep: bool) -> None:
        self.axes, self.keep = axes, keep

    def value(self, x: Any) -> Any:
        empty = [axis for axis in self.axes if not x.shape[axis]]
        if empty:
            raise shape_error(f"max over dim {empty[0]} of shape {x.shape}: of no numbers none is the largest")
        return arrays.now.largest(x, self.axes, self.keep)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        x, most = (getattr(v, "array", v) for v in (inputs[0], out))  # which are the largest is no matter of slopes
        shape = kept(x.shape, self.axes)
        functions, provider = arrays.now.functions, arrays.now
        most = provider.expand(provider.reshape(most, shape), x.shape)
        hit = functions["|"](
            functions["=="](x, most), functions["&"](functions["!="](x, x), functions["!="](most, most))
        )
        many = provider.cast(provider.total(hit, self.axes, True), provider.dtype_of(x))
        share = call("/", Reshape(shape)(g), many)
        return call("choose", hit, Expand(x.shape)(share), 0.0)


class CumSum(Entry):
    """Running sums along an axis; back, running sums from the other end."""

    __slots__ = ("axis",)
    name = "cumsum"

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def value(self, x: Any) -> Any:
        return arrays.now.cumsum(x, self.axis)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        flip = Index((*(slice(None),) * self.axis, slice(None, None, -1)))
        return flip(CumSum(self.axis)(flip(g)))


# --- products --------------------------------------------------------------------------------------------------------


def turned(x: Any) -> Any:
    """A matrix, or a batch of them, with rows and columns exchanged."""
    n = len(x.shape)
    return Permute((*range(n - 2), n - 1, n - 2))(x)


class MatMul(Entry):
    """Matrix products: row times column. Back to the left, `g @ right.T`; to the right, `left.T @ g`."""

    __slots__ = ()
    name = "matmul"

    @property
    def symbol(self) -> str:
        return "@"

    def value(self, a: Any, b: Any) -> Any:
        m, n = a.shape, b.shape
        if len(m) == len(n) == 2 and m[1] == n[0]:
            return arrays.now.matmul(a, b)
        if not m or not n:
            raise shape_error(
                f"{m} @ {n}: a product of matrices needs one dim at least on both sides; for numbers use *"
            )
        rows = n[-2:][0]  # of a vector, all it has
        if m[-1] != rows:
            hint = ""
            if m[-1] == n[-1]:
                hint = "; did you mean the transpose, right.T?" if len(n) == 2 else ""
            side = "last but one" if len(n) > 1 else "only"
            raise shape_error(
                f"{m} @ {n} does not fit: the last dim of the left, {m[-1]}, must be the {side} dim of the right, "
                f"{rows}" + hint
            )
        for x, y in zip(m[-3::-1], n[-3::-1], strict=False):
            if x != y and 1 not in (x, y):
                raise shape_error(
                    f"{m} @ {n} does not fit: the dims in front are {m[:-2]} and {n[:-2]}, {x} against {y}"
                )
        return arrays.now.matmul(a, b)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        a, b = inputs
        provider = arrays.now
        if a.ndim == b.ndim == 2 and provider.is_array(g):  # the usual case, without a detour
            if i == 0:
                return provider.matmul(g, provider.permute(b, (1, 0)))
            return provider.matmul(provider.permute(a, (1, 0)), g)
        flat, upright = len(a.shape) == 1, len(b.shape) == 1  # a vector on the left is a row, on the right a column
        rows = Reshape((1, *a.shape))(a) if flat else a
        columns = Reshape((*b.shape, 1))(b) if upright else b
        if flat or upright:
            batch = g.shape[: len(g.shape) - (not flat) - (not upright)]
            g = Reshape((*batch, rows.shape[-2], columns.shape[-1]))(g)
        if i == 0:
            return _PRODUCT(g, turned(columns))
        share = _PRODUCT(turned(rows), g)
        return Reshape(share.shape[:-1])(share) if upright else share


_PRODUCT = MatMul()


class Einsum(Entry):
    """Products summed as letters say; back, the same with the letters of `g` in the place of the operand's."""

    __slots__ = ("result", "terms")
    name = "einsum"

    def __init__(self, terms: tuple[str, ...], result: str) -> None:
        self.terms, self.result = terms, result

    def value(self, *parts: Any) -> Any:
        return arrays.now.einsum(f"{','.join(self.terms)}->{self.result}", parts)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Any:
        own, shape = self.terms[i], inputs[i].shape
        others = [*self.terms[:i], *self.terms[i + 1 :]]
        rest = [*inputs[:i], *inputs[i + 1 :]]
        known = {*self.result, *"".join(others)}
        # A letter twice in one term is a diagonal: a second name for it, tied to the first by a matrix of ones and
        # zeros.
        free = iter(letter for letter in ascii_letters if letter not in "".join((*self.terms, self.result)))
        letters: list[str] = []
        for letter, n in zip(own, shape, strict=True):
            if letter in letters:
                new = next(free)
                others.append(letter + new)
                rest.append(_identity(n, g))
                letter = new
            elif letter not in known:  # it was summed away in this operand alone: every place gets the same
                others.append(letter)
                rest.append(arrays.now.full((n,), 1.0, _dtype(g)))
            letters.append(letter)
        return Einsum((self.result, *others), "".join(letters))(g, *rest)


def _identity(n: int, like: Any) -> Any:
    rows = arrays.now.new([[float(i == j) for j in range(n)] for i in range(n)], _dtype(like))
    return arrays.now.reshape(rows, (n, n))


def _dtype(x: Any) -> str:
    return arrays.now.dtype_of(getattr(x, "array", x))


def number_count(shape: Shape, axes: Shape) -> int:
    """How many numbers a reduction over axes takes together.

    >>> number_count((2, 3, 4), (0, 2))
    8
    """
    return size_of([shape[axis] for axis in axes])
