"""Many lists at a glance: whether each holds the very things that it held. What is in them is not looked at."""

from __future__ import annotations

from gradwalk.compile.native.microkernels import longs

__all__ = ["look"]


def look(table: int, unused: int) -> None:
    """Say in the first word of a table whether lists hold what they held: 1 or 0.

    It goes on with the number of lists, and in which words of a list its length and the address of its items stand;
    then for each where it is, how long it was, and where each of its items is.
    """
    t = longs(table)
    t[0] = 0
    length_at, items_at = t[2], t[3]
    at = 4
    for _ in range(t[1]):
        words, length = longs(t[at]), t[at + 1]
        if words[length_at] != length:
            return
        items = longs(words[items_at])
        at += 2
        different = 0
        for i in range(length):
            different |= items[i] ^ t[at + i]
        if different != 0:
            return
        at += length
    t[0] = 1
