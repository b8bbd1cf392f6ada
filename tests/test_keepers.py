"""Leaves that are held elsewhere for a while: who holds them, how they are cleared, and how changes are told."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gradwalk import Value, keepers, zero_grad


class Holder:
    """Keeps leaves as compiled code does, and says whether it could clear them."""

    def __init__(self, *, clears: bool) -> None:
        self.clears = clears
        self.asked: list[list[Any]] = []

    def handed_back(self) -> Any:
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


def test_leaves_that_nobody_holds_are_cleared() -> None:
    leaves = [Value(1.0), Value(2.0)]
    for v in leaves:
        v.grad = 5.0
    keepers.clear(leaves)
    assert [v.grad for v in leaves] == [0.0, 0.0]


def test_nobody_keeps_anything_at_first() -> None:
    program = "from gradwalk import Value, keepers; Value(2.0) * 3; print(keepers.keeping, len(keepers.known))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0"]
