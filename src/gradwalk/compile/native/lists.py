"""Lists and arrays as they lie in memory: whether many lists hold what they held; the floats in a list, or in arrays.

All is run with the interpreter's lock held, so that nobody changes a list meanwhile.
"""

from __future__ import annotations

from gradwalk.compile.native.microkernels import doubles, longs

__all__ = ["fetch", "look", "look_on", "read", "read_leaves"]


def look(table: int, unused: int) -> None:
    """Say in the first word of a table whether lists and dicts hold what they held: 1 or 0; if so, clear some memory.

    It goes on with the number of lists, and in which words of a list its length and the address of its items stand;
    with that of dicts, and of words that names depend on; where the memory is, and how many words of it; how often a
    change of those words was seen, and how often when the names were last known to hold. If it still is as often, the
    first word is 2 instead of 1. Then for each dict where its version stands, and which that was; for each word where
    it stands, and what it was when last looked at; for each list where it is, how long it was, and where each of its
    items is.
    """
    t = longs(table)
    t[0] = 0
    length_at, items_at = t[2], t[3]
    at = 10
    for _ in range(t[4]):
        if longs(t[at])[0] != t[at + 1]:
            return
        at += 2
    for _ in range(t[5]):
        now = longs(t[at])[0]
        if now != t[at + 1]:
            t[at + 1] = now
            t[8] += 1
        at += 2
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
    room = longs(t[6])
    for i in range(t[7]):
        room[i] = 0
    t[0] = 2 if t[8] == t[9] else 1


def look_on(table: int, unused: int) -> None:
    """Say in the first word of a table whether some parts of lists hold what they held: 1 or 0; go on there next time.

    It goes on with the number of parts, and in which words of a list its length and the address of its items stand;
    with the part whose turn it is, where that stands in the table, and how many words to look at in one go. Then for
    each part in which list it is, how long that was, where in it the part begins, how long it is, and where each of
    its items is. Where something is not what it was, it stops for good.
    """
    t = longs(table)
    t[0] = 0
    length_at, items_at = t[2], t[3]
    part, at, left = t[4], t[5], t[6]
    while left > 0:
        words, start, count = longs(t[at]), t[at + 2], t[at + 3]
        if words[length_at] != t[at + 1]:
            return
        items = longs(words[items_at])
        different = 0
        for i in range(count):
            different |= items[start + i] ^ t[at + 4 + i]
        if different != 0:
            return
        left -= 16 + count
        at += 4 + count
        part += 1
        if part == t[1]:
            part, at = 0, 8
    t[4], t[5], t[0] = part, at, 1


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


def read_leaves(table: int, unused: int) -> None:
    """Read the floats in one field of many nodes; says in the first word of the table whether all were leaves: 1 or 0.

    It goes on with the number of nodes, where their addresses stand, and where the numbers go; then in which words of
    a node the field and its kind stand, and what a leaf has there; in which of a float its class and its number, and
    the address of that class.
    """
    t = longs(table)
    t[0] = 0
    nodes, out, field, kind, leaf = longs(t[2]), doubles(t[3]), t[4], t[5], t[6]
    class_at, number_at, floats = t[7], t[8], t[9]
    for i in range(t[1]):
        words = longs(nodes[i])
        number = words[field]
        if words[kind] != leaf or number == 0 or longs(number)[class_at] != floats:
            return
        out[i] = doubles(number)[number_at]
    t[0] = 1


def fetch(table: int, unused: int) -> None:
    """Copy arrays of floats into memory; says in the first word of the table whether all are what they were: 1 or 0.

    It goes on with the number of arrays, and in which words of one its class, the address of its numbers, how many dims
    it has, the addresses of their lengths and distances, and its dtype stand; then for each where it is, its class, its
    dtype, its dims, their lengths and distances, how many numbers it has, and where these go.
    """
    t = longs(table)
    t[0] = 0
    class_at, data_at, dims_at, lengths_at, distances_at, dtype_at = t[2], t[3], t[4], t[5], t[6], t[7]
    at = 8
    for _ in range(t[1]):
        words, dims = longs(t[at]), t[at + 3]
        if words[class_at] != t[at + 1] or words[dtype_at] != t[at + 2] or (words[dims_at] & 0xFFFFFFFF) != dims:
            return
        lengths, distances = longs(words[lengths_at]), longs(words[distances_at])
        at += 4
        for i in range(dims):
            if lengths[i] != t[at + i] or distances[i] != t[at + dims + i]:
                return
        at += 2 * dims
        numbers, out = doubles(words[data_at]), doubles(t[at + 1])
        for i in range(t[at]):
            out[i] = numbers[i]
        at += 2
    t[0] = 1
