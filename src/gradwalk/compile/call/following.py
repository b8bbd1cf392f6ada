"""Trace a function with an eye on what it does beside computing, and say where a trace could not stand for it.

A function that draws random numbers, or changes what it reads, does something else at each call; it is run as it is. To
find out, it has to be run once; whatever it changed then is put back.
"""

from __future__ import annotations

import gc
import threading
import time
import warnings
from array import array
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, KeysView, Sequence, ValuesView
from contextlib import nullcontext
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property, partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gradwalk import tree
from gradwalk.chance import left_to_this_thread
from gradwalk.compile.call.aside import Aside
from gradwalk.compile.call.chance import Chance
from gradwalk.compile.call.surroundings import Surroundings
from gradwalk.compile.trace.held import is_stand_in
from gradwalk.compile.trace.limits import TooLarge, Unfollowable
from gradwalk.compile.trace.reach import PLAIN, Reached
from gradwalk.compile.trace.recorded import Kept, Output, Recorded
from gradwalk.compile.trace.same_objects import sameness_answered, unanswered
from gradwalk.compile.trace.stage import Said, arrays_made, files_seen, heard, names_answered
from gradwalk.compile.trace.whose import is_library, is_librarys
from gradwalk.engine import Value
from gradwalk.errors import GradwalkError
from gradwalk.provenance import Place, is_users

__all__ = ["Checks", "Followed", "Stumbled", "Unfollowed", "difference", "follow"]

Record = Callable[[Reached], Recorded]  # traces, given what can be reached

SHARE = 0.05  # of the time that calls take may go into checks …
FREE = 0.005  # … or so many seconds for each trace, which nobody notices beside a first call …
IDLE = 0.005  # … or so much of all time, for functions that are called seldom


class Followed(NamedTuple):
    """A trace, and what it relies on."""

    recorded: Recorded
    surroundings: Surroundings
    seconds: float  # that it took
    aside: tuple[str, ...] = ()  # what it set and does not read


class Unfollowed(NamedTuple):
    """Why a trace cannot stand for a function, and what to do about it."""

    reason: str  # with "{function}" in place of its name
    remedy: str
    surroundings: Surroundings | None = None  # while these hold; None for always
    too_large: bool = False  # number by number, and perhaps not array by array

    def about(self, function: str) -> str:
        """The reason, with the function's name."""
        return self.reason.replace("{function}", function)


class Stumbled(Exception):  # noqa: N818 (nobody outside sees it)
    """A function raised while it was traced: what it raises by itself, or what stand-ins made it raise."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error

    def reason(self) -> Unfollowed:
        """Why the function is run as it is, if it does not raise then."""
        place, ahead = "", self.error.__traceback__
        while ahead is not None:
            code, module = ahead.tb_frame.f_code, str(ahead.tb_frame.f_globals.get("__name__", ""))
            if is_users(code.co_filename) and not is_library(module):
                place = str(Place(code.co_filename, ahead.tb_lineno, code.co_name))
            ahead = ahead.tb_next
        return Unfollowed(
            "{function} does something with a number that a stand-in for it cannot do "
            f"({type(self.error).__name__}: {self.error}; {place})",
            "do that before the call, and pass what comes of it",
        )


STATE = "return the new state from the function, and pass it as an argument at the next call"
COPIED = "let it work on a copy, such as xs = list(xs)"
CACHED = "call the function that it wraps, which has the name __wrapped__, in compiled code"
GIVEN = "let it give numbers, lists, tuples, dicts or dataclasses, and make the rest of them after the call"
FILED = "read it before the call, and pass what is in it"
KNOWN = (type, ModuleType, FunctionType)  # which lead to everything else
CLOCKED = (
    "read the clock, or whatever it is that gives something else each time, before the call, and pass what it gave"
)
DRAWN = "draw them before the call and pass them as arguments"


def follow(record: Record, roots: Sequence[Any], *, just_looking: bool = False) -> Followed | Unfollowed:
    """Trace what `record` runs; `roots` are what it reads from. Who is `just_looking` leaves everything as it was.

    >>> import random
    >>> f, g = (lambda x: 2.0 * x), (lambda x: random.random() * x)
    >>> follow(lambda values: trace(f, [3.0]), [f]).recorded.tape.rows
    1
    >>> follow(lambda values: trace(g, [3.0]), [g]).reason
    'random numbers are drawn in {function}'
    """
    began = time.perf_counter()
    reached = Reached(roots)
    if reached.iterators:
        where = reached.iterators[0] or "an argument"
        return Unfollowed(
            f"{{function}} reads from an iterator ({where}), which gives something else each time",
            "take the next item before the call and pass it as an argument",
        )
    functions = [function for _, function in reached.functions]
    if asking := unanswered(functions, "things"):
        return Unfollowed(
            "in {function} it is asked whether two things are the same one, by code whose source is not to be had "
            f"({asking[0].co_name}, line {asking[0].co_firstlineno} of {asking[0].co_filename})",
            "compare with ==, or write the code in a file",
        )
    for kind in filter(is_dataclass, roots):  # of which arguments are; a model is an object among these
        cached = [name for name in reached.attributes if isinstance(getattr(kind, name, None), cached_property)]
        if cached and isinstance(kind, type) and not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            return Unfollowed(
                f"{{function}} reads {kind.__name__}.{cached[0]}, which an argument keeps once it was worked out",
                "make the dataclass frozen, or a property of it",
            )
    chance, before, aside = Chance(reached.chances), Surroundings(reached), Aside(reached)
    found: Followed | Unfollowed | None = None
    caches, hashed = Caches(reached.caches), True
    said, runs_again = Said(), False
    try:
        with files_seen() as files:
            recorded = _staged(record, reached, said)
        hashed = recorded.hashed
        as_before = before.hold_all()
        hashed = hashed or caches.hold_stand_ins()
        if hashed and (filled := caches.filled()):
            found = Unfollowed(f"{{function}} keeps what it computes in a cache ({next(iter(filled))})", CACHED)
        elif recorded.touched:
            found = Unfollowed("{function} changes an argument that it is given", COPIED)
        elif made := _made_anew(recorded.result, reached, roots):
            found = Unfollowed(f"{{function}} gives a new {made} at each call", GIVEN)
        elif recorded.aside[0]:
            found = Unfollowed(f"in {{function}} {recorded.aside[0]}", recorded.aside[1])
        elif files:
            found = Unfollowed(f"{{function}} reads a file ({files[0]})", FILED)
        elif chance.moved() and not (as_before and _drawn_elsewhere(record, reached)):
            found = Unfollowed("random numbers are drawn in {function}", DRAWN, before if as_before else None)
        elif not as_before:
            found = _follow_again(recorded, record, roots, before, began)
        elif (reached.unsure or chance.unseen) and (differs := difference(recorded, _staged(record, reached))):
            found = Unfollowed(f"{{function}} did something else when it was traced again ({differs})", CLOCKED)
        else:
            found = Followed(recorded, before, time.perf_counter() - began)
        if isinstance(found, Followed):
            found = found._replace(aside=tuple(aside.changed()))
    except Unfollowable as error:
        found = Unfollowed(error.reason, error.remedy, too_large=isinstance(error, TooLarge))
    except Exception as error:
        stumbles = not isinstance(error, GradwalkError)
        if stumbles and reached.speaks and not isinstance(error, (TypeError, AttributeError)):
            just_looking = just_looking or before.stand_ins()  # it is not run again just to see whether it raises
            raise
        just_looking = True
        if stumbles:
            runs_again = True
            raise Stumbled(error) from error
        raise
    finally:
        if not (runs_again or isinstance(found, Unfollowed)):
            said.tell()
        if hashed:
            caches.empty()
        if just_looking or isinstance(found, Unfollowed):
            chance.restore()
            before.restore()
    return found


def _staged(record: Record, reached: Reached, said: Said | None = None) -> Recorded:
    """What a trace of a function gives, with all that stands around it meanwhile; what it prints is put down."""
    with (
        names_answered(reached.asking.values()),
        sameness_answered([function for _, function in reached.functions]),
        arrays_made(),
        nullcontext() if reached.converses else heard(said or Said()),
    ):
        return record(reached)


def _drawn_elsewhere(record: Record, reached: Reached) -> bool:
    """Whether it was another thread that drew random numbers: then none are drawn when that one has its own."""
    if threading.active_count() == 1:
        return False
    with left_to_this_thread():
        chance = Chance(reached.chances)
        _staged(record, reached)
        return not chance.moved()


def _made_anew(result: Any, reached: Reached, roots: Sequence[Any]) -> str:
    """The class of an object among the results that was not there before the call, if there is one."""
    leaves = tree.flatten(result, lambda x: isinstance(x, Output) or tree.is_block(x))[0]
    odd = [x for x in leaves if not _is_the_same_again(x)]
    there = (
        {
            id(x)
            for some in (reached.objects, reached.containers, reached.arrays, reached.tensors, reached.functions)
            for _, x in some
        }
        if odd
        else set()
    )
    return next((type(x).__name__ for x in odd if id(x) not in there and not any(x is root for root in roots)), "")


def _is_the_same_again(x: Any) -> bool:
    """Whether a result can stand for what the function makes at each call: nobody can change it."""
    kind = type(x)
    if kind in PLAIN or tree.is_block(x) or isinstance(x, (Kept, Output, Value, Enum, type, ModuleType)):
        return True
    if isinstance(x, FunctionType):
        return is_librarys(x)
    changing = (np.ndarray, deque, array, bytearray, partial, MethodType, KeysView, ValuesView, ItemsView, Iterator)
    return not isinstance(x, changing) and is_librarys(kind)


def _follow_again(
    first: Recorded, record: Record, roots: Sequence[Any], before: Surroundings, began: float
) -> Followed | Unfollowed:
    """A function has changed what it reads. If it does so once, keeping what it worked out, all is well.

    If it does so once, and does something else from then on, it is run as it is until then.
    """
    what = ", ".join(before.changed()[:3]) or "something"
    reason = f"{{function}} changes what it reads from outside ({what})"
    if before.stand_ins():  # a result is kept for the next call
        return Unfollowed(reason, STATE)
    now = Surroundings(Reached(roots))
    recorded = _staged(record, now.reached)
    if now.hold_all() and not difference(first, recorded):
        return Followed(recorded, now, time.perf_counter() - began)
    return Unfollowed(reason, STATE, before)


class Caches:
    """Functions that keep what they gave, as `functools.lru_cache` makes them: a trace may leave stand-ins in there.

    >>> from functools import lru_cache
    >>> square = lru_cache(lambda x: x * x)
    >>> caches = Caches([("square", square)])
    >>> square(3.0), list(caches.filled())
    (9.0, ['square'])
    >>> caches.empty()
    >>> square.cache_info().currsize
    0
    """

    def __init__(self, found: Sequence[tuple[str, Any]]) -> None:
        self._before = [(path, cache, cache.cache_info().misses) for path, cache in found]

    def filled(self) -> dict[str, Any]:
        """Those that have something new in them, by how they are reached."""
        return {path: cache for path, cache, misses in self._before if cache.cache_info().misses != misses}

    def hold_stand_ins(self) -> bool:
        """Whether a trace has left stand-ins in one of them: a function of a parameter gives what is computed of it."""
        return any(map(is_stand_in, _held_inside([*self.filled().values()])))

    def empty(self) -> None:
        """Clear those that have something new in them."""
        for cache in self.filled().values():
            cache.cache_clear()


def _held_inside(things: list[Any], depth: int = 4) -> Iterator[Any]:
    """What these hold, and what that holds: a cache keeps what it gave in links, some of which hold each other."""
    seen: set[int] = set()
    for _ in range(depth):
        things = [part for part in gc.get_referents(*things) if id(part) not in seen and not isinstance(part, KNOWN)]
        seen.update(map(id, things))
        yield from things


class Checks:
    """When a trace is to be compared with its function, for what no look at the surroundings can see.

    At calls 2, 4, 8, 16 and so on, if no more than a twentieth of the time that the calls took goes into it; or, where
    that is little, of all time one part in two hundred, for all functions together.

    >>> Checks(seconds=5e5).affordable(calls=1000)
    False
    """

    spent_in_all: ClassVar[float] = 0.0  # by the checks of all traces …
    began: ClassVar[float] = time.perf_counter()  # … since then

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # that one takes
        self.spent = 0.0
        self.call = 0.0  # seconds that a call took when it was last looked at, this apart
        self.passed = 0  # the number of calls when trace and function were last known to agree

    def affordable(self, calls: int) -> bool:
        """Whether a check may be made now, after so many calls."""
        if self.spent + self.seconds <= max(FREE, SHARE * calls * self.call):
            return True
        return self.spent_in_all + self.seconds <= IDLE * (time.perf_counter() - self.began)

    def again(self, record: Record, roots: Sequence[Any]) -> Followed | Unfollowed:
        """Trace once more beside a replay."""
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return follow(record, roots, just_looking=True)
        finally:
            took = time.perf_counter() - began
            self.spent += took
            Checks.spent_in_all += took


def difference(then: Recorded, now: Recorded) -> str:
    """How two traces differ, in words; "" if they do not.

    >>> difference(trace(lambda x: 2.0 * x, [3.0]), trace(lambda x: 2.5 * x, [3.0]))
    'a number was 2 and now is 2.5'
    """
    before, after = then.tape, now.tape
    if [op.name for op in before.ops] != [op.name for op in after.ops] or before.rows != after.rows:
        return f"it had {before.rows} operations and now has {after.rows}"
    if len(then.parameters) != len(now.parameters) or any(
        p is not q for p, q in zip(then.parameters, now.parameters, strict=True)
    ):
        return "it has other parameters"
    if before.constants.tobytes() != after.constants.tobytes():
        if len(before.constants) != len(after.constants):
            return "it has other numbers in it"
        i = int(np.flatnonzero(before.constants.view(np.int64) != after.constants.view(np.int64))[0])
        x, y = before.constants[i], after.constants[i]
        return (
            f"a number was {x:.6g} and now is {y:.6g}" if f"{x:.6g}" != f"{y:.6g}" else f"a number was {x} and is {y}"
        )
    columns = ("code", "a", "b", "aux", "outputs")
    if any(not np.array_equal(getattr(before, name), getattr(after, name)) for name in columns):
        return "it has other operations"
    if then.arrays != now.arrays:
        return "it has other operations on arrays"
    if not _same_result(then.result, now.result):
        return "it gives something else"
    return ""


def _same_result(then: Any, now: Any) -> bool:
    (leaves, structure), (others, other) = tree.flatten(then, tree.is_block), tree.flatten(now, tree.is_block)
    if structure != other:
        return False
    for x, y in zip(leaves, others, strict=True):
        if tree.is_block(x):
            if not tree.is_block(y) or not np.array_equal(x, y, equal_nan=True):
                return False
        elif x is not y:
            if isinstance(x, Value) and isinstance(y, Value):  # made inside the function, anew each time
                x, y = x.data, y.data
            if getattr(x, "many", False) or not (x.__class__ is y.__class__ and bool(x == y or x != x)):
                return False
    return True
