"""What is too large to be looked at before every call: it is cut into parts, and each has its turn.

A part knows what it was (`then`), can tell what it is (`now`), and can be made what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from gradwalk.compile.call.sameness import alike, copied, holds_alike, refill
from gradwalk.compile.trace.held import attributes_of

__all__ = ["Part", "parts_of_array", "parts_of_attributes", "parts_of_container"]

UNITS = 256  # that a part may cost, as `surroundings.py` counts them
ENTRIES = 48  # of dicts


class Part:
    """A part of a list: one slice of it.

    >>> xs = [float(i) for i in range(1000)]
    >>> parts = parts_of_container("xs", xs, units=1000)
    >>> xs[700] = -1.0
    >>> [part.changed() for part in parts if not part.holds()]
    [['xs[700]']]
    """

    def __init__(self, path: str, thing: Any, cut: Any) -> None:
        self.path, self.thing, self.cut = path, thing, cut
        self.then = self.now()

    def now(self) -> Any:
        """What it is."""
        return len(self.thing), copied(self.thing[self.cut])

    def holds(self) -> bool:
        """Whether it is what it was."""
        try:
            return self.same_as(self.then)
        except Exception:  # it is gone
            return False

    def same_as(self, then: Any) -> bool:
        """Whether it is what it was, if it is there."""
        return len(self.thing) == then[0] and holds_alike(self.thing[self.cut], then[1])

    def lists(self) -> list[tuple[list[Any], int, int]]:
        """The lists it is made of, and from where to where in each: if they hold the very same things, it holds."""
        some = self.thing[self.cut]
        rows = some if _are_rows(some, self.then[1]) else ()
        return [(self.thing, self.cut.start, self.cut.start + len(some)), *[(row, 0, len(row)) for row in rows]]

    def changed(self) -> list[str]:
        """What is not as it was, as it is written in Python."""
        pairs = zip(self.thing[self.cut], self.then[1], strict=False)
        at = [i for i, (x, y) in enumerate(pairs, self.cut.start) if not _is_as_it_was(x, y)]
        return [f"{self.path}[{at[0]}]" if at else self.path]

    def restore(self) -> None:
        """Make it what it was."""
        size, content = self.then
        now = self.thing[self.cut]
        refill(now, content)
        self.thing[self.cut] = now
        del self.thing[size:]


class Unlisted(Part):
    """A part of something that is no list."""

    def lists(self) -> list[tuple[list[Any], int, int]]:
        return []

    def changed(self) -> list[str]:
        return [self.path]


class Entries(Unlisted):
    """Some entries of a dict; the cut is a getter of their keys."""

    def now(self) -> Any:
        return len(self.thing), self.cut(self.thing)

    def same_as(self, then: Any) -> bool:
        return alike(self.now(), then)

    def restore(self) -> None:
        keys: Any = self.cut.__reduce__()[1]
        self.thing.update(zip(keys, self.then[1], strict=True))


class Rows(Unlisted):
    """Some rows of an array."""

    def now(self) -> Any:
        return self.thing.shape, self.thing[self.cut].tobytes()

    def same_as(self, then: Any) -> bool:
        return bool(self.now() == then)

    def restore(self) -> None:
        rows = self.thing[self.cut]
        self.thing[self.cut] = np.frombuffer(self.then[1], rows.dtype).reshape(rows.shape)


class Some(Part):
    """Some small containers; the cut is their paths."""

    def now(self) -> Any:
        return [copied(part) for part in self.thing]

    def same_as(self, then: Any) -> bool:
        return all(map(holds_alike, self.thing, then))

    def lists(self) -> list[tuple[list[Any], int, int]]:
        if {*map(type, self.thing)} != {list}:
            return []
        rows = [row for x, then in zip(self.thing, self.then, strict=True) if _are_rows(x, then) for row in x]
        return [(x, 0, len(x)) for x in (*self.thing, *rows)]

    def changed(self) -> list[str]:
        pairs = zip(self.thing, self.then, strict=True)
        return [path for path, (now, then) in zip(self.cut, pairs, strict=True) if not holds_alike(now, then)]

    def restore(self) -> None:
        for now, then in zip(self.thing, self.then, strict=True):
            refill(now, then)


class Attributes(Unlisted):
    """Some attributes of some objects, and their classes; the cut is a getter of the names, and all that are read."""

    def now(self) -> Any:
        get, reads = self.cut
        held = list(map(attributes_of, self.thing))
        return [(type(x), some, get(some), sum(map(reads, some))) for x, some in zip(self.thing, held, strict=True)]

    def same_as(self, then: Any) -> bool:
        return all(map(alike, self.now(), then))

    def restore(self) -> None:
        names: Any = self.cut[0].__reduce__()[1]
        for x, (kind, held, then, _) in zip(self.thing, self.then, strict=True):
            x.__class__, x.__dict__ = kind, held
            held.update(zip(names, then if len(names) > 1 else (then,), strict=True))


def _are_rows(now: list[Any], then: list[Any]) -> bool:
    """Whether a list is one of rows, which were copied too."""
    return bool(now) and now[0] is not then[0]


def _is_as_it_was(x: Any, then: Any) -> bool:
    return alike(x, then) or (x.__class__ is then.__class__ is list and holds_alike(x, then))


def parts_of_container(path: str, thing: Any, units: int) -> list[Part]:
    """A large list or dict in parts; sets and deques have none.

    >>> len(parts_of_container("d", {i: i for i in range(100)}, units=116))
    3
    """
    if isinstance(thing, list):
        step = max(1, len(thing) * UNITS // units)
        return [Part(path, thing, slice(start, start + step)) for start in range(0, len(thing), step)]
    if isinstance(thing, dict):
        keys = list(thing)
        cuts = [keys[start : start + ENTRIES] for start in range(0, len(keys), ENTRIES)]
        return [Entries(path, thing, itemgetter(*cut, cut[0])) for cut in cuts]
    return []


def parts_of_array(path: str, thing: Any) -> list[Part]:
    """A large array in parts.

    >>> len(parts_of_array("a", np.zeros((1000, 8))))
    16
    """
    step = max(1, len(thing) * UNITS * 16 // thing.nbytes)
    return [Rows(path, thing, slice(start, start + step)) for start in range(0, len(thing), step)]


def parts_of_attributes(
    path: str, things: list[Any], names: tuple[str, ...], reads: Callable[[str], bool]
) -> list[Part]:
    """The attributes of many objects of one kind in parts; any other that `reads` says is read may come to be.

    >>> from types import SimpleNamespace
    >>> samples = [SimpleNamespace(x=1.0, y=2.0) for _ in range(100)]
    >>> len(parts_of_attributes("samples", samples, ("x", "y"), bool))
    5
    """
    step = max(1, ENTRIES // len(names))
    cuts = [things[start : start + step] for start in range(0, len(things), step)]
    return [Attributes(path, cut, (itemgetter(*names), reads)) for cut in cuts]
