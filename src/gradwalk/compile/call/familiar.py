"""What arguments have in common with those of calls before: records, and lists in lists, that are known at a glance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from gradwalk import tree
from gradwalk.compile.native.pythons import Described, describe
from gradwalk.compile.trace.kinds import LARGEST, is_huge

__all__ = ["LONG", "NUMBERS", "PYTHONS", "Alike", "Nested", "Record", "are_plain", "are_pythons", "familiar", "note",
           "record_of"]  # fmt: skip

NUMBERS: frozenset[type] = frozenset((float, int, *(np.dtype(code).type for code in "bhilqBHILQefd")))
PYTHONS = frozenset((float, int))
INTEGERS = frozenset((int,))
LONG = 32  # numbers in a list: so many are not copied, but read from there
MOST_FAMILIAR, SEVERAL = 64, 4  # outward looks of lists in lists that are remembered, and how many lists of each

Key = Any


# --- plain numbers ---------------------------------------------------------------------------------------------------


def are_pythons(parts: Any) -> bool:
    """Whether all are Python's own numbers, which a float can hold.

    >>> are_pythons([1.0, 2]), are_pythons([np.float64(1.0)])
    (True, False)
    """
    return PYTHONS.issuperset(map(type, parts)) and are_plain(parts)


def are_plain(x: Any) -> bool:
    """Whether all are floats, or ints that a float can hold; or of one kind of NumPy's.

    >>> are_plain([1.0, 2]), are_plain([1.0, True]), are_plain([1.0, np.float64(2.0)]), are_plain([1, 2**53])
    (True, False, False, False)
    """
    kinds = {*map(type, x)}
    if kinds == INTEGERS:  # a third of the time
        return bool(min(x) > -LARGEST and max(x) < LARGEST)
    if kinds <= PYTHONS:
        return int not in kinds or not any(map(is_huge, x))
    return len(kinds) == 1 and kinds <= NUMBERS


# --- lists in lists --------------------------------------------------------------------------------------------------


class Nested:
    """The key of lists in lists, which is hashed and compared once.

    >>> Nested(((1, 2), 3)) == Nested(((1, 2), 3)), Nested(((1, 2), 3)) == ((1, 2), 3)
    (True, False)
    """

    __slots__ = ("content", "number")

    def __init__(self, content: tuple[Any, ...]) -> None:
        self.content, self.number = content, hash(content)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Nested) or self.number != other.number:
            return False
        if self.content is not other.content:
            if self.content != other.content:
                return False
            self.content = other.content  # from now on, one look tells
        return True


class Alike:
    """Numbers in lists in lists, which native code reads.

    >>> xs = [([1.0, 2], True), ([3.0, 4], True)]
    >>> numbers = Alike(xs, describe(xs))
    >>> len(numbers), list(numbers)
    (4, [1.0, 2, 3.0, 4])
    """

    __slots__ = ("content", "described")

    def __init__(self, content: Any, described: Described) -> None:
        self.content, self.described = content, described

    def __len__(self) -> int:
        return self.described.count

    def __iter__(self) -> Iterator[Any]:
        return (x for x in tree.flatten(self.content)[0] if x.__class__ in PYTHONS)


class Familiar:
    """What was seen of lists in lists, and once it was seen twice, what tells others alike."""

    __slots__ = ("described", "key", "number", "tried")

    def __init__(self, key: Key) -> None:
        self.key, self.number, self.tried = key, hash(key), False
        self.described: Described | None = None


#: By class and length of a list, and the class of its first item: the latest first.
_familiar: dict[Any, list[Familiar]] = {}


def familiar(x: Any) -> tuple[Key, Alike] | None:
    """The key of a list of lists, and its numbers, if one alike was seen twice of late.

    >>> familiar([[1.0, object()]])
    """
    for known in _familiar.get((x.__class__, len(x), x[0].__class__), ()):
        if known.described is not None and known.described.fits(x):
            return known.key, Alike(x, known.described)
    return None


def note(x: Any, key: Key, exact: Callable[[], Key]) -> None:
    """Remember what the key of a list of lists was; `exact` gives the one that a look at all of it gives.

    >>> xs = [[1.0] * LONG, [True]]
    >>> for _ in range(2):
    ...     note(xs, "its key", lambda: "its key")
    >>> familiar([[2.0] * LONG, [True]])[0], familiar([[2.0] * LONG, [False]])
    ('its key', None)
    """
    if len(_familiar) >= MOST_FAMILIAR:
        _familiar.clear()
    several = _familiar.setdefault((x.__class__, len(x), x[0].__class__), [])
    number = hash(key)
    for known in several:
        if known.number == number:
            if not known.tried:
                known.key, known.tried = key, True
                described = describe(x) if exact() == key else None  # what it seemed to be at its ends it need not be
                known.described = described if described is not None and described.count >= LONG else None
            return
    several.insert(0, Familiar(key))
    del several[SEVERAL:]


# --- records ---------------------------------------------------------------------------------------------------------


class Record:
    """The plain numbers that objects of one class hold, if they hold nothing else; and the key of all that do.

    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", ["x", "y"])
    >>> record = Record(("x", "y"), ("x", "y"), ("structure", (0, 0)), in_slots=False)
    >>> record.numbers(Point(1.5, 2)), record.numbers(Point(1.5, "two"))
    ((1.5, 2), None)
    """

    __slots__ = ("in_slots", "key", "names", "ordered")

    def __init__(self, names: tuple[str, ...], fields: tuple[str, ...], key: Key, *, in_slots: bool) -> None:
        self.names, self.key, self.in_slots = names, key, in_slots
        self.ordered: Any = attrgetter(*fields) if in_slots else itemgetter(*fields)

    def numbers(self, x: Any) -> Any:
        """The numbers in the order of the fields; None if there is anything else."""
        try:
            held = x if self.in_slots else x.__dict__
            if not self.in_slots and tuple(held) != self.names:
                return None
            found = self.ordered(held)
        except AttributeError:  # one was not set
            return None
        parts = [found] if self.key[1] == (0,) else found
        return parts if are_pythons(parts) else None


def record_of(x: Any, key: Key) -> Record | None:
    """What tells the numbers of dataclasses like this one at a glance, if numbers are all that it holds.

    >>> record_of([1.0], ()) is None
    True
    """
    if not is_dataclass(x.__class__):
        return None
    kind: Any = x.__class__
    names = tuple([field.name for field in fields(kind)])
    in_slots = not kind.__dictoffset__
    has_all = in_slots or set(names) <= set(vars(x))
    usual = kind.__getattribute__ is object.__getattribute__ and not issubclass(kind, (list, tuple, dict))
    structure = tree.flatten(x)[1]
    flat = structure.tokens[1:] == (None,) * len(names)  # nothing stands in a list or a dict
    if not names or not has_all or not usual or not flat or key != (structure, (0,) * len(names)):
        return None
    return Record(names if in_slots else tuple(vars(x)), names, key, in_slots=in_slots)
