"""Whether things are what they were, and how to make them so again."""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from operator import attrgetter, is_, itemgetter
from types import CellType
from typing import Any

import numpy as np

from gradwalk.compile.trace.held import raw

__all__ = [
    "MISSING",
    "SELDOM",
    "Each",
    "alike",
    "copied",
    "equal",
    "holds_alike",
    "identity_check",
    "names_of",
    "parts_of",
    "put_back",
    "refill",
    "same",
]

MOST = 100  # names that are asked for in one expression at every call, …
SELDOM = 400  # … and in one that is asked only if native code has seen a change
MISSING = object()  # what stands where there is nothing
CONTAINERS = frozenset((list, tuple, dict, deque, OrderedDict, Counter))
#: What nobody can change, and what `repr` tells all of.
NUMBERS = (float, int, bool, complex, Decimal, Fraction, np.generic, range, slice, date, time, timedelta)


def equal(now: Any, then: Any) -> bool:
    """Whether two things say of themselves that they are equal; quick, and not always right.

    >>> equal([1.0], [1.0]), equal(0.0, -0.0), equal(np.zeros(2), np.zeros(2))
    (True, True, False)
    """
    try:
        return bool(now == then) and (not _holds_tensor(then) or same(now, then))
    except Exception:  # things that cannot be compared, such as arrays
        return False


def _holds_tensor(x: Any) -> bool:
    """Whether a container holds a tensor, which can be equal to another without being the same."""
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple, deque)) else (x,)
    return any(getattr(type(part), "many", False) is True for part in parts)


def same(now: Any, then: Any) -> bool:
    """Whether two things are the same one, or plain numbers, texts or containers of these that cannot be told apart.

    >>> same([1.0], [1.0]), same(0.0, -0.0), same(1, True), same(Value(1.0), Value(1.0))
    (True, False, False, False)
    """
    if now is then:
        return True
    if now.__class__ is not then.__class__:
        return False
    if isinstance(then, NUMBERS):
        return repr(now) == repr(then)
    if isinstance(then, (set, frozenset)):
        return bool(now == then) and _kinds(now) == _kinds(then)
    if isinstance(then, (str, bytes)):
        return bool(now == then)
    if now.__class__ is np.ndarray:
        return _same_array(now, then)
    if not _is_its_contents(then) or len(now) != len(then):
        return False
    if isinstance(then, deque) and now.maxlen != then.maxlen:
        return False
    if isinstance(then, dict):
        return all(map(same, now, then)) and all(map(same, now.values(), then.values()))
    return all(map(same, now, then))


def _same_array(now: Any, then: Any) -> bool:
    """Whether two arrays hold the same number; of larger ones, which would be compared at every call, nobody asks."""
    if then.size > 1 or (now.dtype, now.shape) != (then.dtype, then.shape):
        return False
    return not then.dtype.hasobject and bool(now.tobytes() == then.tobytes())


def _is_its_contents(x: Any) -> bool:
    """Whether a container is no more than what is in it: one of a subclass may have attributes, or a default."""
    kind = x.__class__
    return kind in CONTAINERS or (issubclass(kind, tuple) and not kind.__dictoffset__)


def alike(now: Any, then: Any) -> bool:
    """Whether one thing can stand for another for good: it is the same one, or nobody can tell them apart or change it.

    >>> alike(1.0, 1.0), alike(7, 7.0), alike((1, "a"), (1, "a")), alike([1.0], [1.0])
    (True, False, True, False)
    """
    if now is then:
        return True
    if now.__class__ is not then.__class__:
        return False
    if isinstance(then, NUMBERS):
        return repr(now) == repr(then)
    if then.__class__ is tuple:
        return len(now) == len(then) and all(map(alike, now, then))
    if then.__class__ is frozenset:
        return bool(now == then) and _kinds(now) == _kinds(then)
    return isinstance(then, (str, bytes)) and now == then


def holds_alike(now: Any, then: Any) -> bool:
    """Whether a container holds what its copy does, or what can stand for that; in the same order.

    >>> holds_alike([1, 2], [1, 2]), holds_alike([1, 2], [1, 2.0]), holds_alike({1: "a"}, {True: "a"})
    (True, False, False)
    """
    if len(now) != len(then):
        return False
    if isinstance(then, dict):
        return all(map(alike, now, then)) and all(map(alike, now.values(), then.values()))
    if isinstance(then, (set, frozenset)):
        return bool(now == then) and _kinds(now) == _kinds(then)
    if now.__class__ is list and {*map(type, then)} == {list}:  # rows, which were copied too
        return {*map(type, now)} == {list} and all(map(holds_alike, now, then))
    return all(map(is_, now, then)) or all(map(alike, now, then))


def _kinds(x: Any) -> set[tuple[type, str]]:
    """What tells the entries of equal sets apart: 1 and True, and numbers in tuples."""
    return {(type(part), repr(part)) for part in x if isinstance(part, (Number, tuple, frozenset))}


def copied(thing: Any) -> Any:
    """A copy of a container; of a list of rows, of these too.

    >>> rows = [[1.0], [2.0]]
    >>> copied(rows) == rows, copied(rows)[0] is rows[0]
    (True, False)
    """
    if thing.__class__ is list and thing and set(map(type, thing)) == {list}:
        return [row.copy() for row in thing]
    return thing.copy()


def names_of(get: Any) -> tuple[str, ...]:
    """What an item or attribute getter gets.

    >>> names_of(itemgetter("a", "b")), names_of(len)
    (('a', 'b'), ())
    """
    if not isinstance(get, (itemgetter, attrgetter)):
        return ()
    names: Any = get.__reduce__()[1]
    return tuple(names)


class Each:
    """A question about each of several things; `form` is how one writes it for one of them in Python.

    >>> Each("type({})", lambda things: [*map(type, things)])((1, 2.0))
    [<class 'int'>, <class 'float'>]
    """

    def __init__(self, form: str, ask: Callable[[tuple[Any, ...]], list[Any]]) -> None:
        self.form, self.ask = form, ask

    def __call__(self, things: tuple[Any, ...]) -> list[Any]:  # noqa: D102
        return self.ask(things)


def identity_check(
    questions: list[Any], more: Sequence[tuple[str, dict[str, Any]]] = (), most: int = MOST
) -> tuple[Callable[[], bool], list[Any]]:
    """A function that tells whether questions have the very same answers as before; and those that it does not ask.

    It is one expression, of at most so many names, because to call a getter for each takes three times as long. `more`
    are other terms of it, with what their names mean.

    >>> settings = {"lam": 0.5}
    >>> hold, others = identity_check([(itemgetter("lam"), settings, settings["lam"]), (len, settings, 1)])
    >>> hold(), others
    (True, [])
    >>> settings["lam"] = 0.25
    >>> hold()
    False
    """
    terms: list[str] = []
    space: dict[str, Any] = {"len": len, "type": type}
    others: list[Any] = []
    for i, (get, thing, then) in enumerate(questions):
        if isinstance(get, Each) and len(terms) + len(thing) <= most:
            for k, (x, y) in enumerate(zip(thing, then, strict=True)):
                space |= {f"x{i}_{k}": x, f"y{i}_{k}": y}
                terms.append(f"{get.form.format(f'x{i}_{k}')} is y{i}_{k}")
            continue
        names = names_of(get)
        form = "[{!r}]" if isinstance(get, itemgetter) else ".{}"
        if len(terms) >= most or not (get is len or all(map(str.isidentifier, names))) or not (names or get is len):
            others.append(questions[i])
            continue
        space[f"x{i}"] = thing
        if get is len:
            terms.append(f"len(x{i}) == {then}")
        for k, (name, part) in enumerate(zip(names, parts_of(then, names), strict=True)):
            space[f"y{i}_{k}"] = part
            terms.append(f"x{i}{form.format(name)} is y{i}_{k}")
    for term, means in more:
        terms.append(f"({term})")
        space |= means
    return eval(f"lambda: {' and '.join(terms) or True}", space), others


def parts_of(answer: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What a getter of these names gave, for each of them.

    >>> parts_of(1.0, ("a",)), parts_of((1.0, 2.0), ("a", "b"))
    ((1.0,), (1.0, 2.0))
    """
    return answer if len(names) > 1 and isinstance(answer, tuple) else (answer,) * len(names)


def refill(holder: Any, copy: Any) -> None:
    """Make a list, dict, set or deque hold again what it held.

    >>> xs = [1.0, 2.0, 3.0]
    >>> refill(xs, [4.0])
    >>> xs
    [4.0]
    """
    if same(holder, copy):
        return
    if isinstance(holder, list):
        if len(holder) == len(copy) and {*map(type, holder), *map(type, copy)} == {list}:
            for row, then in zip(holder, copy, strict=True):  # rows, which others may know, too
                refill(row, then)
        else:
            holder[:] = copy
        return
    holder.clear()
    (holder.extend if isinstance(holder, deque) else holder.update)(copy)


def put_back(get: Any, thing: Any, then: Any, owner: type | None = None) -> None:
    """Set what `get(thing)` gave back to what it was, as far as it can be set; `owner` is the class of a namespace.

    >>> settings = {"lam": 0.5}
    >>> put_back(itemgetter("lam"), settings, 0.25)
    >>> settings
    {'lam': 0.25}
    """
    if isinstance(thing, CellType):
        if then is MISSING:
            del thing.cell_contents
        else:
            thing.cell_contents = then
    elif isinstance(thing, array):
        thing[:] = array(thing.typecode, then)
    elif isinstance(thing, bytearray):
        thing[:] = then
    elif isinstance(thing, np.ndarray):
        flat = np.frombuffer(then, thing.dtype) if isinstance(then, bytes) else np.array([then], object)
        thing[...] = flat.reshape(thing.shape)
    elif isinstance(thing, (list, dict, set, deque)) and isinstance(then, (list, dict, set, deque)):
        if type(thing) is not dict or isinstance(then, dict):  # not the order of its keys
            refill(thing, then)
    elif get is raw:
        memoryview(thing).cast("B")[:] = then
    else:
        for name, part in zip(names_of(get), parts_of(then, names_of(get)), strict=True):
            if owner is not None:
                setattr(owner, name, part)
            elif isinstance(thing, dict):
                thing[name] = part
            elif isinstance(get, attrgetter):
                object.__setattr__(thing, name, part)
