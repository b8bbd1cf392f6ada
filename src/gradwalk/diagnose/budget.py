"""A budget of steps for code that may never end: what is counted is calls, which are the same on every machine.

An engine that walks every path of a graph needs 2²⁵ calls where 25 would do. It is stopped, not waited for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["OutOfSteps", "Steps", "limited"]


class OutOfSteps(BaseException):  # not an Exception, so that a learner's `except Exception` lets it through
    """The code under observation has used up its steps.

    >>> try:
    ...     with limited(1000):
    ...         while True:
    ...             _ = abs(-1)
    ... except OutOfSteps:
    ...     print("stopped")
    stopped
    """


class Steps:
    """How many steps were used.

    >>> with limited(100) as steps:
    ...     for x in range(50):
    ...         _ = abs(x)
    >>> 50 <= steps.used <= 60
    True
    """

    __slots__ = ("used",)

    def __init__(self) -> None:
        self.used = 0


@contextmanager
def limited(steps: int, watch: Callable[[FrameType], None] | None = None) -> Iterator[Steps]:
    """Run the body of the `with` for at most this many calls; `watch` is shown the frame of each call in Python.

    >>> with limited(100):
    ...     print(max(1, 2))
    2
    """
    count = Steps()

    def counting(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            if watch is not None:
                watch(frame)
        elif event != "c_call":
            return
        count.used += 1
        if count.used > steps:
            raise OutOfSteps(f"more than {steps:,} steps")

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        yield count
    finally:
        sys.setprofile(before)
