"""Shapes: which fit together, which axis was meant, and what to say where they do not."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from gradwalk.errors import ShapeError
from gradwalk.provenance import users_place

__all__ = [
    "axes_of",
    "axis_of",
    "broadcast",
    "either",
    "held",
    "refuse_depth",
    "shape_error",
    "shape_of",
    "size_of",
    "sizes_of",
    "whole_of",
]

Shape = tuple[int, ...]

size_of = prod


def shape_error(text: str) -> ShapeError:
    """The error, with the user's line.

    >>> str(shape_error("so it is")).splitlines()[0]
    'so it is'
    """
    return ShapeError(f"{text}\n  at {users_place()}")


def broadcast(shapes: Sequence[Shape], op: str = "") -> Shape:
    """The shape that arrays have together: aligned at their last axes, and repeated along axes of size 1.

    >>> broadcast([(4, 1), (3,)])
    (4, 3)
    >>> broadcast([(2, 3), (2,)], "+")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.ShapeError: shapes (2, 3) and (2,) do not fit together in +: axis 1 ...
    """
    ndim = max(map(len, shapes), default=0)
    out = [1] * ndim
    for shape in shapes:
        for axis, n in enumerate(shape, start=ndim - len(shape)):
            if n != 1 and out[axis] not in (1, n):
                raise _misfit(shapes, axis, ndim, op)
            out[axis] = out[axis] if n == 1 else n
    return tuple(out)


def _misfit(shapes: Sequence[Shape], axis: int, ndim: int, op: str) -> ShapeError:
    sizes = [(shape, shape[axis - ndim + len(shape)]) for shape in shapes if axis - ndim + len(shape) >= 0]
    (one, n), (other, m) = next((a, b) for a in sizes for b in sizes if a[1] != b[1] and 1 not in (a[1], b[1]))
    text = f"shapes {one} and {other} do not fit together{f' in {op}' if op else ''}: axis {axis} has size {n} and {m}"
    return shape_error(f"{text}; sizes must be equal, or one of them 1{_forgotten_keepdim(one, other)}")


def _forgotten_keepdim(one: Shape, other: Shape) -> str:
    """A hint, if one shape is the other less an axis, as a sum or mean without keepdim leaves it."""
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if len(shorter) == len(longer) - 1:
        for axis in range(len(longer)):
            if longer[:axis] + longer[axis + 1 :] == shorter:
                kept = (*longer[:axis], 1, *longer[axis + 1 :])
                return f". Was a dim lost? With keepdim=True a sum over dim {axis} has the shape {kept}, which fits"
    return ""


def shape_of(given: tuple[Any, ...], taker: str) -> Shape:
    """A shape that was given as one tuple or as several ints.

    >>> shape_of((2, 3), "zeros"), shape_of(((2, 3),), "zeros")
    ((2, 3), (2, 3))
    """
    found = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    try:
        if len(found) < TOO_DEEP:
            return tuple(map(operator.index, found))
        raise shape_error(f"{taker} was given {len(found)} sizes, and a tensor has at most {TOO_DEEP - 1} dims")
    except TypeError:
        raise shape_error(f"{taker} takes a shape in whole numbers, as in (2, 3), not {found!r:.60}") from None


#: More numbers than any memory holds, and more dims than NumPy has.
TOO_MANY, TOO_DEEP = 2**40, 65


def held(shape: Shape, taker: str) -> Shape:
    """A shape that something is made in, unless no memory could hold it.

    >>> held((2, 3), "zeros")
    (2, 3)
    """
    if max(shape, default=0) >= TOO_MANY or size_of(shape) >= TOO_MANY:
        raise shape_error(f"{taker} would make shape {shape}, which is more than memory holds")
    return shape


def refuse_depth(depth: int) -> None:
    """Refuse lists in lists in lists, so many that they are more likely to hold themselves.

    >>> refuse_depth(2)
    """
    if depth >= TOO_DEEP:
        raise shape_error(f"a tensor has at most {TOO_DEEP - 1} dims, and these lists lie deeper, or hold themselves")


def sizes_of(given: tuple[Any, ...], taker: str) -> Shape:
    """The shape of what is made.

    >>> sizes_of(((2, 3),), "zeros")
    (2, 3)
    """
    found = shape_of(given, taker)
    if min(found, default=0) < 0:
        raise shape_error(f"{taker} takes sizes of at least 0, not {found}")
    return held(found, taker)


def whole_of(x: Any, taker: str, what: str) -> int:
    """A whole number; an error says what it is for.

    >>> whole_of(3, "chunk", "a number of parts")
    3
    >>> whole_of(1.5, "chunk", "a number of parts")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.ShapeError: chunk takes a number of parts as a whole number, not float: 1.5 ...
    """
    try:
        if isinstance(x, bool):
            raise TypeError
        return operator.index(x)
    except TypeError:
        raise shape_error(f"{taker} takes {what} as a whole number, not {type(x).__name__}: {x!r:.60}") from None


def axis_of(axis: Any, ndim: int, taker: str) -> int:
    """An axis counted from 0; a negative one counts from the end.

    >>> axis_of(-1, 3, "sum")
    2
    """
    found = whole_of(axis, taker, "a dim")
    most = max(ndim, 1)
    if not -most <= found < most:
        raise shape_error(f"{taker} was given dim {found}, and a tensor of {ndim} dims has {-most} to {most - 1}")
    return found % most


def axes_of(axes: Any, ndim: int, taker: str) -> Shape:
    """One axis, several, or None for all.

    >>> axes_of(None, 3, "sum"), axes_of((0, -1), 3, "sum")
    ((0, 1, 2), (0, 2))
    """
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, (tuple, list)):
        axes = (axes,)
    found = tuple(axis_of(axis, ndim, taker) for axis in axes)
    if len(set(found)) < len(found):
        raise shape_error(f"{taker} was given dim {_twice(found)} twice in {tuple(axes)}")
    if not axes:  # torch takes an empty list for all
        return tuple(range(ndim))
    return found if ndim else ()


def _twice(found: Iterable[int]) -> int:
    listed = list(found)
    return next(x for x in listed if listed.count(x) > 1)


def either(taker: str, one: Any, other: Any) -> Any:
    """What was given by one of two spellings.

    >>> either("sum", None, 1)
    1
    """
    if one is not None and other is not None:
        raise shape_error(f"{taker} was given both dim and axis, which mean the same")
    return one if other is None else other
