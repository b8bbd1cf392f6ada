"""Functions of tensors, by PyTorch's names: making, joining, and every method as a function of its tensor.

They are found in the package itself: `gradwalk.cat`, `gradwalk.zeros`, `gradwalk.einsum`.
"""

# mypy: disable-error-code=no-any-return

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from gradwalk import ops
from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, FLOAT64, INT64, dtype_named
from gradwalk.tensor.core import Tensor, constant
from gradwalk.tensor.entries import Concat, Einsum, Index, Pad
from gradwalk.tensor.making import array_of, keep_kinds
from gradwalk.tensor.shapes import axis_of, either, held, shape_error, shape_of, sizes_of, whole_of

__all__ = [
    "allclose",
    "arange",
    "as_tensor",
    "cat",
    "concat",
    "einsum",
    "eye",
    "full",
    "full_like",
    "is_tensor",
    "linspace",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "stack",
    "zeros",
    "zeros_like",
]


# --- making ----------------------------------------------------------------------------------------------------------


def as_tensor(x: Any, dtype: Any = None) -> Tensor:
    """A tensor as it is; anything else as a constant.

    >>> as_tensor([1, 2])
    Tensor([1, 2])
    """
    if isinstance(x, Tensor):
        return x if dtype is None else x.to(dtype)
    if hasattr(x, "__gradwalk_op__") and getattr(x, "kind_of_number", float) is float:
        return Tensor.of(x)
    return constant(array_of(x, None if dtype is None else dtype_named(dtype)))


def is_tensor(x: Any) -> bool:
    """Whether it is a Tensor.

    >>> is_tensor(1.0)
    False
    """
    return isinstance(x, Tensor)


def full(
    *shape_and_value: Any, size: Any = None, dtype: Any = None, requires_grad: bool | None = None,
    fill_value: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor with the same number everywhere.

    >>> gradwalk.full((2, 2), 7.0)
    Tensor([[7.0, 7.0], [7.0, 7.0]])
    """
    given = [*([] if size is None else [size]), *shape_and_value]
    x = given.pop() if fill_value is None else fill_value
    if getattr(x, "many", False):
        x = x.item()
    if ops.comes_later(x) and not getattr(x, "many", False):
        if dtype is None:
            keep_kinds([x])
        name = {bool: BOOL, int: INT64, float: FLOAT64}[x.kind_of_number]
        return _filled(tuple(given), x, name if dtype is None else dtype, requires_grad, "full")
    if not isinstance(x, (int, float)):
        x = getattr(x, "item", lambda: x)()  # of NumPy's numbers
    if not isinstance(x, (int, float)):
        raise NotANumberError(f"full takes a shape and a number, not {x!r:.60}")
    name = BOOL if isinstance(x, bool) else INT64 if isinstance(x, int) else FLOAT64
    return _filled(tuple(given), x, name if dtype is None else dtype, requires_grad, "full")


def _filled(shape: tuple[Any, ...], x: float, dtype: Any, requires_grad: bool | None, taker: str) -> Tensor:
    found, name = sizes_of(shape, taker), dtype_named(dtype)
    x = _one_number(x, taker)
    if not ops.comes_later(x) and (name == INT64 or isinstance(x, int)):
        x = arrays.now.tolist(array_of(x, name))  # which says what does not fit
    return Tensor(arrays.now.full(found, x, name), requires_grad)


def _one_number(x: Any, taker: str, does: str = "fills with one number") -> Any:
    if isinstance(x, (bool, int, float)) or ops.comes_later(x):
        return x
    try:
        return ops.number(x)
    except NotANumberError:
        raise NotANumberError(f"{taker} {does}, not {type(x).__name__}: {x!r:.60}") from None


def zeros(*shape: Any, size: Any = None, dtype: Any = FLOAT64, requires_grad: bool | None = None) -> Tensor:
    """Zeros of a shape.

    >>> gradwalk.zeros(2, 3).shape
    (2, 3)
    """
    return _filled(shape if size is None else (*shape, size), 0.0, dtype, requires_grad, "zeros")


def ones(*shape: Any, size: Any = None, dtype: Any = FLOAT64, requires_grad: bool | None = None) -> Tensor:
    """Ones of a shape.

    >>> gradwalk.ones((2,))
    Tensor([1.0, 1.0])
    """
    return _filled(shape if size is None else (*shape, size), 1.0, dtype, requires_grad, "ones")


def zeros_like(like: Any, dtype: Any = None, requires_grad: bool | None = None) -> Tensor:
    """Zeros of the shape and dtype of another tensor.

    >>> gradwalk.zeros_like(gradwalk.ones(2))
    Tensor([0.0, 0.0])
    """
    return full_like(like, 0.0, dtype, requires_grad)


def ones_like(like: Any, dtype: Any = None, requires_grad: bool | None = None) -> Tensor:
    """Ones of the shape and dtype of another tensor.

    >>> gradwalk.ones_like(gradwalk.zeros(2))
    Tensor([1.0, 1.0])
    """
    return full_like(like, 1.0, dtype, requires_grad)


def full_like(like: Any, fill_value: Any, dtype: Any = None, requires_grad: bool | None = None) -> Tensor:
    """The same number everywhere, in the shape and dtype of another tensor.

    >>> gradwalk.full_like(gradwalk.zeros(2), 3.0)
    Tensor([3.0, 3.0])
    """
    model = as_tensor(like)
    if getattr(fill_value, "many", False):
        fill_value = fill_value.item()
    return _filled((model.shape,), fill_value, model.dtype if dtype is None else dtype, requires_grad, "full_like")


def eye(n: int, m: int | None = None, dtype: Any = FLOAT64, requires_grad: bool | None = None) -> Tensor:
    """Ones on the diagonal of a matrix.

    >>> gradwalk.eye(2)
    Tensor([[1.0, 0.0], [0.0, 1.0]])
    """
    rows = whole_of(n, "eye", "a size")
    columns = rows if m is None else whole_of(m, "eye", "a size")
    if min(rows, columns) < 0:
        raise shape_error(f"eye takes sizes of at least 0, not {rows} and {columns}")
    held((rows, columns), "eye")
    apart = arrays.now.reshape(arrays.now.arange(rows), (rows, 1))
    found = arrays.now.functions["=="](apart, arrays.now.arange(columns))
    return Tensor(arrays.now.cast(found, dtype_named(dtype)), requires_grad)


def arange(
    start: Any = None, end: Any = None, step: Any = 1, dtype: Any = None, requires_grad: bool | None = None
) -> Tensor:
    """Numbers from `start` (0 if one number is given) up to, and without, `end`.

    >>> gradwalk.arange(3), gradwalk.arange(1.0, 2.0, 0.5)
    (Tensor([0, 1, 2]), Tensor([1.0, 1.5]))
    """
    if end is None or start is None:
        start, end = 0, start if end is None else end
    start, end, step = map(_told, (start, end, step))
    whole = all(isinstance(x, int) for x in (start, end, step))
    if not whole and all(isinstance(x, (int, float)) for x in (start, end, step)):
        start, end, step = map(ops.number, (start, end, step))
    if not (whole or all(isinstance(x, float) and math.isfinite(x) for x in (start, end, step))) or not step:
        raise SettingError(
            f"arange takes finite numbers and a step that is not 0, not {start!r:.20}, {end!r:.20}, {step!r:.20}"
        )
    kind, count = (INT64, -((start - end) // step)) if whole else (FLOAT64, math.ceil((end - start) / step))
    places = arrays.now.cast(arrays.now.arange(*held((max(count, 0),), "arange")), kind)
    first, by = (arrays.now.tolist(array_of(x, kind)) for x in (start, step))
    found = arrays.now.functions["+"](first, arrays.now.functions["*"](places, by))
    return Tensor(found, requires_grad, kind if dtype is None else dtype)


def _told(x: Any) -> Any:
    """A plain number of a tensor or of NumPy's, or one that is not known yet, told by who knows it."""
    if isinstance(x, (int, float)):
        return x
    if ops.comes_later(x) and not getattr(x, "many", False):
        return operator.index(x) if getattr(x, "kind_of_number", float) is int else float(x)
    return getattr(x, "item", lambda: x)()


def linspace(start: Any, end: Any, steps: int, dtype: Any = FLOAT64, requires_grad: bool | None = None) -> Tensor:
    """So many numbers from `start` to `end`, both included, equally far apart.

    >>> gradwalk.linspace(0.0, 1.0, 3)
    Tensor([0.0, 0.5, 1.0])
    """
    count = whole_of(steps, "linspace", "a number of steps")
    if count < 0:
        raise SettingError(f"linspace takes a number of steps of at least 0, not {count}")
    held((count,), "linspace")
    start, end = (
        _one_number(x.item() if getattr(x, "many", False) else x, "linspace", "goes from one number to another")
        for x in (start, end)
    )
    start, end = (x if ops.comes_later(x) else ops.number(x) for x in (start, end))
    gap = (end - start) / (count - 1) if count > 1 else 0.0
    half = count // 2  # from both ends, so that both are exact
    return Tensor(
        [start + i * gap if i < half or count == 1 else end - (count - 1 - i) * gap for i in range(count)],
        requires_grad,
        dtype,
    )


def one_hot(labels: Any, num_classes: int = -1) -> Tensor:
    """A row for each label, with a 1 in its place and 0 elsewhere; of ints, as PyTorch's.

    >>> gradwalk.one_hot([0, 2], 3)
    Tensor([[1, 0, 0], [0, 0, 1]])
    """
    found = as_tensor(labels)
    if found.dtype != INT64:
        raise NotANumberError(f"one_hot takes whole numbers, and was given {found.dtype}")
    most = found.max().item() + 1 if found.numel() else 0
    wanted = whole_of(num_classes, "one_hot", "a number of classes")
    classes = most if wanted == -1 else wanted
    if most > classes or (found.numel() and found.min().item() < 0):
        raise SettingError(f"one_hot of {classes} classes was given labels from {found.min().item()} to {most - 1}")
    held((*found.shape, classes), "one_hot")
    rows = found.unsqueeze(-1) == arange(classes)
    return rows.long()


# --- joining ---------------------------------------------------------------------------------------------------------


def cat(tensors: Sequence[Any], dim: Any = None, *, axis: Any = None) -> Tensor:
    """Tensors one after another along a dim.

    >>> gradwalk.cat([gradwalk.ones(1, 2), gradwalk.zeros(1, 2)], dim=0)
    Tensor([[1.0, 1.0], [0.0, 0.0]])
    """
    parts = _several(tensors, "cat")
    model = next((i for i, part in enumerate(parts) if part.shape not in ((), (0,))), 0)
    first = parts[model].shape
    along = axis_of(0 if either("cat", dim, axis) is None else either("cat", dim, axis), len(first), "cat")
    empty = (*first[:along], 0, *first[along + 1 :])  # as which `tensor([])` stands beside tensors of any shape
    parts = [part.reshape(empty) if part.shape == (0,) and first else part for part in parts]
    for i, part in enumerate(parts):
        shape = part.shape
        if not shape:
            raise shape_error(f"cat takes tensors of at least one dim, and number {i} is a single number; use stack")
        if len(shape) != len(first) or any(
            n != m for j, (n, m) in enumerate(zip(shape, first, strict=True)) if j != along
        ):
            raise shape_error(
                f"cat along dim {along}: tensors {model} and {i} have shapes {first} and {shape}; only dim {along} may "
                "differ"
            )
    return Concat(along)(*parts)


concat = cat


def stack(tensors: Sequence[Any], dim: Any = None, *, axis: Any = None) -> Tensor:
    """Tensors of one shape side by side along a new dim.

    >>> gradwalk.stack([gradwalk.ones(2), gradwalk.zeros(2)])
    Tensor([[1.0, 1.0], [0.0, 0.0]])
    """
    parts = _several(tensors, "stack")
    for i, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise shape_error(
                f"stack takes tensors of one shape, and number {i} has {part.shape} where 0 has {parts[0].shape}"
            )
    along = axis_of(0 if either("stack", dim, axis) is None else either("stack", dim, axis), parts[0].ndim + 1, "stack")
    return Concat(along)(*(part.unsqueeze(along) for part in parts))


def _several(tensors: Any, taker: str) -> list[Tensor]:
    if not isinstance(tensors, (list, tuple)):
        raise InputSizeError(f"{taker} takes a list of tensors, not {type(tensors).__name__}")
    if not tensors:
        raise InputSizeError(f"{taker} was given an empty list; give at least one tensor")
    keep_kinds(part for part in tensors if hasattr(part, "kind_of_number"))
    return [as_tensor(part) for part in tensors]


def pad(x: Any, pad: Sequence[int], mode: str = "constant", value: float | None = 0.0) -> Tensor:
    """More numbers around: widths before and after for the last dim, then for the last but one, as PyTorch counts.

    >>> gradwalk.pad(gradwalk.ones(2), (1, 0))
    Tensor([0.0, 1.0, 1.0])
    """
    found = as_tensor(x)
    given = shape_of((tuple(pad) if hasattr(pad, "__iter__") else pad,), "pad")
    if mode != "constant":
        raise SettingError(f"pad knows mode='constant', not {mode!r:.60}")
    if len(given) % 2 or len(given) > 2 * found.ndim:
        raise shape_error(f"pad takes two widths for each of up to {found.ndim} dims, and was given {len(given)}")
    pairs = list(zip(given[::2], given[1::2], strict=True))
    by_axis = [(0, 0)] * (found.ndim - len(pairs)) + pairs[::-1]
    cut = tuple(slice(max(0, -low), n - max(0, -high)) for n, (low, high) in zip(found.shape, by_axis, strict=True))
    if any(part.stop < part.start for part in cut):
        raise shape_error(f"pad by {given} would cut more than is there from shape {found.shape}")
    if any(n < 0 for n in given):
        found = Index(cut)(found)
    around = tuple((max(0, low), max(0, high)) for low, high in by_axis)
    if not found.ndim:
        return found
    held(tuple(n + low + high for n, (low, high) in zip(found.shape, around, strict=True)), "pad")
    return Pad(around, 0.0 if value is None else found._in_own_dtype(_one_number(value, "pad"), "pad"))(found)


def einsum(equation: str, *operands: Any) -> Tensor:
    """Products summed as letters say: one letter for each dim, and those missing after `->` are summed.

    >>> gradwalk.einsum("ij,jk->ik", gradwalk.ones(2, 3), gradwalk.ones(3, 1))
    Tensor([[3.0], [3.0]])
    """
    if not isinstance(equation, str):
        raise SettingError(f"einsum takes an equation as in 'ij,jk->ik' first, not {equation!r:.60}")
    given = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
    parts = [as_tensor(part) for part in given]
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(parts):
        raise InputSizeError(f"einsum {equation!r} names {len(terms)} tensor(s) and was given {len(parts)}")
    terms, right = _without_dots(terms, right if arrow else None, parts, equation)
    if not arrow:
        letters = "".join(terms)
        right += "".join(
            sorted(letter for letter in set(letters) if letters.count(letter) == 1 and letter not in right)
        )
    sizes: dict[str, int] = {}
    for i, (term, part) in enumerate(zip(terms, parts, strict=True)):
        if not term.isalpha() and term:
            raise SettingError(f"einsum {equation!r}: {term!r} holds something that is no letter")
        if len(term) != part.ndim:
            raise shape_error(
                f"einsum {equation!r}: {term!r} names {len(term)} dims and tensor {i} has shape {part.shape}"
            )
        for letter, n in zip(term, part.shape, strict=True):
            own = part.shape[term.index(letter)]  # a letter that stands twice in a term has one size there
            if sizes.setdefault(letter, n) == 1 and own == n:
                sizes[letter] = n
            if n != own or (n != 1 and n != sizes[letter]):
                other = own if n != own else sizes[letter]
                raise shape_error(f"einsum {equation!r}: {letter!r} has size {other} and, in tensor {i}, {n}")
    if not set(right) <= set(sizes) or len(set(right)) < len(right):
        raise SettingError(f"einsum {equation!r}: each letter after -> stands once there and somewhere before it")
    for i, (term, part) in enumerate(zip(terms, parts, strict=True)):
        once = tuple(axis for axis, letter in enumerate(term) if part.shape[axis] == 1 != sizes[letter])
        if once:  # it is the same number at every place of the others, and needs no letter
            terms[i], parts[i] = "".join(x for axis, x in enumerate(term) if axis not in once), part.squeeze(once)
    return Einsum(tuple(terms), right)(*parts)


def _without_dots(terms: list[str], right: str | None, parts: list[Tensor], equation: str) -> tuple[list[str], str]:
    """`...` spelt out in capitals that are free, for dims that all who have it share."""
    if "..." not in "".join(terms):  # after `->` it then stands for no dims
        return terms, (right or "").replace("...", "")
    used = "".join(terms) + (right or "")
    free = [letter for letter in ascii_uppercase if letter not in used]
    counts = [
        part.ndim - len(term.replace("...", "")) for term, part in zip(terms, parts, strict=True) if "..." in term
    ]
    most = max(counts)
    if min(counts) < 0 or most > len(free):
        raise shape_error(f"einsum {equation!r}: the letters name more dims than a tensor has")
    letters = "".join(free[:most])
    spelt = []
    for term, part in zip(terms, parts, strict=True):
        n = part.ndim - len(term.replace("...", ""))
        spelt.append(term.replace("...", letters[most - n :]) if "..." in term else term)
    return spelt, letters if right is None else right.replace("...", letters)


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all numbers are near: `|a - b| <= atol + rtol * |b|`; nan is near nan if `equal_nan` says so.

    >>> gradwalk.allclose(gradwalk.ones(2), [1.0, 1.0 + 1e-9])
    True
    """
    x, y = (found.detach() if found.dtype != BOOL else found.long() for found in (as_tensor(a), as_tensor(b)))
    near = (x == y) | ((ops.abs(x - y) <= atol + rtol * ops.abs(y)) & y.isfinite())
    return bool(((near | ((x != x) & (y != y))) if equal_nan else near).all())
