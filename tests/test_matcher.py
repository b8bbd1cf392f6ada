"""One matcher for every question of the kind "which mistake is this?", and its rules."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from gradwalk.matcher import Outcome, by_type, matching, reproduces, same

nan, inf = math.nan, math.inf


def gives(f: Callable[[float], float]) -> Callable[[float], Outcome]:
    return lambda x: Outcome("numbers", {"y": f(x)})


def candidate(f: Callable[[float], float]) -> Callable[[float], list[Outcome]]:
    return lambda x: [gives(f)(x)]


KNOWN = {
    "doubled": candidate(lambda x: 2 * x),
    "squared": candidate(lambda x: x * x),
    "negated": candidate(lambda x: -x),
    "negated too": candidate(lambda x: 0.0 - x),
}
RIGHT = gives(lambda x: x)


@pytest.mark.parametrize(
    ("got", "expected", "alike"),
    [
        (0.1 + 0.2, 0.3, True), (1.0, 1.0 + 4e-8, True), (1.0, 1.0 + 6e-8, False), (1e9, 1e9 + 49, True),
        (1e9, 1e9 + 51, False), (nan, nan, True), (nan, 1.0, False), (1.0, nan, False), (inf, inf, True),
        (inf, -inf, False), (2.0, inf, False), (inf, 2.0, False), (nan, inf, False), (0.0, -0.0, True),
    ],
)  # fmt: skip
def test_numbers(got: float, expected: float, alike: bool) -> None:
    assert same(got, expected) is alike


def test_the_first_that_reproduces_every_observation_is_named_and_all_can_be_had() -> None:
    found = matching(KNOWN.items(), [2.0, 3.0], gives(lambda x: -x), RIGHT)
    assert next(found) == "negated"
    assert list(found) == ["negated too"]


def test_one_program_more_tells_apart_what_one_alone_does_not() -> None:
    squared = gives(lambda x: x * x)
    assert next(matching(KNOWN.items(), [2.0], squared, RIGHT)) == "doubled"
    assert next(matching(KNOWN.items(), [2.0, 3.0], squared, RIGHT)) == "squared"


def test_nothing_is_named_if_no_candidate_reproduces_all() -> None:
    assert list(matching(KNOWN.items(), [2.0, 3.0], gives(lambda x: x + 1), RIGHT)) == []


def test_without_evidence_nothing_is_named() -> None:
    """At 0 the doubled number is right, and so is the negated one: neither may be accused of anything."""
    assert list(matching(KNOWN.items(), [0.0], gives(lambda x: -x), RIGHT)) == []
    assert list(matching(KNOWN.items(), [], gives(lambda x: -x), RIGHT)) == []


def test_where_chance_decides_one_of_the_outcomes_must_be_alike_in_each_program() -> None:
    def either(x: float) -> list[Outcome]:
        return [gives(lambda x: x + 1)(x), gives(lambda x: x - 1)(x)]

    turns = {1.0: 2.0, 2.0: 1.0}
    assert reproduces(either, turns, gives(lambda x: turns[x]))
    assert not reproduces(either, turns, gives(lambda x: 2 * x + 1))


def test_no_candidate_runs_longer_than_it_must() -> None:
    ran: list[float] = []

    def counted(x: float) -> list[Outcome]:
        ran.append(x)
        return [gives(lambda x: 9.0)(x)]

    assert not reproduces(counted, [1.0, 2.0, 3.0], RIGHT)
    assert ran == [1.0]


def test_a_crash_explains_a_crash_of_its_type() -> None:
    here = Outcome("raised", message="'float' object has no attribute 'grad'", error="AttributeError", line=12)
    elsewhere = Outcome("raised", message="'NoneType' object is not callable", error="AttributeError", line=40)
    other = Outcome("raised", message=here.message, error="TypeError", line=12)
    known = {"crashes": lambda program: [elsewhere]}
    assert by_type(here, elsewhere)
    assert not by_type(here, other)
    assert list(matching(known.items(), [""], lambda program: here, lambda program: Outcome("numbers"))) == ["crashes"]


def test_what_was_stopped_is_like_nothing_that_ended() -> None:
    stopped, ended = Outcome("stopped", steps=300_000), Outcome("numbers", {"a.grad": 1.0})
    assert by_type(stopped, Outcome("stopped", steps=5))
    assert not by_type(stopped, ended)
    assert not by_type(stopped, Outcome("raised", error="RecursionError"))
    assert not by_type(ended, Outcome("numbers", {"b.grad": 1.0}))
