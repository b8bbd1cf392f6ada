"""Arguments: their structure, which a trace is made for, and their numbers, which are written anew before each call.

Numbers may stand alone, in lists, tuples and dicts, nested as you like, and in NumPy arrays. A Value among the
arguments is a number that gets a gradient. Everything else (a model, a text, None) belongs to the structure: texts and
the like by what they say, objects by which they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from gradwalk.engine import Value
from gradwalk.errors import NotANumberError, SettingError
from gradwalk.ops import number

__all__ = ["Numbers", "Stand", "key_of", "stand_ins"]

NUMBERS = frozenset((float, int, bool, *(np.dtype(code).type for code in "?bhilqBHILQefd")))
SEQUENCES = frozenset((list, tuple))
TEXTS = (str, bytes, type(None), type(Ellipsis), slice)

Key = Any  # hashable; equal keys mean equal structures
Stand = Callable[[], Any]  # makes a stand-in for the next number


class Numbers:
    """The numbers of one call in a fixed order: first those that stand alone or in lists, then arrays.

    >>> from gradwalk.compile.call.arguments import Numbers, key_of
    >>> found = Numbers()
    >>> key_of([[1.0, 2.0], 3], found)
    (<class 'list'>, ((<class 'list'>, 2), 0))
    >>> found.plain
    [1.0, 2.0, 3]
    """

    # What most calls have none of stands in the class: an object is made at every call.
    careful = False  # look at every number of a list, not only at its ends
    arrays: tuple[Any, ...] = ()
    values: tuple[tuple[int, Value], ...] = ()  # Values among the plain ones, with their positions
    kept: tuple[Any, ...] = ()  # objects that are known by their identity, and so must live on

    def __init__(self) -> None:
        self.plain: list[Any] = []


def key_of(x: Any, found: Numbers) -> Key:
    """The structure of an argument; its numbers are added to `found`.

    >>> from gradwalk.compile.call.arguments import Numbers, key_of
    >>> key_of([1.0, 2.0], Numbers()) == key_of([3.0, 4], Numbers())
    True
    >>> key_of([1.0, 2.0], Numbers()) == key_of([3.0], Numbers())
    False
    """
    kind = x.__class__
    if kind is np.ndarray:
        return _key_of_array(x, found)
    if kind in NUMBERS:
        found.plain.append(x)
        return 0
    if kind in SEQUENCES:
        if _seem_numbers(x, found.careful):
            found.plain += x
            return kind, len(x)
        kinds = set(map(type, x))
        if len(kinds) == 1 and kinds <= SEQUENCES and len(set(map(len, x))) == 1:  # rows, all as long
            flat = list(chain.from_iterable(x))
            if flat and _seem_numbers(flat, found.careful):
                found.plain += flat
                return kind, len(x), *kinds, len(x[0])
        return kind, tuple([key_of(part, found) for part in x])
    if kind in _objects:
        found.kept += (x,)
        return "same", id(x)
    return _key_of_other(x, found)


def _seem_numbers(x: Any, careful: bool) -> bool:
    """Whether a list holds numbers. Judged by its ends at first: if one in between is none, writing it will fail."""
    if careful:
        return set(map(type, x)) <= NUMBERS
    return not x or (x[0].__class__ in NUMBERS and x[-1].__class__ in NUMBERS)


def _key_of_array(x: Any, found: Numbers) -> Key:
    shape = x.shape
    if not shape:
        found.plain.append(number(x))
        return 0
    if x.dtype.kind in "biuf":
        found.arrays += (x,)
        return shape
    if x.dtype == object:
        return "objects", shape, tuple([key_of(part, found) for part in x.ravel().tolist()])
    raise NotANumberError(f"an array of {x.dtype} holds no real numbers; compiled functions take ints and floats")


def _key_of_other(x: Any, found: Numbers) -> Key:
    if isinstance(x, Value):
        found.values += ((len(found.plain), x),)
        found.plain.append(x.data)
        return "Value"
    if isinstance(x, dict):
        return "dict", x.__class__, tuple(x), tuple([key_of(part, found) for part in x.values()])
    if isinstance(x, (list, tuple)):
        return x.__class__, tuple([key_of(part, found) for part in x])
    if getattr(x, "ndim", None) == 0 and hasattr(x, "dtype"):
        found.plain.append(number(x))
        return 0
    if isinstance(x, TEXTS):
        return "is", x.__class__, x
    if isinstance(x, (set, frozenset)):
        raise SettingError("a set has no order, so a compiled function cannot take one; give a sorted list")
    if len(_objects) < 1000:
        _objects.add(x.__class__)
    found.kept += (x,)
    return "same", id(x)


_objects: set[type] = set()  # classes whose objects were found to be known by their identity


def static_key(name: str, x: Any) -> Key:
    """The key of an argument that was declared static: what it is equal to."""
    try:
        hash(x)
    except TypeError:
        raise SettingError(
            f"the static argument {name!r} is a {type(x).__name__}, which can change under our hands; give something "
            "that can be a key of a dict: a number, a text, a tuple"
        ) from None
    return "static", x.__class__, x


def stand_ins(x: Any, plain: Stand, array: Callable[[Any], Any], value: Stand) -> Any:
    """`x` with stand-ins for its numbers, made in the order of `key_of`; arrays become arrays of stand-ins.

    >>> from itertools import count
    >>> from gradwalk.compile.call.arguments import stand_ins
    >>> stand_ins([1.0, {"a": (2.0, "text")}], count().__next__, None, None)
    [0, {'a': (1, 'text')}]
    """
    if isinstance(x, Value):
        return value()
    if x.__class__ in NUMBERS or (getattr(x, "ndim", None) == 0 and hasattr(x, "dtype")):
        return plain()
    if isinstance(x, np.ndarray):
        if x.dtype != object:
            return array(x)
        out = np.empty(x.shape, object)
        out.ravel()[:] = [stand_ins(part, plain, array, value) for part in x.ravel().tolist()]
        return out
    if isinstance(x, dict):
        parts = {key: stand_ins(part, plain, array, value) for key, part in x.items()}
        return parts if x.__class__ is dict else type(x)(parts)
    if isinstance(x, (list, tuple)):
        made: Sequence[Any] = [stand_ins(part, plain, array, value) for part in x]
        return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
    return x
