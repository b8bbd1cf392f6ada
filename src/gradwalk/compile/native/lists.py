"""Lists and arrays as they lie in memory: whether many lists hold what they held; the numbers in lists, or in arrays.

All is run with the interpreter's lock held, so that nobody changes a list meanwhile.
"""

from __future__ import annotations

import math

from gradwalk.compile.native.microkernels import doubles, ints, longs

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
    """Read the numbers of lists and tuples in each other into memory, one after the other.

    The first word of the table says how it went: 1; 0 if the thing is not as it is described, or holds an int that no
    float can hold; 2 if a number is of another class, or larger, than it must be. It goes on with the address of the
    thing, and of what describes it; where the numbers go, or 0 if they are not to be looked at; of which class each
    must be, and how large at most, or 0 where all will do (there 0, or a number below 0, where any will). Then in which
    words of a thing its class and its length stand, and the items of a list and of a tuple; the class of floats, and in
    which word of one its number stands; that of ints, in which word of one its size stands, and its digits; which bits
    of a size matter, and the sizes of ints of no digit, of one and of two, above 0 and below.

    A description says how many lists and tuples there are, how many things that must be the same, and how many runs of
    numbers; where there is room for the places of the items of each list. Then for each list or tuple in which one it
    stands, and where in that; its class, 1 if that is lists, and its length. Then for each thing in which list it
    stands, and where in that, and its address. Then for each run in which list it stands, where it begins, and how many
    numbers it has.
    """
    t = longs(table)
    t[0] = 0
    lists, described = longs(t[2]), 4
    items_of, out, classes, limits = longs(lists[3]), doubles(t[3]), longs(t[4]), doubles(t[5])
    class_at, length_at, in_list, in_tuple = t[6], t[7], t[8], t[9]
    floats, number_at, whole, size_at, digits_at, matters = t[10], t[11], t[12], t[13], t[14], t[15]
    for i in range(lists[0]):
        at = t[1] if i == 0 else longs(items_of[lists[described]])[lists[described + 1]]
        thing = longs(at)
        if thing[class_at] != lists[described + 2] or thing[length_at] != lists[described + 4]:
            return
        items_of[i] = thing[in_list] if lists[described + 3] else at + 8 * in_tuple
        described += 5
    for _ in range(lists[1]):
        if longs(items_of[lists[described]])[lists[described + 1]] != lists[described + 2]:
            return
        described += 3
    if t[3] == 0:
        t[0] = 1
        return
    place = 0
    for _ in range(lists[2]):
        items, count = longs(items_of[lists[described]] + 8 * lists[described + 1]), lists[described + 2]
        for i in range(count):
            own = longs(items[i])[class_at]
            if own == floats:
                x = doubles(items[i])[number_at]
            elif own == whole:
                size, digits = longs(items[i])[size_at] & matters, ints(items[i] + 8 * digits_at)
                if size == t[16]:
                    x = 0.0
                elif size == t[17]:
                    x = float(digits[0])
                elif size == t[19]:
                    x = -float(digits[0])
                elif size == t[18] or size == t[20]:
                    x = float(digits[0]) + float(digits[1]) * 1073741824.0
                    if x >= 9007199254740992.0:
                        return
                    if size == t[20]:
                        x = -x
                else:
                    return
            else:
                return
            if t[4]:
                kind, limit = classes[place + i], limits[place + i]
                if (kind != 0 and kind != own) or (limit >= 0.0 and not math.fabs(x) <= limit):
                    t[0] = 2
                    return
            out[place + i] = x
        place += count
        described += 3
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
