"""Whether code runs because the garbage collector called it, as libraries such as Dask and Hypothesis have it do."""

from __future__ import annotations

import gc
from types import FrameType

__all__ = ["by_the_collector"]


def by_the_collector(frame: FrameType | None) -> bool:
    """Whether a frame is, or was called by, a function that the collector tells its rounds.

    Such a function may run in the middle of any code at all, is no part of it, and an error that it raises is lost.

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
