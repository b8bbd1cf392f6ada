"""Leaves in somebody else's care: a keeper holds their numbers elsewhere, and gives them back at the first touch.

While a keeper has a leaf, the leaf's fields are empty; whoever reads or sets one makes the keeper hand everything back.
A keeper can also clear gradients, clip them and take an optimiser's step where the numbers are, without handing back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partialmethod
from operator import is_
from typing import Any, Protocol
from weakref import WeakValueDictionary

from gradwalk.turns import Turn

__all__ = ["Keeper", "Leaves", "Seen", "clear", "count", "keeper_of"]


class Keeper(Protocol):
    """Who holds leaves. What it is asked to do where they are, it does for all the leaves given or not at all.

    >>> keeper_of([Value(1.0)]) is None
    True
    """

    def handed_back(self) -> AbstractContextManager[Any]:
        """Let the leaves hold their numbers again, and leave them alone for the length of a `with` block."""

    def watch(self, containers: list[Any]) -> Callable[[], bool]:
        """What tells whether lists, tuples and dicts, in which leaves were found, hold what they hold now."""

    def zero_grad(self, leaves: list[Any]) -> bool:
        """Set gradients to 0; says whether it did."""

    def clearing(self, leaves: list[Any], containers: list[Any]) -> Callable[[], bool]:
        """What does the same for as long as lists, tuples and dicts, in which leaves were found, hold what they do now.

        The leaves themselves stay as they are, and need not be looked through at every call.
        """

    def step(self, optimizer: Any, constants: tuple[float, ...]) -> bool:
        """Take an optimiser's step, given what its rule takes in this one; says whether it did."""

    def all_reduce(self, leaves: list[Any], add_up: Any) -> bool:
        """Let a function add gradients up over processes, in the leaves' order; says whether it did."""

    def clip_norm(self, leaves: list[Any], limit: float) -> float | None:
        """Scale gradients down to a norm; gives the norm before, or None if it did not."""

    def clip_value(self, leaves: list[Any], limit: float) -> bool:
        """Clip each gradient; says whether it did."""


class Leaves(list[Any]):
    """A list of leaves that counts its changes, so that who has looked through it knows whether to look again.

    >>> leaves = Leaves([Value(1.0)])
    >>> leaves[0] = Value(2.0)
    >>> leaves.changes
    1
    """

    changes = 0


def _changed(leaves: Leaves, change: Callable[..., Any], *args: Any, **options: Any) -> Any:
    leaves.changes += 1
    return change(leaves, *args, **options)


for _name in ("__setitem__", "__delitem__", "__iadd__", "__imul__", "append", "clear", "extend", "insert", "pop",
              "remove", "reverse", "sort"):  # fmt: skip
    setattr(Leaves, _name, partialmethod(_changed, getattr(list, _name)))


class Seen:
    """A list of leaves that was looked through.

    >>> Seen([Value(1.0)]).holds([Value(1.0)])
    False
    """

    __slots__ = ("leaves", "then")

    def __init__(self, leaves: list[Any]) -> None:
        self.leaves = leaves
        self.then: Any = leaves.changes if leaves.__class__ is Leaves else leaves.copy()

    def holds(self, leaves: list[Any]) -> bool:
        """Whether this is the list, and holds what it held.

        >>> leaves = [Value(1.0)]
        >>> seen = Seen(leaves)
        >>> seen.holds(leaves)
        True
        >>> leaves[0] = Value(1.0)
        >>> seen.holds(leaves)
        False
        """
        if leaves is not self.leaves:
            return False
        if leaves.__class__ is Leaves:
            return leaves.changes == self.then  # type: ignore[no-any-return]
        return len(leaves) == len(self.then) and all(map(is_, leaves, self.then))  # two tensors can be equal


keeping = 0  # how many keepers have their leaves now; while there are none, nobody need look for one
takes = 0  # how often a keeper has taken its leaves; while it stays the same, nobody has taken any
_lock = Turn()
known: WeakValueDictionary[int, Keeper] = WeakValueDictionary()  # by id(): leaves that a keeper takes from time to time


def count(more: int) -> None:
    """Note that so many keepers took their leaves, or gave them back.

    >>> from gradwalk import keepers
    >>> keepers.count(1)
    >>> keepers.count(-1)
    """
    global keeping, takes
    with _lock:
        keeping += more
        takes += more > 0


def keeper_of(leaves: Any) -> Keeper | None:
    """Who has one of a list of leaves now, or more; None if nobody has.

    >>> keeper_of([Value(1.0), Value(2.0)]) is None
    True
    """
    if not keeping or not isinstance(leaves, list):
        return None
    for v in leaves:
        keeper: Keeper | None = getattr(v, "keeper", None)
        if keeper is not None:
            return keeper
    return None


def clear(leaves: list[Any], known: Keeper | None = None) -> None:
    """Set the gradients of leaves back to 0, wherever they are; `known` is who had them last, if that is known.

    >>> x = Value(3.0)
    >>> (x * x).backward()
    >>> clear([x])
    >>> x.grad
    0.0
    """
    if known is not None and known.zero_grad(leaves):
        return
    keeper = keeper_of(leaves)
    if keeper is None or not keeper.zero_grad(leaves):
        for v in leaves:
            v.grad = 0.0
