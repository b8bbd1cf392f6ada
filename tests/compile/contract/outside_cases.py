"""Small programs around a compiled function, in which something outside it changes between calls.

A case is a generator function that is given `compile`, which compiles or gives the function back, and yields what it
saw after each call. It is run plain and compiled: what it sees must be equal, or the difference must be said at that
very call, by an error or a `FrozenWarning`.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradwalk
from gradwalk.compile.trace.limits import FrozenWarning
from gradwalk.errors import GradwalkError

Program = Callable[[Callable[..., Any]], Iterator[Any]]


class Case(NamedTuple):
    """A program, and what becomes of it: it is `followed`, or something is `said`."""

    program: Program
    outcome: str

    @property
    def name(self) -> str:
        """What the case is called."""
        return self.program.__name__


class Cases(list[Case]):
    """The cases of one file, each added by a decorator."""

    def followed(self, program: Program) -> Program:
        """The compiled function gives what the plain one gives, without a word."""
        self.append(Case(program, "followed"))
        return program

    def traced_often(self, program: Program) -> Program:
        """It gives what the plain one gives, and says that it has to be traced at every call."""
        self.append(Case(program, "followed, traced often"))
        return program

    def followed_with_a_word(self, program: Program) -> Program:
        """It gives what the plain one gives, and says that it is not compiled."""
        self.append(Case(program, "followed, and said"))
        return program

    def said(self, program: Program) -> Program:
        """It does not go on as if nothing was: an error, or a warning at the very call whose numbers differ."""
        self.append(Case(program, "said"))
        return program

    def test(self) -> Any:
        """What runs them all as tests."""
        return pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in self])


def plainly(fn: Any = None, **options: Any) -> Any:
    """What stands for `gradwalk.compile` where nothing is compiled."""
    if fn is None:
        return lambda decorated: decorated
    return fn


def outcome_of(case: Case) -> str:
    """What becomes of a case: followed, said, or silently wrong, with the call at which it is."""
    random.seed(1)
    np.random.seed(1)
    expected = list(case.program(plainly))
    random.seed(1)
    np.random.seed(1)
    program = case.program(gradwalk.compile)
    spoken = often = False
    for i, wanted in enumerate(expected):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = next(program)
            except GradwalkError:
                return "said"
        said_now = any(issubclass(warning.category, FrozenWarning) for warning in caught)
        others = [warning for warning in caught if not issubclass(warning.category, FrozenWarning)]
        assert not others, others[0].message
        messages = [str(warning.message) for warning in caught]
        often = often or any("traced anew at each" in message for message in messages)
        spoken = spoken or any("traced anew at each" not in message for message in messages)
        if flat(found) != pytest.approx(flat(wanted), rel=1e-12, abs=1e-12, nan_ok=True):
            return "said" if said_now else f"silently wrong at call {i + 1}: {found}, not {wanted}"
    if often and case.outcome == "followed" and len(expected) < 5:
        often = False  # a program so short may well change something before each of its calls
    return "followed, and said" if spoken else "followed, traced often" if often else "followed"


def flat(x: Any) -> list[float]:
    """The numbers in what a program saw."""
    if isinstance(x, (list, tuple)):
        return [number for part in x for number in flat(part)]
    return [float(x)]


def walked(loss: Any, *leaves: Any) -> tuple[float, ...]:
    """The number of a loss, and the gradients that a walk back from it gives these leaves, which are cleared first."""
    for v in leaves:
        v.grad = 0.0
    loss.backward()
    return (loss.data, *[v.grad for v in leaves])
