"""What stands between brackets, read as PyTorch reads it.

Ints, slices, None and `...` are done first; they need no new numbers. Arrays of ints, lists, ranges and masks are then
done together on what is left: their axes stand where these were if they are neighbours, else in front. (NumPy counts
an int among the arrays, and so puts the axes of `x[0, :, [1, 2]]` in another order.)
"""

from __future__ import annotations

import operator
from typing import Any

from gradwalk import modes
from gradwalk.ops import comes_later
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, INT64
from gradwalk.tensor.shapes import Shape, broadcast, refuse_depth, shape_error

__all__ = ["extremes", "read_key"]


def read_key(key: Any, shape: Shape) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """`basic` and `wholes` for the entry `Index`: ints, slices and None; arrays of ints, and None for an axis as it is.

    >>> read_key((0, ..., None), (2, 3))
    ((0, slice(None, None, None), None), ())
    """
    entries = key if isinstance(key, tuple) else (key,)
    lone = sum(not (part is None or part is ... or isinstance(part, (int, slice))) for part in entries) == 1
    parts = [_part(part, lone) for part in entries]
    taken = sum(_axes_taken(part) for part in parts)
    if sum(part is ... for part in parts) > 1:
        raise shape_error("an index may hold one `...`, and this one holds more")
    if taken > len(shape):
        raise shape_error(f"an index of {taken} dims was given for a tensor of {len(shape)}, of shape {shape}")
    around = [slice(None)] * (len(shape) - taken)
    place = next((i for i, part in enumerate(parts) if part is ...), len(parts))
    parts[place : place + 1] = around
    basic: list[Any] = []
    wholes: list[Any] = []
    axis = 0
    for part in parts:
        if part is None:
            basic.append(None)
            wholes.append(None)
        elif isinstance(part, slice):
            basic.append(part)
            wholes.append(None)
            axis += 1
        elif isinstance(part, int):
            _check(part, axis, shape)
            basic.append(part)
            axis += 1
        elif arrays.now.dtype_of(part) == BOOL and not part.ndim:  # all of it, or nothing, in a dim of its own
            basic.append(None)
            wholes.append(arrays.now.arange(int(arrays.now.tolist(part))))
        elif arrays.now.dtype_of(part) == BOOL:
            if part.shape != shape[axis : axis + part.ndim]:
                raise shape_error(
                    f"a mask of shape {part.shape} was given for dims {axis} to {axis + part.ndim - 1} of shape "
                    f"{shape}; it must have the shape {shape[axis : axis + part.ndim]}"
                )
            basic += [slice(None)] * part.ndim
            wholes += arrays.now.nonzero(part)
            axis += part.ndim
        else:
            for place in () if getattr(part, "checked_later", False) else extremes(part):
                _check(place, axis, shape)
            basic.append(slice(None))
            wholes.append(part)
            axis += 1
    given = [part.shape for part in wholes if part is not None]
    if not given:
        return tuple(basic), ()
    broadcast(given, "an index")
    while wholes[-1] is None:
        wholes.pop()
    return _shortened(basic), tuple(wholes)


def _shortened(basic: list[Any]) -> tuple[Any, ...]:
    """Without what says nothing."""
    return () if all(part == slice(None) for part in basic) else tuple(basic)


def _axes_taken(part: Any) -> int:
    if part is None or part is ...:
        return 0
    return part.ndim if arrays.now.is_array(part) and arrays.now.dtype_of(part) == BOOL else 1


def _part(part: Any, lone: bool) -> Any:
    """One entry of an index as an int, a slice, None, `...`, or an array of ints or bools.

    An int that is not known yet is an array of no dims, if it is a lone one among what is known.
    """
    if part is None or part is ...:
        return part
    if lone and getattr(part, "many", False):
        if not part.shape and part.dtype == INT64 and (comes_later(part) or comes_later(part.array)):
            return part.array
    elif lone and comes_later(part) and getattr(part, "kind_of_number", None) is int:
        return arrays.now.new(part, INT64)
    if isinstance(part, slice):
        try:
            span = slice(*(x if x is None else operator.index(x) for x in (part.start, part.stop, part.step)))
        except TypeError:
            raise shape_error(f"a slice holds whole numbers, not {part}") from None
        if span.step is not None and span.step <= 0:
            raise shape_error(
                f"a slice goes forwards, and this one has a step of {span.step}; to turn a dim use flip(dim)"
            )
        return span
    if getattr(part, "dtype", None) == BOOL and not part.shape and not comes_later(part):
        return part.array if hasattr(part, "array") else arrays.now.new(bool(part), BOOL)
    if not isinstance(part, bool) and hasattr(type(part), "__index__") and not getattr(part, "shape", ()):
        try:
            return operator.index(part)
        except TypeError:  # a tensor or an array of one float, of which more is said below
            pass
    if isinstance(part, bool):
        raise shape_error(f"{part} alone is no index; a mask has a bool for each place, as in x[x > 0]")
    found = getattr(part, "array", part)
    if isinstance(found, range):
        found = list(found)
    elif not arrays.now.is_array(found) and getattr(getattr(found, "dtype", None), "kind", "") in tuple("iub"):
        found = found.tolist()  # an array of NumPy's, where arrays are Python's own
    if isinstance(found, (list, tuple)):
        found = [x if comes_later(x) else getattr(x, "tolist", lambda x=x: x)() for x in found]
    try:
        if not arrays.now.is_array(found):
            deepest, depth = found, 0
            while isinstance(deepest, list) and deepest:
                deepest, depth = deepest[0], depth + 1
                refuse_depth(depth)
            flat = [found]
            while flat and isinstance(flat[0], list):
                flat = [x for row in flat for x in row]
            found = arrays.now.new(found, BOOL if flat and all(isinstance(x, bool) for x in flat) else INT64)
            if not all(isinstance(x, int) or getattr(x, "kind_of_number", None) is int for x in flat):
                raise TypeError
    except (TypeError, ValueError, OverflowError):
        raise shape_error(
            f"an index holds ints, slices, None, `...`, masks and lists of ints, not {part!r:.60}"
        ) from None
    kind = str(arrays.now.dtype_of(found))
    if not kind.startswith(("int", "uint", "bool")):
        raise shape_error(
            f"an index holds whole numbers or bools, and this one is an array of {kind}; convert it with .long(), or "
            "write the condition, as in x[x > 0]"
        )
    if kind == BOOL:
        return found
    # an array of the caller's may be written to before backward() reads it
    return (
        arrays.now.copy(found)
        if found is part and kind == INT64 and not modes.active
        else arrays.now.cast(found, INT64)
    )


def extremes(part: Any) -> list[int]:
    """The largest and the smallest of an array of ints; nothing of none, or where each call looks at its samples.

    >>> extremes(arrays.now.arange(3))
    [2, 0]
    """
    if not part.size or getattr(part, "checked_at_calls", False):
        return []
    provider = arrays.now
    axes = tuple(range(part.ndim))
    highest = provider.tolist(provider.largest(part, axes, False))
    neg = provider.functions["neg"]
    lowest = provider.tolist(neg(provider.largest(neg(part), axes, False)))
    return [highest, lowest]


def _check(i: int, axis: int, shape: Shape) -> None:
    n = shape[axis]
    if not -n <= i < n:
        there = f"0 to {n - 1}" if n else "none"
        raise shape_error(f"index {i} is out of range in dim {axis} of shape {shape}: there are {there}")
