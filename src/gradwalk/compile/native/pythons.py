"""Python's lists and floats as native code can read them: in which words of memory their parts stand.

A list or a float of CPython's is a few words of memory, and `id()` tells where. That these mean what is written here is
tried out before anybody relies on it; where they do not, lists are looked at in Python.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np

from gradwalk.compile.native import objects

__all__ = ["ITEMS", "LENGTH", "FloatReader", "are_readable"]

LIST, LENGTH, ITEMS = 5, 2, 3  # words of a list; which say how long it is, and where its items are
FLOAT, CLASS, NUMBER = 3, 1, 2  # words of a float; which say what it is, and its number


@cache
def are_readable() -> bool:
    """Whether this Python's lists and floats are what is written here.

    >>> are_readable()
    True
    """
    word: Any = ctypes.c_int64
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    if (list.__basicsize__, float.__basicsize__) != (8 * LIST, 8 * FLOAT):
        return False
    things = [1.5, -2.5, object()]
    words, number = (word * LIST).from_address(id(things)), (word * FLOAT).from_address(id(things[0]))
    if words[LENGTH] != 3 or [*(word * 3).from_address(words[ITEMS])] != [*map(id, things)]:
        return False
    return number[CLASS] == id(float) and ctypes.c_double.from_address(id(things[0]) + 8 * NUMBER).value == 1.5


class FloatReader:
    """Reads lists of floats into one array, at places of it.

    >>> numbers = np.zeros(4)
    >>> reader = FloatReader(numbers)
    >>> reader.read([1.5, 2.5], 1, 2), numbers.tolist()
    (True, [0.0, 1.5, 2.5, 0.0])
    >>> reader.read([1.5, 2], 0, 2), reader.read([1.5, 2.5, 3.5], 0, 2)
    (False, False)
    """

    def __init__(self, numbers: Any) -> None:
        self._numbers, self._start = numbers, numbers.ctypes.data
        table = np.array([0, 0, 0, 0, LENGTH, ITEMS, CLASS, NUMBER, id(float)], np.int64)
        self._table = table.data
        self._read: Any = None
        if are_readable():
            self._read = objects.bound(objects.fixed("native.lists", "read"), table.ctypes.data, locked=True)

    def read(self, xs: Any, at: int, length: int) -> bool:
        """Read so many numbers of a list; False if it holds others than floats, or not as many, or cannot be read."""
        if self._read is None or xs.__class__ is not list:
            return False
        table = self._table
        table[1], table[2], table[3] = id(xs), length, self._start + 8 * at
        self._read()
        return bool(table[0])
