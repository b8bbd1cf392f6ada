"""Lists, tuples, numbers and NumPy's arrays as native code can read them: in which words of memory their parts stand.

A list or a number of CPython's is a few words of memory, and `id()` tells where. That these mean what is written here
is tried out before anybody relies on it; where they do not, lists and arrays are looked at in Python.
"""

from __future__ import annotations

import ctypes
import sys
import types
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np

from gradwalk import modes
from gradwalk.compile.native import objects
from gradwalk.engine import Value
from gradwalk.turns import Turn

__all__ = [
    "ITEMS",
    "LENGTH",
    "OTHERS",
    "READ",
    "UNREAD",
    "VERSION",
    "Described",
    "LeafReader",
    "NumberReader",
    "address_in",
    "address_of",
    "are_readable",
    "array_of_all",
    "describe",
    "fetching",
    "flat",
    "rows",
    "version_of",
    "versions_are_readable",
]  # fmt: skip

LIST, LENGTH, ITEMS = 5, 2, 3  # words of a list; which say how long it is, and where its items are
VERSION = 3  # which word of a dict is another one after every change, in some versions of Python
OWN_DICT = 1 << 4  # a flag of a class: where the dict of an object is stands three words before it
FLOAT, CLASS, NUMBER = 3, 1, 2  # words of a float; which say what it is, and its number
SIZE, DIGITS = 2, 3  # words of an int: how many digits it has, and the first of these
DATA, DIMS, LENGTHS, DISTANCES, DTYPE = 2, 3, 4, 5, 7  # words of an array; how many dims is said by half a word


@cache
def are_readable() -> bool:
    """Whether this Python's lists and floats are what is written here.

    >>> are_readable()
    True
    """
    word: Any = ctypes.c_int64
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if (list.__basicsize__, float.__basicsize__) != (8 * LIST, 8 * FLOAT):
        return False
    things = [1.5, -2.5, object()]
    words, number = (word * LIST).from_address(id(things)), (word * FLOAT).from_address(id(things[0]))
    if words[LENGTH] != 3 or [*(word * 3).from_address(words[ITEMS])] != [*map(id, things)]:
        return False
    return number[CLASS] == id(float) and ctypes.c_double.from_address(id(things[0]) + 8 * NUMBER).value == 1.5


def version_of(thing: dict[Any, Any]) -> int:
    """A number that is another one after every change of a dict, where there is one.

    >>> settings = {"lam": 7}
    >>> before = version_of(settings)
    >>> settings["lam"] = 7.0
    >>> version_of(settings) != before or not versions_are_readable()
    True
    """
    return int(ctypes.c_int64.from_address(id(thing) + 8 * VERSION).value)


def address_in(thing: Any, held: Any) -> int:
    """Where in memory a thing says that it holds another, if one word of it does; else 0.

    >>> f = lambda: 0
    >>> address_in(f, f.__code__) > id(f), address_in(f, 0.5)
    (True, 0)
    """
    kind = type(thing)
    before = 3 if kind.__flags__ & OWN_DICT else 0
    start, size = id(thing) - 8 * before, before + kind.__basicsize__ // 8
    words = [*(ctypes.c_int64 * size).from_address(start)]
    return start + 8 * words.index(id(held)) if words.count(id(held)) == 1 else 0


@cache
def versions_are_readable() -> bool:
    """Whether dicts, attributes of objects too, have such a number: those of Python 3.11 and 3.12 do.

    In Python 3.13 setting an attribute may leave it as it was, and since 3.14 there is none.

    >>> versions_are_readable() == (sys.version_info < (3, 13))
    True
    """
    if not are_readable():
        return False
    things: list[Any] = [types.SimpleNamespace(k=0.0), _Thing()]
    seen = set()
    for i in range(100):  # Python sets attributes in other ways once it has done so often
        for thing in things:
            held = thing.__dict__
            before = version_of(held)
            thing.k = float(i)
            seen.add(version_of(held) != before)
            before = version_of(held)
            held["k"] = -thing.k
            seen.add(version_of(held) != before)
            before = version_of(held)
            seen.add(thing.k == -i and version_of(held) == before)
    return seen == {True}


class _Thing:
    k: Any = None


@cache
def _words_of_ints() -> list[int]:
    """The class of ints; in which word of one its size stands, and its digits; which bits of a size matter; sizes.

    The sizes are those of 0, and of ints of one and two digits, above and below 0. Without a class, none can be read.
    """
    word: Any = ctypes.c_int64
    matters = -1 if sys.version_info < (3, 12) else ~4  # since 3.14 that bit says that an int lives for ever

    def size_of(x: int) -> int:
        return int(word.from_address(id(x) + 8 * SIZE).value) & matters

    sizes = [size_of(x) for x in (0, 5, 5 << 30, -5, -5 << 30)]
    for x in (1, 255, 12345, 2**30 - 1, 2**30, 2**40 + 3, 2**53 - 1, 2**59):
        for at, signed in ((1, x), (3, -x)):
            low, high = (ctypes.c_uint32 * 2).from_address(id(signed) + 8 * DIGITS)
            two = x >= 2**30
            if size_of(signed) != sizes[at + two] or low + (high << 30 if two else 0) != x:
                return [0] * 9
    readable = sys.int_info.bits_per_digit == 30 and len(set(sizes)) == len(sizes)
    return [id(int) if readable else 0, SIZE, DIGITS, matters, *sizes]


UNREAD, READ, OTHERS = range(3)


#: Things of these classes are told by which they are, in lists that native code reads.
SAME = frozenset((bool, str, bytes, type(None)))


def describe(x: Any) -> Described | None:
    """How lists and tuples stand in each other, with numbers and other things; None if there are some it cannot tell.

    >>> describe([[1.0, 2], ["a", None]]).count, describe([{"a": 1.0}])
    (2, None)
    """
    lists: list[tuple[int, int, Any]] = [(0, 0, x)]  # in which list each stands, and where
    same: list[tuple[int, int, Any]] = []
    runs: list[list[int]] = []  # of numbers: in which list, where they begin, how many
    inside = [(0, enumerate(x))]
    while inside:
        here, parts = inside[-1]
        for i, part in parts:
            kind = part.__class__
            if kind is float or (kind is int and abs(part) < 2**53):
                if runs and runs[-1][0] == here and sum(runs[-1][1:]) == i:
                    runs[-1][2] += 1
                else:
                    runs.append([here, i, 1])
            elif kind in SAME:
                same.append((here, i, part))
            elif kind is list or (issubclass(kind, tuple) and not kind.__dictoffset__):
                inside.append((len(lists), enumerate(part)))
                lists.append((here, i, part))
                break
            else:
                return None
        else:
            inside.pop()
    return Described(lists, same, runs)


class Described:
    """Lists and tuples in each other, and what is in them: for native code to tell and to read others alike.

    What is no number must be the same object.

    >>> two = describe([([1.5, 2], "a"), ([2.5, 3], "a")])
    >>> two.fits([([3, 4.5], "a"), ([0.5, 7], "a")]), two.fits([([3, 4.5], "a"), ([0.5, 7], "b")])
    (True, False)
    """

    def __init__(self, lists: Any, same: Any, runs: list[list[int]]) -> None:
        self.count = sum(run[2] for run in runs)
        self._room = np.zeros(len(lists), np.int64)
        self._held = [part for *_, part in same], {part.__class__ for *_, part in lists}  # whose addresses are told
        words = [len(lists), len(same), len(runs), self._room.ctypes.data]
        for here, i, part in lists:
            words += [here, i, id(part.__class__), part.__class__ is list, len(part)]
        for here, i, part in same:
            words += [here, i, id(part)]
        self._words = np.array([*words, *chain.from_iterable(runs)], np.int64)
        self.address = self._words.ctypes.data

    def fits(self, x: Any) -> bool:
        """Whether something is so; where numbers belong, anything may stand, until it is read."""
        return _looker().read(x, self, 0) == READ


class NumberReader:
    """Reads lists and tuples of Python's numbers into one array, at places of it; without one it only looks.

    It may know of which class each number must be (by `id()`, 0 if any will do), and how large at most (below 0, if any
    is right).

    >>> numbers = np.zeros(4)
    >>> reader, two = NumberReader(numbers), flat(list, 2)
    >>> reader.read([1.5, 2], two, 1) == READ, numbers.tolist()
    (True, [0.0, 1.5, 2.0, 0.0])
    >>> reader.read([1.5, True], two, 0) == UNREAD
    True
    >>> strict = NumberReader(numbers, np.array([id(int), 0, 0, 0]), np.full(4, -1.0))
    >>> strict.read([1.5, 2], two, 0) == OTHERS
    True
    """

    def __init__(self, numbers: Any = None, classes: Any = None, limits: Any = None) -> None:
        self.numbers, self._asked = numbers, (classes, limits)
        self._starts = [0 if x is None else x.ctypes.data for x in (numbers, classes, limits)]
        layout = [CLASS, LENGTH, ITEMS, tuple.__basicsize__ // 8, id(float), NUMBER, *_words_of_ints()]
        table = np.array([0] * 6 + layout, np.int64)
        self._table = table.data
        self._one_at_a_time = Turn()
        self._read: Any = None
        if are_readable():
            self._read = objects.bound(objects.fixed("native.lists", "read"), table.ctypes.data, locked=True)

    def read(self, xs: Any, described: Described, at: int) -> int:
        """Read what is described so: READ, UNREAD if it is not so, or OTHERS than the numbers must be."""
        numbers, classes, limits = self._starts
        if classes:
            return self.read_to(xs, described, (numbers + 8 * at, classes + 8 * at, limits + 8 * at))
        return self.read_to(xs, described, (numbers and numbers + 8 * at, 0, 0))

    def read_to(self, xs: Any, described: Described, places: tuple[int, int, int]) -> int:
        """The same to places in memory: of the numbers, of their classes and of how large they may be."""
        if self._read is None:
            return UNREAD
        table = self._table
        with self._one_at_a_time:
            table[1], table[2] = id(xs), described.address
            table[3], table[4], table[5] = places
            self._read()
            return table[0]


@cache
def _looker() -> NumberReader:
    return NumberReader()


@lru_cache(1024)
def flat(kind: Any, count: int) -> Described:
    """What describes a list, or a tuple, of so many numbers.

    >>> flat(tuple, 3).fits((1.0, 2.0, 3)), flat(tuple, 3).fits([1.0, 2.0, 3])
    (True, False)
    """
    return Described([(0, 0, kind(range(count)))], [], [[0, 0, count]])


@lru_cache(8)  # what describes many rows is large
def rows(count: int, kind: Any, width: int) -> Described:
    """What describes a list of so many lists, or tuples, of so many numbers.

    >>> rows(2, tuple, 3).fits([(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)])
    True
    """
    row, places = kind(range(width)), range(count)
    lists = [(0, 0, [None] * count), *[(0, i, row) for i in places]]
    return Described(lists, [], [[i + 1, 0, width] for i in places])


@lru_cache(8)
def _all_of(kind: Any, count: int) -> tuple[Any, tuple[int, int]]:
    """What says that so many numbers are of one class, and where it lies."""
    asked = np.full(count, id(kind)), np.full(count, -1.0)
    return asked, (asked[0].ctypes.data, asked[1].ctypes.data)


def array_of_all(xs: Any, kind: Any) -> Any:
    """An array of a list of floats (or of ints), or of a list of rows of these; None if it holds anything else.

    >>> array_of_all([[1.5, 2.5], [3.5, 4.5]], float)
    array([[1.5, 2.5],
           [3.5, 4.5]])
    >>> array_of_all([1, 2], int), array_of_all([1, 2.5], int)
    (array([1, 2]), None)
    """
    first, count = xs[0], len(xs)
    alone = first.__class__ is kind
    described = flat(list, count) if alone else rows(count, first.__class__, len(first))
    numbers = np.empty(described.count)
    places = numbers.ctypes.data, *_all_of(kind, described.count)[1]
    if _looker().read_to(xs, described, places) != READ:
        return None
    return numbers.astype(kind, copy=False).reshape((count,) if alone else (count, len(first)))


@cache
def _words_of_nodes() -> dict[str, int]:
    """In which word of a node each of these fields stands; none, if they are not found."""
    return _words_at(object.__new__(Value), dict(zip(("_data", "_grad", "_kind"), (1.0, 2.0, 3.0), strict=True)))


def _words_at(thing: Any, marks: dict[str, Any]) -> dict[str, int]:
    """In which word of a thing each attribute stands, told by these marks; none, if they are not found."""
    found = {}
    for name, mark in marks.items():
        setattr(thing, name, mark)
        found[name] = (address_in(thing, mark) - id(thing)) // 8
    return found if min(found.values()) > 0 else {}


@cache
def _words_of(kind: Any) -> dict[str, int]:
    """In which word of a function, or of a tensor, these attributes stand; none for other things."""
    if kind is types.FunctionType:
        return _words_at(lambda: 0, {"__name__": "its name", "__qualname__": "its longer name"})
    own = getattr(kind, "many", False) is True and isinstance(kind._flows, types.MemberDescriptorType)  # a slot
    return _words_at(object.__new__(kind), {"_flows": 1.0}) if own else {}


def address_of(thing: Any, name: str) -> int:
    """Where in memory it stands which attribute a function or a tensor has by this name; 0 if that is not known.

    >>> f, t = lambda: 0, gradwalk.Tensor([1.0, 2.0])
    >>> f.__name__ = "another name"
    >>> address_of(f, "__name__") == address_in(f, f.__name__), address_of(f, "scale"), address_of(t, "_flows") > id(t)
    (True, 0, True)
    """
    kind: Any = type(thing)
    word = _words_of(kind).get(name, 0)
    return id(thing) + 8 * word if word else 0


class LeafReader:
    """Reads one field of many leaves, if they are plain ones and these are floats.

    >>> w = Value(1.5)
    >>> reader = LeafReader([w, Value(2.5)])
    >>> reader.read("_data"), reader.numbers.tolist()
    (True, [1.5, 2.5])
    >>> w.grad = 1
    >>> reader.read("_data"), reader.read("_grad")
    (True, False)
    """

    def __init__(self, leaves: list[Any]) -> None:
        self.leaves, self._ids = leaves, np.array([*map(id, leaves)], np.int64)
        self.numbers = np.zeros(len(leaves))
        words, addresses = (
            _words_of_nodes() if are_readable() else {},
            (self._ids.ctypes.data, self.numbers.ctypes.data),
        )
        self._read: dict[str, tuple[Any, Any]] = {}
        for field in ("_data", "_grad") if words else ():
            layout = [words[field], words["_kind"], id(None), CLASS, NUMBER, id(float)]
            table = np.array([0, len(leaves), *addresses, *layout], np.int64)
            native = objects.fixed("native.lists", "read_leaves")
            self._read[field] = objects.bound(native, table.ctypes.data, locked=True), table.data

    def read(self, field: str) -> bool:
        """Read into `numbers`; False if some are no plain leaves, or no floats, or elsewhere, or somebody watches."""
        if modes.active or not self._read:
            return False
        read, answer = self._read[field]
        read()
        return bool(answer[0])


@cache
def arrays_are_readable() -> bool:
    """Whether NumPy's arrays are what is written here.

    >>> arrays_are_readable()
    True
    """
    word: Any = ctypes.c_int64
    if not are_readable() or np.ndarray.__basicsize__ < 8 * (DTYPE + 1):
        return False
    for x in (np.arange(6.0).reshape(2, 3), np.arange(24, dtype=np.int32).reshape(2, 3, 4)[:, ::2]):
        words = (word * (DTYPE + 1)).from_address(id(x))
        if [words[CLASS], words[DATA], words[DTYPE]] != [id(type(x)), x.ctypes.data, id(x.dtype)]:
            return False
        if words[DIMS] & 0xFFFFFFFF != x.ndim:
            return False
        for at, expected in ((LENGTHS, x.shape), (DISTANCES, x.strides)):
            if (*(word * x.ndim).from_address(words[at]),) != expected:
                return False
    return True


def fetching(arrays: Sequence[Any], out: Any, starts: Sequence[int]) -> tuple[Callable[[], None], Any] | None:
    """What copies the numbers of these arrays to places of another, and says at 0 of the second whether it did.

    It does not where an array has another shape or dtype by then. The arrays must live for as long as it is used. None
    if they cannot be read so.

    >>> xs, out = np.array([1.5, 2.5]), np.zeros(3)
    >>> fetch, answer = fetching([xs], out, [1])
    >>> fetch(), answer[0], out.tolist()
    (None, 1, [0.0, 1.5, 2.5])
    >>> xs.resize(2, 1, refcheck=False)
    >>> fetch(), answer[0]
    (None, 0)
    """
    if not arrays_are_readable() or not all(x.flags.c_contiguous for x in arrays):
        return None
    words = [0, len(arrays), CLASS, DATA, DIMS, LENGTHS, DISTANCES, DTYPE]
    for x, start in zip(arrays, starts, strict=False):
        words += [id(x), id(type(x)), id(x.dtype), x.ndim, *x.shape, *x.strides, x.size, out.ctypes.data + 8 * start]
    table = np.array(words, np.int64)
    return objects.bound(objects.fixed("native.lists", "fetch"), table.ctypes.data, locked=True), table.data
