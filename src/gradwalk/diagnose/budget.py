"""A budget of steps for code that may never end: what is counted is calls, which are the same on every machine.

An engine that walks every path of a graph needs 2²⁵ calls where 25 would do. It is stopped, not waited for.
Meanwhile the collector is off: what it calls would use up steps, lose the error that is to stop the engine, or find the
stack used up by an engine that recurses, which can end Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from gradwalk.collecting import collector_off

__all__ = ["OutOfSteps", "Steps", "limited", "lines_limited", "trying"]


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

    line: int | None = None  # where it was, if that is known


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
def limited(
    steps: int, watch: Callable[[FrameType], None] | None = None, files: Collection[str] | None = None
) -> Iterator[Steps]:
    """Run the body of the `with` for at most this many calls; `watch` is shown the frame of each call in Python.

    With `files` only the calls count that the code of these files makes or is; the libraries that they use, such as
    `queue`, may take ten times as many.

    >>> with limited(100):
    ...     print(max(1, 2))
    2
    """
    count = Steps()
    others = 0

    def counting(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal others
        if event == "call":
            if watch is not None:
                watch(frame)
        elif event != "c_call":
            return
        own = files is not None and frame.f_code.co_filename in files
        if own or files is None:
            count.used += 1
        else:
            others += 1
        if count.used > steps or others > 10 * steps:
            error = OutOfSteps(f"more than {steps:,} steps")
            error.line = frame.f_lineno if own else None
            raise error

    before = sys.getprofile()
    with collector_off():
        sys.setprofile(counting)
        try:
            yield count
        finally:
            sys.setprofile(before)


_BY_INSTRUCTION = sys.version_info < (3, 12)  # before, a loop within one line is one line
LINES = 20_000  # of somebody's code, for anything that is done with a handful of nodes


@contextmanager
def lines_limited(files: Collection[str], lines: int = LINES) -> Iterator[None]:
    """Run the body of the `with` for at most this many lines of these files: a bare `while` calls nothing.

    >>> with lines_limited([__file__]):
    ...     print(max(1, 2))
    2
    """
    left = lines * (10 if _BY_INSTRUCTION else 1)

    def counting(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = _BY_INSTRUCTION
        left -= event in ("line", "opcode")
        if left < 0:
            error = OutOfSteps(f"more than {lines:,} lines")
            error.line = frame.f_lineno
            raise error
        return counting

    before = sys.gettrace()
    with collector_off():
        sys.settrace(counting)
        try:
            yield
        finally:
            sys.settrace(before)


@contextmanager
def trying(files: Collection[str]) -> Iterator[None]:
    """Run the body of the `with` to see what comes of it: lines of these files are limited, and an error ends it.

    >>> with trying([__file__]):
    ...     print(1 / 0)
    """
    with suppress(Exception, SystemExit, OutOfSteps), lines_limited(files):
        yield
