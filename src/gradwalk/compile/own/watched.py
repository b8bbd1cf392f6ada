"""Whether containers hold what they held: the very same things, as native code sees, or equal ones, as `==` says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Any

import numpy as np

from gradwalk.compile.native import objects
from gradwalk.compile.native.pythons import ITEMS, LENGTH, VERSION, are_readable, version_of, versions_are_readable
from gradwalk.engine import Value

__all__ = ["Rotation", "Watched"]

MANY = 8  # lists: fewer that hold Values alone are compared faster in Python
SEEN, KNOWN = 8, 9  # in the table: how often words have changed, and how often when names were last known to hold
AT_ONCE = 256  # words of lists, and 16 for each list, that are looked at in one turn: some 0.1 µs


class Watched:
    """Containers beside copies of them.

    >>> xs = [Value(1.0), Value(2.0)]
    >>> watched = Watched([xs] * 10, [xs.copy() for _ in range(10)])
    >>> watched.hold()
    True
    >>> xs[0] = Value(1.0)
    >>> watched.hold()
    False

    Native code sees whether lists hold the very same things, and dicts were not changed; that is closer than `==`, for
    which 7 and 7.0 are the same. `room` is an array that it clears wherever all is as it was; `spaces` are more dicts;
    `words` are where in memory something stands that names depend on (see `as_expression`).
    """

    def __init__(
        self,
        holders: Sequence[Any],
        copies: Sequence[Any],
        room: Any = None,
        spaces: Sequence[tuple[dict[str, Any], dict[str, Any]]] = (),
        words: Iterable[int] = (),
    ) -> None:
        pairs = list(zip(holders, copies, strict=True))
        if versions_are_readable():
            pairs += spaces
        lists = [(x, then) for x, then in pairs if type(x) is list and _is_copy(x, then)] if are_readable() else []
        dicts = [x for x, then in pairs if type(x) is dict and _is_copy_of_dict(x, then)]
        dicts = dicts if versions_are_readable() else []
        if not dicts and len(lists) < MANY and not any(may_be_equal_and_not_the_same(x) for x, _ in lists):
            lists = []
        self.closely = {id(x) for x in (*(x for x, _ in lists), *dicts)}  # what native code looks at
        self.others = [x for x, _ in pairs if id(x) not in self.closely]
        self.others_then = [then for x, then in pairs if id(x) not in self.closely]
        #: Whether each is as it was; raises what comparing raises.
        self.hold: Callable[[], bool] = self._hold_others
        self.natively: dict[str, Any] = {}
        addresses = [*dict.fromkeys(words)]
        if self.closely or addresses or room is not None:
            self._places: dict[int, int] = {}  # where each stands in the table
            self._kept: dict[int, Any] = {}  # what must live for as long as its address is in the table
            clears = [0, 0] if room is None else [room.ctypes.data, room.nbytes // 8]
            rows = [0, 0, LENGTH, ITEMS, len(dicts), len(addresses), *clears, 0, -1 if addresses else 0]
            for held in dicts:
                self._places[id(held)] = len(rows)
                rows += [id(held) + 8 * VERSION, version_of(held)]
            rows += [number for address in addresses for number in (address, 0)]
            for x, then in lists:
                self._places[id(x)] = len(rows)
                rows += self._words(x, then)
                rows[1] += 1 + (len(x) if x and x[0] is not then[0] else 0)
            table = np.array(rows, np.int64)
            look = objects.bound(objects.fixed("native.lists", "look"), table.ctypes.data, locked=True)
            self.natively = {"look": look, "answer": table.data}
            self.hold = self._looking(**self.natively)

    def _words(self, x: list[Any], then: list[Any]) -> list[int]:
        """What the table says of a list; of one of rows, whose copy has copies, what it says of them, too."""
        words = [id(x), len(x), *map(id, x)]
        self._kept[id(x)] = then, x.copy()
        if x and x[0] is not then[0]:
            words += [word for row in x for word in (id(row), len(row), *map(id, row))]
        return words

    def renew(self, holder: Any, copy: Any) -> None:
        """Take a container from now on for what it is, with this copy; it has as many entries as it had."""
        if id(holder) not in self.closely:
            for i, x in enumerate(self.others):
                if x is holder:
                    self.others_then[i] = copy
            return
        table, at = self.natively["answer"], self._places[id(holder)]
        if type(holder) is dict:
            table[at + 1] = version_of(holder)
        else:
            for i, word in enumerate(self._words(holder, copy), at):
                table[i] = word

    def as_expression(self, names: Callable[[], bool]) -> tuple[str, dict[str, Any]]:
        """What is true if all hold, and names do, as it is written in Python, and what the names in it mean.

        Whether names hold is asked only if a word that they depend on has changed since they last did.

        >>> Watched([{1.0}], [{1.0}]).as_expression(lambda: True)[0]
        'hold() and names()'
        """
        if not self.natively:
            return "hold() and names()", {"hold": self.hold, "names": names}
        answer = self.natively["answer"]
        answer[KNOWN] = -1  # these may be other names than before
        sure = f"(seen := answer[{SEEN}]) >= 0 and names() and not know({KNOWN}, seen)"
        space = {**self.natively, "names": names, "know": answer.__setitem__}
        form = f"look() or answer[0] > 1 or (answer[0] and {sure})"
        if not self.others:
            return form, space
        return f"({form}) and others == copies", {**space, "others": self.others, "copies": self.others_then}

    def _hold_others(self) -> bool:
        return not self.others or self.others == self.others_then

    def _looking(self, look: Callable[[], None], answer: Any) -> Callable[[], bool]:
        """As `hold` is, with native code; all that it needs at hand."""
        others, then = self.others, self.others_then

        def hold() -> bool:
            look()
            return bool(answer[0]) and (not others or others == then)

        return hold


class Rotation:
    """Parts of lists, some of which are looked at by native code each time it is asked.

    >>> xs = [Value(float(i)) for i in range(1000)]
    >>> rotation = Rotation([(xs, start, start + 100) for start in range(0, 1000, 100)])
    >>> rotation.hold()
    True
    >>> xs[700] = Value(0.0)
    >>> [rotation.hold() for _ in range(10)].index(False) < 5
    True
    """

    def __init__(self, parts: Sequence[tuple[list[Any], int, int]]) -> None:
        self._kept = [(x, x[start:end]) for x, start, end in parts]  # for as long as their addresses are in the table
        words = [0, len(parts), LENGTH, ITEMS, 0, 8, AT_ONCE, 0]
        for x, start, end in parts:
            words += [id(x), len(x), start, end - start, *map(id, x[start:end])]
        table = np.array(words, np.int64)
        look_on = objects.bound(objects.fixed("native.lists", "look_on"), table.ctypes.data, locked=True)
        self._natively: dict[str, Any] = {"look_on": look_on, "looked": table.data}

    def hold(self) -> bool:
        """Whether those whose turn it is hold the very same things as before; once they do not, it stays so."""
        self._natively["look_on"]()
        return bool(self._natively["looked"][0])

    def as_expression(self) -> tuple[str, dict[str, Any]]:
        """The same as it is written in Python, and what the names in it mean.

        >>> xs = [1.0]
        >>> Rotation([(xs, 0, 1)]).as_expression()[0]
        'look_on() or looked[0]'
        """
        return "look_on() or looked[0]", self._natively


def may_be_equal_and_not_the_same(x: Sequence[Any]) -> bool:
    """Whether something could take the place of what a list holds, and be equal to it: all but Values.

    >>> may_be_equal_and_not_the_same([Value(1.0)]), may_be_equal_and_not_the_same([Value(1.0), 7])
    (False, True)
    """
    return not all(type(part) is Value for part in x)


def _is_copy_of_dict(x: dict[Any, Any], then: dict[Any, Any]) -> bool:
    """Whether a dict holds what its copy does, in the same order."""
    return len(x) == len(then) and all(map(is_, x, then)) and all(map(is_, x.values(), then.values()))


def _is_copy(x: list[Any], then: list[Any]) -> bool:
    """Whether a list holds what its copy does; of rows, whether these do."""
    if len(x) != len(then):
        return False
    if all(map(is_, x, then)):
        return True
    return all(
        type(row) is list and row is not other and len(row) == len(other) and all(map(is_, row, other))
        for row, other in zip(x, then, strict=True)
    )
