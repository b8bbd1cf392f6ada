"""Arguments: their structure, which a trace is made for, and their numbers, which are written anew before each call.

Arguments are trees as `tree.py` has it, NumPy arrays of numbers taken whole. A Value among the leaves is a number that
gets a gradient. What is no number (a model, a text, None, a bool) belongs to the structure: texts and the like by what
they say, objects by which they are. A dataclass that holds parameters is a model too.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import is_dataclass
from enum import Enum
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np

from gradwalk import tree
from gradwalk.compile.call.familiar import (
    LONG,
    NUMBERS,
    PYTHONS,
    Nested,
    Record,
    are_plain,
    are_pythons,
    familiar,
    note,
    record_of,
)
from gradwalk.compile.trace.held import attributes_of
from gradwalk.compile.trace.kinds import BOOLS, LARGEST, is_huge
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.whose import is_users_class
from gradwalk.engine import Value
from gradwalk.errors import NotANumberError, SettingError
from gradwalk.node import Node, numbers_of
from gradwalk.ops import number

__all__ = [
    "InputAt",
    "Numbers",
    "classes_in",
    "deep_key_of",
    "is_whole",
    "key_of",
    "stand_ins",
    "static_key",
]

ALL_FLOATS = frozenset((float,))
SEQUENCES = frozenset((list, tuple))
TEXT = {str}
FLOAT, NDARRAY = np.dtype(float), np.ndarray
#: What is passed as it is; of bools, `flag is True` cannot be asked of a stand-in.
TEXTS = (str, bytes, type(None), type(Ellipsis), slice, range, *BOOLS)

#: What a class may have of its own without computing in another way.
OF_EVERY_CLASS = frozenset((*dir(object()), "__init__", "__module__", "__dict__", "__weakref__", "__slots__")) - {
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__getattribute__",
}  # fmt: skip

Key = Any  # hashable; equal keys mean equal structures


class Numbers:
    """The numbers of one call in a fixed order: first those that stand alone or in lists, then arrays.

    >>> found = Numbers()
    >>> key_of([[1.0, 2.0], [3.0, 4.0]], found)
    (<class 'list'>, 2, <class 'list'>, 2)
    >>> found.plain
    [1.0, 2.0, 3.0, 4.0]
    """

    # What most calls have none of stands in the class: an object is made at every call.
    careful = False  # look at every number of a list, not only at its ends; and keep all in `plain`
    pieces: Any = ()  # those before `plain`: long lists, which are the caller's own, and what stands between them
    ahead = 0  # how many numbers are in these
    plain: Any = ()  # a list, once there are some
    arrays: Any = ()
    values: Any = ()  # Values among the plain ones, with their positions
    tensors: tuple[tuple[int, Any], ...] = ()  # whose arrays are among the arrays, with their positions there
    places: Any = ()  # of the Values among the plain ones, by their id()
    kept: tuple[Any, ...] = ()  # objects that are known by their identity, and so must live on
    ints = False  # whether there are lists of which only the ends were looked at, and are ints
    checked = True  # whether Python has looked at the shapes of the arrays; those of familiar ones native code looks at

    def __init__(self, careful: bool = False) -> None:
        self.plain = []
        if careful:
            self.careful = True

    def add_list(self, xs: Any) -> None:
        """All numbers of a list.

        >>> found = Numbers()
        >>> found.add_list([1.0] * 100)
        >>> found.plain, found.count()
        ([], 100)
        """
        if self.careful or len(xs) < LONG:
            self.plain += xs
            return
        if not self.pieces:
            self.pieces = []
        if self.plain:
            self.pieces.append(self.plain)
            self.ahead += len(self.plain)
            self.plain = []
        self.pieces.append(xs)
        self.ahead += len(xs)

    def count(self) -> int:
        """How many numbers stand alone or in lists."""
        return self.ahead + len(self.plain)

    def in_order(self) -> list[Any]:
        """All of these."""
        return [*chain.from_iterable(self.pieces), *self.plain] if self.pieces else self.plain


class Runs:
    """Values in lists, with their positions: as a list of pairs, which would be made at every call.

    >>> runs = Runs()
    >>> runs.add("ab", 5), runs.add("c", 9), list(runs)
    (True, True, [(5, 'a'), (6, 'b'), (9, 'c')])
    >>> runs.add("db", 12), len(runs)
    (False, 3)
    """

    __slots__ = ("parts", "seen")

    def __init__(self) -> None:
        self.parts: list[tuple[Any, int]] = []
        self.seen: set[Any] = set()

    def add(self, values: Any, first: int) -> bool:
        """Add those of one list, if all are others than those before."""
        found = set(values)
        if len(found) < len(values) or not self.seen.isdisjoint(found):
            return False
        self.seen |= found
        self.parts.append((tuple(values), first))  # the list may change before a walk back
        return True

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        return chain.from_iterable([enumerate(values, first) for values, first in self.parts])

    def __len__(self) -> int:
        return len(self.seen)


def key_of(x: Any, found: Numbers) -> Key:
    """The structure of an argument; its numbers are added to `found`. What most calls have is known at a glance.

    >>> key_of([1.0, 2.0], Numbers()) == key_of([3.0, 4], Numbers())
    True
    >>> key_of([1.0, 2.0], Numbers()) == key_of([3.0], Numbers())
    False
    """
    kind = x.__class__
    if kind is NDARRAY:
        shape, dtype = x.shape, x.dtype
        if dtype is FLOAT and shape:  # the one that most have is known at a glance
            found.arrays += (x,)
            return shape
        if shape and dtype.kind in "biuf":
            found.arrays += (x,)
            return shape if dtype.char == "d" else (shape, dtype.char)
        if dtype.kind == "O":
            return kind, shape, tuple([key_of(part, found) for part in x.ravel().tolist()])
        return _key_of_other(x, found)
    way = _ways.get(kind, OTHER)
    if way == PLAIN:
        if kind is int and not -LARGEST < x < LARGEST:  # as it is: a float cannot hold it
            return "is", kind, x
        found.plain.append(x)
        return 0
    if way == SEQUENCE:
        if x and x[0].__class__ is int is x[-1].__class__ and len(x) < LONG and not found.careful:  # as below
            found.ints = True
            found.plain += x
            return kind, len(x)
        if _seem_numbers(x, found):
            found.add_list(x)
            first = x[0].__class__ if x else float
            return (kind, len(x)) if first in PYTHONS else (kind, len(x), first)
        return _key_of_nested(x, kind, found)
    if way >= OBJECT:
        if way == OBJECT or id(x) in _models:
            found.kept += (x,)
            return "same", id(x)
    elif way == DICT:
        keys: Key = tuple(x)
        if {*map(type, keys)} != TEXT:  # 1, 1.0 and True are three keys
            keys = tuple([(key.__class__, key, *_sign(key)) for key in keys])
        parts = [*x.values()]
        if are_pythons(parts):
            found.plain += parts
            return kind, keys, len(parts)
        return kind, keys, tuple([key_of(part, found) for part in parts])
    elif way == TENSOR:
        array = x._data if x._lent is None else x.array
        found.tensors += ((len(found.arrays), x),)
        found.arrays += (array,)
        try:
            return kind, array.shape, array.dtype.char, x._flows
        except AttributeError:  # its arrays are not NumPy's
            return _key_of_tensor(x, found)
    elif way == TUPLE:
        return kind, tuple([key_of(part, found) for part in x])
    elif way == TEXT_LIKE:
        return "is", kind, x
    elif way == RECORD:
        record = _records[kind]
        parts = record.numbers(x)
        if parts is None or id(x) in _models:
            return _key_of_other(x, found)
        found.plain += parts
        return record.key
    else:
        found.plain.append(x)
        return kind  # arithmetic of NumPy's numbers is another at the edges
    return _key_of_other(x, found)


def _key_of_nested(x: Any, kind: Any, found: Numbers) -> Key:
    """The structure of a list of other things than numbers."""
    if found.careful:
        return _key_of_items(x, kind, found)
    known = familiar(x)
    if known is not None:
        found.add_list(known[1])
        return known[0]
    key = _key_of_items(x, kind, found)
    note(x, key, lambda: _key_of_items(x, kind, Numbers(careful=True)))
    return key


def _key_of_items(x: Any, kind: Any, found: Numbers) -> Key:
    kinds = set(map(type, x))
    if kinds == {Value} and (not found.values or found.values.__class__ is Runs):
        numbers, runs = numbers_of(x), found.values or Runs()
        if (not found.careful or ALL_FLOATS.issuperset(map(type, numbers))) and runs.add(x, found.count()):
            found.values = runs
            found.add_list(numbers)
            return kind, len(x), "Values"
    if kinds == {NDARRAY} and all(row.shape and row.dtype is FLOAT for row in x):
        found.arrays += (*x,)
        return Nested((kind, tuple([row.shape for row in x])))
    if len(kinds) == 1 and kinds <= SEQUENCES and len(set(map(len, x))) == 1:  # rows, all as long
        flat = list(chain.from_iterable(x))
        if flat and _seem_numbers(flat, found):
            found.add_list(flat)
            first = flat[0].__class__
            return kind, len(x), *kinds, len(x[0]), *(() if first in PYTHONS else (first,))
    return Nested((kind, tuple([key_of(part, found) for part in x])))


def _seem_numbers(x: Any, found: Numbers) -> bool:
    """Whether a list holds numbers. Short ones are looked through; of others the ends: the rest when it is read."""
    if found.careful:
        return are_plain(x)
    if not x:
        return True
    first = x[0].__class__
    if first not in NUMBERS or x[-1].__class__ not in NUMBERS:
        return False
    if first is int:  # an index, most likely, for which any number that is in range will do
        found.ints = True
        return True
    return are_plain(x) if len(x) < LONG or first is not float else True


def _key_of_other(x: Any, found: Numbers) -> Key:
    kind = x.__class__
    if getattr(kind, "many", False):
        return _key_of_tensor(x, found)
    if has_own_rules(kind) or has_attributes(x):
        found.kept += (x,)
        return "same", id(x)
    if isinstance(x, Value):
        if not found.values:
            found.values, found.places = [], {}
        elif not found.places:
            found.values = list(found.values)
            found.places = {id(v): place for place, v in found.values}
        place = found.count()
        first = found.places.setdefault(id(x), place)
        found.values.append((place, x))
        data = x.data
        found.plain.append(data)
        if first != place:
            return "Value", first  # the same one again
        return "Value" if data.__class__ is float else ("Value", data.__class__)
    if isinstance(x, (slice, range)):  # the one has no hash in every Python; others are equal that start elsewhere
        return "is", kind, x.start, x.stop, x.step, type(x.start), type(x.stop)
    if isinstance(x, TEXTS):
        return "is", kind, x
    if tree.is_number(x):
        as_float = number(x)  # which raises if no float can hold it
        if kind is np.ndarray:  # which may change
            return "array", key_of(x[()], found)
        found.plain.append(as_float if hasattr(x, "ndim") else x)  # an array may change
        return 0 if isinstance(x, (int, float)) else kind
    if tree.is_container(x):
        if isinstance(x, tuple) and not kind.__dictoffset__:  # a named one, as a rule
            if len(_ways) < 1000:
                _ways[kind] = TUPLE
            return kind, tuple([key_of(part, found) for part in x])
        if not is_whole(x):
            key = deep_key_of(x, found)
            if len(_ways) < 1000 and (record := record_of(x, key)) is not None:
                _records[kind], _ways[kind] = record, RECORD
            return key
    if kind is np.ndarray:
        raise NotANumberError(f"an array of {x.dtype} holds no real numbers; compiled functions take ints and floats")
    if why := tree.refusal(x):
        raise SettingError(why)
    found.kept += (x,)
    if len(_ways) < 1000 and not isinstance(x, (set, frozenset)) and not is_dataclass(kind):
        _ways[kind] = OBJECT
    return "same", id(x)


@cache
def has_own_rules(kind: Any) -> bool:
    """Whether it is a class of numbers that compute in a way of their own, as no stand-in for them would.

    >>> class Metres(float):
    ...     unit = "m"
    >>> class Hours(float):
    ...     def __add__(self, other): return Hours((float(self) + other) % 24)
    >>> has_own_rules(Metres), has_own_rules(Hours), has_own_rules(np.float64), has_own_rules(bool)
    (False, True, False, False)
    """
    if kind in NUMBERS or kind in BOOLS or not issubclass(kind, (int, float, Value)) or issubclass(kind, Enum):
        return False
    if kind.__module__ == "gradwalk.compile.call.results":  # which are stood in for as Values are
        return False
    theirs = next(base for base in kind.__mro__ if base in (int, float, Value))
    own = {name for base in kind.__mro__[: kind.__mro__.index(theirs)] for name in vars(base)}
    return not OF_EVERY_CLASS.issuperset(own & {*dir(theirs)})


def has_attributes(x: Any) -> bool:
    """Whether it is a number or a text with attributes of its own, as one of a class of the user's can have.

    >>> class Metres(float): ...
    >>> length = Metres(2.0)
    >>> before, length.unit = has_attributes(length), "m"
    >>> before, has_attributes(length)
    (False, True)
    """
    named = type(x).__dictoffset__ and isinstance(x, (int, float, str, bytes)) and not isinstance(x, Enum)
    return bool(named and attributes_of(x))


def _key_of_tensor(x: Any, found: Numbers) -> Key:
    kind, array = x.__class__, x.array
    if type(array) is not np.ndarray:
        raise SettingError(
            "compiled functions take tensors of NumPy's arrays; make them outside using_arrays('python')"
        )
    if kind.__module__ == "gradwalk.tensor.core":
        _ways[kind] = TENSOR
    found.tensors += ((len(found.arrays), x),)
    found.arrays += (array,)
    return kind, array.shape, array.dtype.char, x.requires_grad


def deep_key_of(x: Any, found: Numbers) -> Key:
    """As `key_of`, for any tree of any depth, and not as quick."""
    leaves, structure = tree.flatten(x, is_whole)
    return structure, tuple([key_of(leaf, found) for leaf in leaves])


def is_whole(x: Any) -> bool:
    """Whether `x` is taken as one thing: an array of numbers, or a dataclass with what may be parameters.

    These are nodes that nothing has computed, and that gradient flows to.

    >>> from dataclasses import make_dataclass
    >>> Line = make_dataclass("Line", ["w", "b"])
    >>> is_whole(Line(Value(1.0), 0.0)), is_whole(Line(1.0, 0.0)), is_whole(Line(Value(1.0) * 2, 0.0))
    (True, False, False)
    """
    if tree.is_block(x) or id(x) in _models:
        return True
    if not is_dataclass(x.__class__):
        return False
    nodes: list[Any] = [leaf for leaf in tree.flatten(x, tree.is_block)[0] if isinstance(leaf, Node)]
    values = [v for v in nodes if not v.many or v.requires_grad]
    if not values or not all(v.is_leaf and v.closure is None for v in values):  # compiled results have a closure
        return False
    kind: Any = type(x)
    if kind.__weakrefoffset__:  # then it is known from now on
        _models[id(x)] = weakref.ref(x, partial(_forget, id(x)))
    return True


def _forget(key: int, _: Any) -> None:
    _models.pop(key, None)


_models: dict[int, Any] = {}  # dataclasses that were found to be whole, for as long as they live

#: What is known at a glance of an argument of some class.
PLAIN, NUMPYS, SEQUENCE, DICT, TUPLE, TENSOR, TEXT_LIKE, RECORD, OBJECT, OTHER = range(10)
_ways: dict[type, int] = {
    **dict.fromkeys(NUMBERS, NUMPYS), **dict.fromkeys(PYTHONS, PLAIN), **dict.fromkeys(SEQUENCES, SEQUENCE),
    **dict.fromkeys((str, bytes, bool, type(None)), TEXT_LIKE), dict: DICT,
}  # fmt: skip
# … and from later on: classes that were found to be tuples and nothing else (TUPLE), and those whose objects were found
# to be known by their identity (OBJECT); that of tensors (TENSOR), and dataclasses of numbers (RECORD).
_records: dict[type, Record] = {}


def static_key(name: str, x: Any) -> Key:
    """The key of an argument that was declared static: what it is equal to; a dataclass, what it holds."""
    leaves, structure = tree.flatten(x) if is_dataclass(x) else ([x], None)
    key = "static", structure, *[(leaf.__class__, leaf, *_sign(leaf)) for leaf in leaves]
    try:
        hash(key)
    except TypeError:
        raise SettingError(
            f"the static argument {name!r} is a {type(x).__name__}, which can change under our hands; give something "
            "that can be a key of a dict: a number, a text, a tuple"
        ) from None
    return key


def _sign(x: Any) -> tuple[str, ...]:
    """What tells 0.0 and -0.0 apart, also in a tuple, and 1, 1.0 and True."""
    return (repr(x),) if isinstance(x, (float, tuple)) else ()


def classes_in(x: Any) -> list[type]:
    """The classes of the user's that arguments are of, whose methods a function can call.

    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", ["x"])
    >>> [kind.__name__ for kind in classes_in([Point(1.0), {"at": Point(2.0)}])]
    ['Point']
    """
    leaves, structure = tree.flatten(x, is_whole)
    kinds = dict.fromkeys(token[0] for token in structure.tokens if token is not None)
    kinds |= dict.fromkeys(type(leaf) for leaf in leaves if not is_whole(leaf))
    return [*filter(is_users_class, kinds)]


def stand_ins(x: Any, plain: Iterator[Any], arrays: Iterator[Any]) -> Any:
    """`x` with the next of these for each of its numbers and arrays of numbers, in the order of `key_of`.

    >>> stand_ins([1.0, {"a": (2.0, "text")}], iter("xy"), iter(""))
    ['x', {'a': ('y', 'text')}]
    """

    def stand_in(leaf: Any) -> Any:
        kind: Any = leaf.__class__
        if kind in BOOLS or is_huge(leaf) or has_own_rules(kind) or has_attributes(leaf):
            return leaf
        if getattr(kind, "many", False):
            return next(arrays)
        if kind is NDARRAY and not leaf.ndim and leaf.dtype != object:
            x = next(plain)
            return x.as_cell() if isinstance(x, Number) else x
        return next(plain) if tree.is_number(leaf) else next(arrays) if tree.is_block(leaf) else leaf

    return tree.map(stand_in, x, leaf=is_whole)


class InputAt:
    """Where an argument's number stands among the inputs."""

    __slots__ = ("position", "shape")

    def __init__(self, position: int, shape: tuple[int, ...] | None = None) -> None:
        self.position = position
        self.shape = shape  # of an array
