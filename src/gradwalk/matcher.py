"""Which mistake is this? The first candidate that does what was observed, on every program.

Somebody's code was run on some programs: that gives the observations. A candidate is a known mistake that can be run on
the same programs. It is named if it reproduces every observation. The rules:

- **Numbers** are alike to seven decimals, or to as many digits where they are large. A nan is like a nan, an infinity
  like the same infinity, and neither is like any other number.
- **Errors** are alike if their types are (`by_type`).
- **Budget.** Who runs a program limits its steps. What was stopped is like what was stopped, and like nothing else.
- **Chance.** Where the order of a set decides, a candidate has several outcomes; one of them must be like the observed.
- **Evidence.** If all that was observed is right, there is no mistake, and no candidate is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["Outcome", "by_type", "matching", "reproduces", "same"]

Program = TypeVar("Program")
Name = TypeVar("Name")


@dataclass(frozen=True)
class Outcome:
    """What came of a program: numbers, or why there are none; `printed` and `steps` are not compared.

    >>> Outcome("numbers", {"a.grad": 2.0}).kind
    'numbers'
    """

    kind: str  # numbers, raised, stopped; missing where the program needs what is not there
    numbers: Mapping[str, float] = field(default_factory=dict)
    message: str = ""
    error: str = ""
    line: int | None = None
    printed: str = ""
    steps: int = 0


def same(got: float, expected: float) -> bool:
    """Whether two numbers are alike.

    >>> same(0.3, 0.1 + 0.2), same(1.0, 1.0000002), same(float("nan"), float("nan")), same(2.0, float("inf"))
    (True, False, True, False)
    """
    if got != got or expected != expected:
        return got != got and expected != expected
    if got == expected or math.isinf(got) or math.isinf(expected):
        return got == expected
    return abs(got - expected) <= 5e-8 * max(1.0, abs(expected))


def by_type(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes are alike: each number of the one stands in the other, or neither has any, for one reason.

    >>> by_type(Outcome("numbers", {"a.grad": 2.0}), Outcome("numbers", {"a.grad": 1.0}))
    False
    >>> by_type(Outcome("raised", error="TypeError", line=3), Outcome("raised", error="TypeError", line=8))
    True
    """
    if one.kind != other.kind or one.error != other.error:
        return False
    return all(name in other.numbers and same(x, other.numbers[name]) for name, x in one.numbers.items())


def reproduces(
    outcomes: Callable[[Program], Iterable[Outcome]],
    programs: Iterable[Program],
    observed: Callable[[Program], Outcome],
    alike: Callable[[Outcome, Outcome], bool] = by_type,
) -> bool:
    """Whether a candidate does with each program what was observed; `outcomes` gives what it may do with one.

    >>> def doubling(x):
    ...     return [Outcome("numbers", {"y": 2 * x})]
    >>> reproduces(doubling, [2.0], lambda x: Outcome("numbers", {"y": x * x}))
    True
    >>> reproduces(doubling, [2.0, 3.0], lambda x: Outcome("numbers", {"y": x * x}))
    False
    """
    return all(any(alike(outcome, observed(program)) for outcome in outcomes(program)) for program in programs)


def matching(
    candidates: Iterable[tuple[Name, Callable[[Program], Iterable[Outcome]]]],
    programs: Collection[Program],
    observed: Callable[[Program], Outcome],
    right: Callable[[Program], Outcome],
    alike: Callable[[Outcome, Outcome], bool] = by_type,
) -> Iterator[Name]:
    """The candidates that reproduce what was observed, in their order: `next(matching(…), None)` is the first.

    >>> def gives(f):
    ...     return lambda x: Outcome("numbers", {"y": f(x)})
    >>> known = {"doubled": lambda x: [gives(lambda x: 2 * x)(x)], "negated": lambda x: [gives(lambda x: -x)(x)]}
    >>> list(matching(known.items(), [1.0, 2.0], observed=gives(lambda x: -x), right=gives(lambda x: x)))
    ['negated']
    >>> list(matching(known.items(), [0.0], observed=gives(lambda x: -x), right=gives(lambda x: x)))
    []
    """
    if all(alike(observed(program), right(program)) for program in programs):
        return
    for name, outcomes in candidates:
        if reproduces(outcomes, programs, observed, alike):
            yield name
