"""Whether containers hold what they held: what `==` of them and copies says, and quicker where there are many lists.

Native code can look through many lists in a third of the time, and see whether they hold the very same things.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import numpy as np

from gradwalk.compile.native import objects
from gradwalk.compile.native.pythons import ITEMS, LENGTH, are_readable

__all__ = ["Watched"]

MANY = 8  # lists: fewer are compared faster in Python


class Watched:
    """Containers beside copies of them.

    >>> xs = [Value(1.0), Value(2.0)]
    >>> watched = Watched([xs] * 10, [xs.copy() for _ in range(10)])
    >>> watched.hold()
    True
    >>> xs[0] = Value(1.0)
    >>> watched.hold()
    False
    """

    def __init__(self, holders: Sequence[Any], copies: Sequence[Any]) -> None:
        pairs = list(zip(holders, copies, strict=True))
        # Of a list of rows these were copied too: then the items are others, and it counts what is in them.
        lists = [(x, then) for x, then in pairs if type(x) is list and len(x) == len(then) and all(map(is_, x, then))]
        if len(lists) < MANY or not are_readable():
            lists = []
        seen = {id(x) for x, _ in lists}
        self.lists, self.lists_then = [x for x, _ in lists], [then for _, then in lists]
        self.others = [x for x, _ in pairs if id(x) not in seen]
        self.others_then = [then for x, then in pairs if id(x) not in seen]
        self.look: Callable[[], None] | None = None
        if lists:
            words = [word for x, _ in lists for word in (id(x), len(x), *map(id, x))]
            table = np.array([0, len(lists), LENGTH, ITEMS, *words], np.int64)
            self.answer = table.data
            self.look = objects.bound(objects.fixed("native.lists", "look"), table.ctypes.data, locked=True)

    def renew(self, holder: Any, copy: Any) -> None:
        """Compare a container with another copy from now on; lists that are looked at natively hold the same things."""
        for i, x in enumerate(self.others):
            if x is holder:
                self.others_then[i] = copy

    def hold(self) -> bool:
        """Whether each is equal to its copy; raises what comparing raises."""
        if self.look is not None:
            self.look()
            if not self.answer[0] and self.lists != self.lists_then:  # things may be equal and not the same
                return False
        return not self.others or self.others == self.others_then
