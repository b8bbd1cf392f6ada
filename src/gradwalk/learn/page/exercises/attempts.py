"""Running a tab's checks: numbers, or what went wrong and in which line."""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

from gradwalk.diagnose.probes import Probe
from gradwalk.engine import Value
from gradwalk.learn.page.exercises.arrays import Array
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.exercises.splice import names_for
from gradwalk.learn.page.sandbox import LearnerError, guarded
from gradwalk.matcher import Outcome
from gradwalk.messages import say

__all__ = ["Attempt", "attempt", "attempts", "expected", "unchanged"]

_LEAF = re.compile(r"^(\w+) = Value\(", re.MULTILINE)


@dataclass(frozen=True)
class Attempt:
    """What came of one check: its numbers, the data of its leaves afterwards, or an error.

    >>> Attempt({"x.grad": 6.0}, {"x": 3.0}).outcome.numbers
    {'x.grad': 6.0, 'x afterwards': 3.0}
    """

    numbers: dict[str, float] = field(default_factory=dict)
    leaves: dict[str, float] = field(default_factory=dict)
    error: LearnerError | None = None
    #: What was looked at and is an array; its shape and its numbers are among `numbers`, each by a name of its own.
    arrays: dict[str, Array] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """By what mistakes are told apart.

        >>> Attempt({"x.grad": 6.0}).outcome.kind
        'numbers'
        """
        if self.error:
            return Outcome("raised", message=str(self.error), error=self.error.kind, line=self.error.line)
        return Outcome("numbers", {**self.numbers, **{f"{name} afterwards": x for name, x in self.leaves.items()}})


def attempt(exercise: Exercise, tab: Tab, text: str, texts: Mapping[str, str]) -> tuple[Attempt, ...]:
    """Each check of a tab, run on a learner's text; raises LearnerError where the text cannot even be defined.

    >>> exercise = EXERCISES["plus-times"]
    >>> attempt(exercise, exercise.tabs["__mul__"], exercise.tabs["__mul__"].solution, {})[0].numbers
    {'x.grad': 6.0}
    """
    found: list[Attempt] = []
    with unchanged(math, builtins, Value, Array):
        names = names_for(exercise, tab, text, texts)
        for check in tab.checks:
            last = found[-1].error if found else None
            endless = last is not None and last.kind == "OutOfSteps"  # then nobody waits again
            found.append(found[-1] if endless else _tried(names, check, exercise.budget))
    return tuple(found)


def attempts(
    exercise: Exercise, tab: Tab, text: str, texts: Mapping[str, str], *, budget: int
) -> Callable[[int], Attempt]:
    """As `attempt`, one check at a time, when it is asked for; who calls keeps the world `unchanged`.

    >>> exercise = EXERCISES["plus-times"]
    >>> attempts(exercise, exercise.tabs["__mul__"], exercise.tabs["__mul__"].solution, {}, budget=100)(0).numbers
    {'x.grad': 6.0}
    """
    names = names_for(exercise, tab, text, texts)
    return cache(lambda at: _tried(names, tab.checks[at], budget))


@contextmanager
def unchanged(*things: Any) -> Iterator[None]:
    """Whatever happens inside, these modules and classes hold afterwards what they held before.

    >>> with unchanged(math):
    ...     math.tanh, math.tau2 = abs, 2
    >>> math.tanh(0.0), hasattr(math, "tau2")
    (0.0, False)
    """
    before = [dict(vars(thing)) for thing in things]
    try:
        yield
    finally:
        for thing, held in zip(things, before, strict=True):
            for name in [name for name in vars(thing) if name not in held]:
                delattr(thing, name)
            for name, value in held.items():
                if vars(thing).get(name) is not value:
                    setattr(thing, name, value)


@cache
def expected(exercise: Exercise, tab: Tab) -> tuple[Attempt, ...]:
    """What is right: the engine's own numbers, or those of the solution where it defines something beside the engine.

    >>> expected(EXERCISES["diamond"], EXERCISES["diamond"].tabs["diamond"])[0].numbers["a.grad"]
    15.0
    """
    if exercise.kind == "definitions":
        return attempt(exercise, tab, tab.solution, {})
    names: dict[str, Any] = {"Value": Value}
    if exercise.kind == "program":
        exec(tab.solution, names)
    return tuple(_tried(names, check, exercise.budget) for check in tab.checks)


def _tried(names: Mapping[str, Any], check: Probe, budget: int) -> Attempt:
    space = dict(names)
    try:
        with guarded(budget=budget):
            exec(compile(check.text, "<check>", "exec"), space)
            found = {see: eval(see, space) for see in check.see}
            given = {see: x for see, x in found.items() if isinstance(x, (Array, list, tuple))}
            arrays = {see: x if isinstance(x, Array) else Array(x) for see, x in given.items()}
            numbers = {see: _number(see, x) for see, x in found.items() if see not in arrays}
            for see, array in arrays.items():
                numbers |= _numbers(see, array)
            leaves = {name: _number(name, space[name].data) for name in _LEAF.findall(check.text)}
    except LearnerError as error:
        return Attempt(error=error)
    return Attempt(numbers, leaves, arrays=arrays)


def _numbers(name: str, array: Array) -> dict[str, float]:
    """The shape of an array and all that is in it, as numbers that can be compared one by one."""
    sizes = {f"size of axis {axis} of {name}": float(n) for axis, n in enumerate(array.shape)}
    places = product(*map(range, array.shape))
    cells = {f"{list(place)} of {name}": x for place, x in zip(places, array.flat(), strict=True)}
    return {f"axes of {name}": float(array.ndim), **sizes, **cells}


def _number(what: str, x: Any) -> float:
    if hasattr(x, "data"):
        kind = type(x).__name__
        told = (
            say("`{what}` is a Tensor, where an array should be", what=what)
            if kind == "Tensor"
            else say("`{what}` is a {kind}, where a plain number should be", what=what, kind=kind)
        )
        raise LearnerError("NotANumber", told, None, None)
    return float(x)
