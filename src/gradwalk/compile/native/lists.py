"""Lists of Python's, as they lie in memory: whether many of them hold what they held, and the floats in one.

Both are run with the interpreter's lock held, so that nobody changes a list meanwhile.
"""

from __future__ import annotations

from gradwalk.compile.native.microkernels import doubles, longs

__all__ = ["look", "read"]


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


def read(table: int, unused: int) -> None:
    """Read a list of floats into memory; says in the first word of the table whether all of them were: 1 or 0.

    It goes on with the list, how long it must be, and where the numbers go; then in which words of a list its length
    and the address of its items stand, in which of a float its class and its number, and the address of that class.
    """
    t = longs(table)
    t[0] = 0
    words, length, out = longs(t[1]), t[2], doubles(t[3])
    if words[t[4]] != length:
        return
    items, class_at, number_at, floats = longs(words[t[5]]), t[6], t[7], t[8]
    for i in range(length):
        if longs(items[i])[class_at] != floats:
            return
        out[i] = doubles(items[i])[number_at]
    t[0] = 1
