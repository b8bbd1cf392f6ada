"""Leaves that are held elsewhere for a while: who holds them, how they are cleared, and how changes are told."""

from __future__ import annotations

import contextlib
import operator
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gradwalk import Value, keepers, modes, zero_grad
from gradwalk.engine import walk_back
from gradwalk.node import numbers_of, set_numbers
from gradwalk.reverse import add_to_leaves


class Holder:
    """Keeps leaves as compiled code does, and says whether it could clear them."""

    def __init__(self, *, clears: bool) -> None:
        self.clears = clears
        self.asked: list[list[Any]] = []
        self.handed = 0

    def handed_back(self) -> Any:
        self.handed += 1
        return contextlib.nullcontext()

    def zero_grad(self, leaves: list[Any]) -> bool:
        self.asked.append(leaves)
        return self.clears


def held_by(holder: Holder) -> Value:
    v = Value(3.0)
    v._note().keeper = holder  # type: ignore[assignment]
    return v


def test_whoever_holds_one_of_a_list_of_leaves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    holder: Any = Holder(clears=True)
    other: Any = Holder(clears=True)
    held, free = held_by(holder), Value(2.0)
    monkeypatch.setattr(keepers, "keeping", 1)
    leaves: list[Any]
    for leaves in ([held], [held, free], [free, held], [free, free, held], [3.0, held], [None, free, held, 3.0]):
        assert keepers.keeper_of(leaves) is holder
    assert keepers.keeper_of([held, held_by(other)]) is holder
    assert keepers.keeper_of([held_by(other), held]) is other
    for leaves in ([], [free], [3.0], [free, None]):
        assert keepers.keeper_of(leaves) is None


def test_only_lists_are_searched_and_only_while_something_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held = held_by(Holder(clears=True))
    monkeypatch.setattr(keepers, "keeping", 0)
    assert keepers.keeper_of([held]) is None
    monkeypatch.setattr(keepers, "keeping", 1)
    for other in ((held,), {held}, iter([held]), held, None, "held", 3.0):
        assert keepers.keeper_of(other) is None


@pytest.mark.parametrize("clear", [keepers.clear, zero_grad])
@pytest.mark.parametrize("clears", [True, False])
def test_leaves_are_cleared_by_their_holder_if_it_can(
    monkeypatch: pytest.MonkeyPatch, clears: bool, clear: Callable[[list[Any]], None]
) -> None:
    holder = Holder(clears=clears)
    leaves = [Value(1.0), held_by(holder)]
    for v in leaves:
        v.grad = 5.0
    monkeypatch.setattr(keepers, "keeping", 1)
    clear(leaves)
    assert holder.asked == [leaves]
    assert [v.grad for v in leaves] == ([5.0, 5.0] if clears else [0.0, 0.0])


def test_a_walk_has_its_leaves_back_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = Holder(clears=True)
    held = held_by(holder)
    root = held * held
    monkeypatch.setattr(keepers, "keeping", 1)
    walk_back(root, 1.0)
    assert holder.handed > 0
    monkeypatch.setattr(keepers, "keeping", 0)
    assert held.grad == 6.0


class Taker(Holder):
    """Has the numbers themselves, until it is asked for them."""

    def __init__(self, *leaves: Value) -> None:
        super().__init__(clears=False)
        self.taken = [(v, v._data, v._grad) for v in leaves]
        for v in leaves:
            v._note().keeper = self  # type: ignore[assignment]
            del v._data, v._grad

    def handed_back(self) -> Any:
        for v, data, grad in self.taken:
            v._data, v._grad = data, grad
        return super().handed_back()


@pytest.mark.parametrize(
    "op",
    [
        *(operator.add, operator.sub, operator.mul, operator.truediv),
        *(lambda a, b: a + 2, lambda a, b: a - 2, lambda a, b: a * 2, lambda a, b: a / 2, lambda a, b: a**2),
        *(lambda a, b: 2 - a, lambda a, b: 2 / a, lambda a, b: -a, lambda a, b: a.relu(), lambda a, b: a.tanh()),
    ],
)
def test_ops_have_the_numbers_of_leaves_that_are_held(
    monkeypatch: pytest.MonkeyPatch, op: Callable[..., Value]
) -> None:
    free = [Value(3.0), Value(5.0)]
    right = op(*free)
    right.backward()
    held = [Value(3.0), Value(5.0)]
    holder = Taker(*held)
    monkeypatch.setattr(keepers, "keeping", 1)
    out = op(*held)
    assert holder.handed > 0
    out.backward()
    assert (out.data, [v.grad for v in held]) == (right.data, [v.grad for v in free])


def test_a_hook_may_have_the_leaves_taken_during_a_walk() -> None:
    x = Value(0.5)
    out = (x * 2).exp()

    def take(gradient: float) -> None:
        Taker(x)
        keepers.count(1)

    out.register_hook(take)
    try:
        out.backward()
    finally:
        keepers.count(-1)
    assert x.grad == 2 * out.data


def test_numbers_set_on_leaves_that_are_held_are_not_those_that_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [Value(3.0), Value(5.0)]
    Taker(*held)
    monkeypatch.setattr(keepers, "keeping", 1)
    set_numbers(held, [7.0, 9.0])
    assert [v.data for v in held] == [7.0, 9.0]


def test_leaves_that_nobody_holds_are_cleared() -> None:
    leaves = [Value(1.0), Value(2.0)]
    for v in leaves:
        v.grad = 5.0
    keepers.clear(leaves)
    assert [v.grad for v in leaves] == [0.0, 0.0]


def test_nobody_keeps_anything_at_first() -> None:
    counts = "keepers.keeping, len(keepers.known), modes.layers"
    program = f"from gradwalk import Value, keepers, modes; Value(2.0) * 3; print({counts})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0", "0"]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "__setitem__": lambda leaves: operator.setitem(leaves, 0, Value(3.0)),
    "__delitem__": lambda leaves: operator.delitem(leaves, 0),
    "__iadd__": lambda leaves: leaves.__iadd__([Value(3.0)]),
    "__imul__": lambda leaves: leaves.__imul__(2),
    "append": lambda leaves: leaves.append(Value(3.0)),
    "clear": lambda leaves: leaves.clear(),
    "extend": lambda leaves: leaves.extend([Value(3.0)]),
    "insert": lambda leaves: leaves.insert(0, Value(3.0)),
    "pop": lambda leaves: leaves.pop(),
    "remove": lambda leaves: leaves.remove(leaves[0]),
    "reverse": lambda leaves: leaves.reverse(),
    "sort": lambda leaves: leaves.sort(key=id),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_list_of_leaves_counts_its_changes(change: str) -> None:
    values = [Value(1.0), Value(2.0)]
    leaves, plain = keepers.Leaves(values), values[:]
    assert leaves.changes == 0
    seen = keepers.Seen(leaves)
    assert seen.holds(leaves)
    assert not seen.holds(keepers.Leaves(values))  # another list that holds the same
    CHANGES[change](leaves)
    CHANGES[change](plain)
    assert len(leaves) == len(plain)
    assert leaves.changes == 1
    assert not seen.holds(leaves)
    CHANGES["append"](leaves)
    assert leaves.changes == 2
    assert keepers.Leaves(values).changes == 0


def test_every_way_to_change_a_list_is_counted() -> None:
    ways = {name for name in vars(list) if not name.startswith("__")} - {"copy", "count", "index"}
    assert {*ways, "__setitem__", "__delitem__", "__iadd__", "__imul__"} == {*CHANGES}


def test_those_who_take_leaves_are_counted_and_so_is_how_often() -> None:
    keeping, takes = keepers.keeping, keepers.takes
    for more, now, taken in ((1, 1, 1), (1, 2, 2), (-1, 1, 2), (0, 1, 2), (1, 2, 3), (-1, 1, 3), (-1, 0, 3)):
        keepers.count(more)
        assert (keepers.keeping - keeping, keepers.takes - takes) == (now, taken)


def test_many_numbers_are_read_from_leaves_that_somebody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = [Value(1.0), Value(2.0)]
    monkeypatch.setattr(keepers, "keeping", 1)
    Taker(leaves[1])
    assert numbers_of(leaves) == [1.0, 2.0]


def test_shares_are_added_to_leaves_that_somebody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = [Value(1.0), Value(2.0)]
    leaves[1].grad = 3.0
    monkeypatch.setattr(keepers, "keeping", 1)
    Taker(leaves[1])
    add_to_leaves(leaves, [0.5, 0.25])
    assert [v.grad for v in leaves] == [0.5, 3.25]


class Doubling(modes.Interpreter):
    """Shows and writes twice the number."""

    def read(self, v: Any, field: str, number: Any) -> Any:
        return 2.0 * number

    def write(self, v: Any, field: str, number: Any) -> Any:
        return 2.0 * number


@pytest.mark.parametrize("field", ["data", "grad"])
def test_who_reads_and_writes_in_between_does_so_wherever_the_number_is(
    monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    v = Value(3.0)
    setattr(v, field, 3.0)
    with modes.entered(Doubling()):
        assert getattr(v, field) == 6.0
        setattr(v, field, 5.0)
    assert getattr(v, field) == 10.0
    monkeypatch.setattr(keepers, "keeping", 1)
    Taker(v)
    with modes.entered(Doubling()):
        assert getattr(v, field) == 20.0
