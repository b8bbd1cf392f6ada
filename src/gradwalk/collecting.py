"""The garbage collector, in whose rounds libraries such as Dask and Hypothesis have code of theirs called."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["by_the_collector", "collector_off"]


@contextmanager
def collector_off() -> Iterator[None]:
    """Leave cycles alone as long as a block lasts: nobody's code runs in the middle of it, and it takes less time.

    >>> import gc
    >>> with collector_off():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def by_the_collector(frame: FrameType | None) -> bool:
    """Whether a frame is, or was called by, a function that the collector tells its rounds.

    Such a function may run in the middle of any code at all, and is no part of it.

    >>> import gc, sys
    >>> seen = []
    >>> def told(phase, info):
    ...     seen.append(by_the_collector(sys._getframe()))
    >>> gc.callbacks.append(told)
    >>> _ = gc.collect()
    >>> gc.callbacks.remove(told)
    >>> set(seen), by_the_collector(sys._getframe())
    ({True}, False)
    """
    told = {getattr(getattr(callback, "__func__", callback), "__code__", None) for callback in gc.callbacks}
    while told and frame is not None:
        if frame.f_code in told:
            return True
        frame = frame.f_back
    return False
