"""Things outside that are equal to what they were and not the same: numbers of other types, zeros of either sign."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
from __future__ import annotations

import math
from collections import defaultdict, deque
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import harness
import numpy as np
import pytest
from outside_cases import Case, Cases, outcome_of, walked

import gradwalk
from gradwalk import Value, nn
from gradwalk.compile.call import surroundings, watchlist
from gradwalk.compile.native.pythons import versions_are_readable
from gradwalk.compile.own import watched

cases = Cases()

#: What a number is, and what it becomes: equal, and not the same.
CHANGES: dict[str, tuple[Any, Any]] = {
    "an_int_a_float": (7, 7.0),
    "a_float_an_int": (7.0, 7),
    "an_int_a_bool": (1, True),
    "a_bool_an_int": (False, 0),
    "zero_minus_zero": (0.0, -0.0),
    "a_numpy_float_a_float": (np.float64(2.0), 2.0),
    "a_tuple_with_another_type": ((1, 2.0), (1.0, 2.0)),
}


def told(x: Any) -> float:
    """A number that is another one for each of these."""
    if isinstance(x, tuple):
        return told(x[0]) + 10.0 * told(x[1])
    kinds = {int: 1.0, float: 2.0, bool: 3.0, np.float64: 4.0}
    return kinds[type(x)] + (10.0 if math.copysign(1.0, x) < 0 else 0.0)


def held_by(make: Any, put: Any, read: Any) -> Any:
    """A maker of programs that keep a number somewhere, and read it in the compiled function."""

    def of(before: Any, after: Any) -> Any:
        def program(compile):
            w = Value(2.0)
            thing = make(before)

            @compile
            def loss(x):
                return w * x * told(read(thing))

            for _ in range(3):
                yield walked(loss(3.0), w)
            put(thing, after)
            for _ in range(3):
                yield walked(loss(3.0), w)
            put(thing, before)
            yield walked(loss(3.0), w)

        return program

    return of


def set_at(i: Any) -> Any:
    def put(thing: Any, x: Any) -> None:
        thing[i] = x

    return put


@dataclass
class Settings:
    """A number among others."""

    k: Any
    rest: float = 0.5


class Slotted:
    """A number in a slot."""

    __slots__ = ("k",)

    def __init__(self, k: Any) -> None:
        self.k = k


class Net(nn.Module):
    """A module with a setting, and a list of more."""

    def __init__(self, k: Any) -> None:
        self.k = k
        self.more = [k] * 12


def in_a_key(thing: dict[Any, Any], x: Any) -> None:
    thing.clear()
    thing.update({x: 1.0, **{f"k{i}": float(i) for i in range(12)}})


PLACES: dict[str, Any] = {
    "a_short_list": held_by(lambda k: [k, 0.5], set_at(0), lambda t: t[0]),
    "a_long_list": held_by(lambda k: [k] + [0.5] * 40, set_at(0), lambda t: t[0]),
    "the_midst_of_a_list": held_by(lambda k: [0.5] * 20 + [k] + [0.5] * 20, set_at(20), lambda t: t[20]),
    "one_of_many_lists": held_by(
        lambda k: [[k, float(i)] for i in range(12)], lambda t, x: set_at(0)(t[5], x), lambda t: t[5][0]
    ),
    "a_long_row": held_by(lambda k: [[k] * 12 for _ in range(3)], lambda t, x: set_at(4)(t[2], x), lambda t: t[2][4]),
    "a_row_that_is_another_list": held_by(
        lambda k: [[k] * 12 for _ in range(3)], lambda t, x: set_at(2)(t, [x] * 12), lambda t: t[2][4]
    ),
    "a_list_that_is_filled_anew": held_by(
        lambda k: [k] * 30, lambda t, x: t.__setitem__(slice(None), [x] * 30), lambda t: t[3]
    ),
    "a_short_dict": held_by(lambda k: {"k": k, "a": 0.5}, set_at("k"), lambda t: t["k"]),
    "a_long_dict": held_by(lambda k: {"k": k, **{f"k{i}": float(i) for i in range(20)}}, set_at("k"), lambda t: t["k"]),
    "a_defaultdict": held_by(
        lambda k: defaultdict(float, {"k": k, **{f"k{i}": float(i) for i in range(20)}}), set_at("k"), lambda t: t["k"]
    ),
    "a_deque": held_by(lambda k: deque([k] * 12), set_at(3), lambda t: t[3]),
    "a_tuple_in_a_list": held_by(
        lambda k: [(k, float(i)) for i in range(12)], lambda t, x: set_at(3)(t, (x, 3.0)), lambda t: t[3][0]
    ),
    "a_tuple_in_a_dict": held_by(
        lambda k: {i: (k, float(i)) for i in range(12)}, lambda t, x: set_at(3)(t, (x, 3.0)), lambda t: t[3][0]
    ),
    "an_attribute": held_by(lambda k: SimpleNamespace(k=k), lambda t, x: setattr(t, "k", x), lambda t: t.k),
    "a_dataclass": held_by(Settings, lambda t, x: setattr(t, "k", x), lambda t: t.k),
    "a_slot": held_by(Slotted, lambda t, x: setattr(t, "k", x), lambda t: t.k),
    "a_module": held_by(Net, lambda t, x: setattr(t, "k", x), lambda t: t.k),
    "a_list_of_a_module": held_by(Net, lambda t, x: set_at(4)(t.more, x), lambda t: t.more[4]),
    "a_module_past_its_back": held_by(Net, lambda t, x: set_at("k")(vars(t), x), lambda t: t.k),
    "a_very_long_list": held_by(lambda k: [k] + [0.5] * 9_000, set_at(0), lambda t: t[0]),
}
if not versions_are_readable():  # which alone shows it
    del PLACES["a_module_past_its_back"]
for _place, _make in PLACES.items():
    for _change, _pair in CHANGES.items():
        _program = _make(*_pair)
        _program.__name__ = f"{_change}_in_{_place}"
        cases.followed(_program)

KEYS = {name: pair for name, pair in CHANGES.items() if "tuple" not in name and "zero" not in name}
for _change, _pair in KEYS.items():
    _program = held_by(lambda k: {k: 1.0, **{f"k{i}": float(i) for i in range(12)}}, in_a_key, lambda t: next(iter(t)))(
        *_pair
    )
    _program.__name__ = f"{_change}_as_a_key"
    cases.followed(_program)


def dicts_say_nothing_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is on Python 3.13 and newer."""
    for module in (surroundings, watchlist, watched):
        monkeypatch.setattr(module, "versions_are_readable", lambda: False)


@cases.test()
def test_what_is_equal_and_not_the_same_is_another(case: Case) -> None:
    assert outcome_of(case) == case.outcome


@cases.test()
def test_so_it_is_where_dicts_say_nothing_of_changes(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    dicts_say_nothing_of_changes(monkeypatch)
    if "past_its_back" not in case.name:  # which only a version shows
        assert outcome_of(case) == case.outcome


@pytest.mark.parametrize("versions", [True, False], ids=["versions", "no-versions"])
def test_what_was_settled_is_seen_at_a_glance_from_then_on(versions: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that comes to be, an attribute that nobody reads, an equal number: each costs one look, not many."""
    if not versions:
        dicts_say_nothing_of_changes(monkeypatch)
    w, thing = Value(2.0), SimpleNamespace(k=2.0, rest=0.0)
    names: dict[str, Any] = {"w": w, "thing": thing}
    exec("def f(x):\n    return w * x * thing.k + (absent if x < 0 else 0.0)", names)
    compiled = gradwalk.compile(names["f"])
    for happens in (
        lambda: names.update(more=1),
        lambda: setattr(thing, "rest", 1.0),
        lambda: setattr(thing, "k", 4 / 2),
    ):
        for _ in range(3):
            compiled(3.0)
        happens()
        for _ in range(2):
            compiled(3.0)
        [trace] = compiled.traces()
        assert trace.surroundings.quickly()


KINDS = {int: 1.0, float: 2.0, bool: 3.0, np.float64: 4.0}


def kinds_of(xs: Any) -> float:
    return sum(KINDS[type(x)] * 10.0**i for i, x in enumerate(xs))


def amid(x: Any, others: Any) -> list[Any]:
    return [*[others] * 50, x, *[others] * 50]


def of_list(o: Any) -> Any:
    return lambda xs: o.w * kinds_of(xs[:3]) + sum(xs)


def of_the_midst(o: Any) -> Any:
    return lambda xs: o.w * kinds_of(xs[50:51]) + sum(xs)


ARGUMENTS: dict[str, harness.Case] = {
    "a bool": harness.Case(of_list, [([1.0, 2.0, 3.0],), ([1.0, True, 3.0],), ([1.0, 2.5, 3.0],)]),
    "a NumPy number": harness.Case(of_list, [([1.0, 2.0, 3.0],), ([1.0, np.float64(2.0), 3.0],)]),
    "a bool amid ints": harness.Case(of_list, [([1, 2, 3],), ([1, True, 3],), ([1, 4, 3],)]),
    "a bool in a row": harness.Case(
        lambda o: lambda xs: o.w * kinds_of(xs[0]), [([[1.0, 2.0], [3.0, 4.0]],), ([[1.0, True], [3.0, 4.0]],)]
    ),
    "a bool in a long list": harness.Case(of_the_midst, [(amid(1.0, 0.5),), (amid(True, 0.5),), (amid(2.0, 0.5),)]),
    "a large int": harness.Case(
        lambda o: lambda xs: o.w * (xs[1] % 2) * 1.0, [([1, 2, 3],), ([1, 2**53 + 1, 3],), ([1, 2**53 + 2, 3],)]
    ),
    "a large int amid floats": harness.Case(
        lambda o: lambda xs: o.w * (xs[1] % 2) * 1.0, [([1.0, 2, 3.0],), ([1.0, 2**53 + 1, 3.0],)]
    ),
    "a large int in a long list": harness.Case(
        lambda o: lambda xs: o.w * (xs[50] % 2) * 1.0, [(amid(3, 1),), (amid(2**53 + 1, 1),)]
    ),
    "keys": harness.Case(
        lambda o: lambda d: o.w * kinds_of(d) * d[1], [({1: 2.0},), ({1.0: 2.0},), ({True: 2.0},), ({1: 3.0},)]
    ),
    "zeros as keys": harness.Case(
        lambda o: lambda d: o.w * sum(math.copysign(1.0, key) for key in d), [({0.0: 2.0},), ({-0.0: 2.0},)]
    ),
    "tuples as keys": harness.Case(
        lambda o: lambda d: o.w * sum(kinds_of(key) for key in d), [({(1, 2): 2.0},), ({(1.0, 2): 2.0},)]
    ),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_are_equal_and_not_the_same_are_others(name: str) -> None:
    assert not harness.run(ARGUMENTS[name])
