"""Python's own generator of random numbers, left to one thread for a while."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from gradwalk.turns import Turn

__all__ = ["left_to_this_thread"]

NAMES = tuple(name for name in random.__all__ if hasattr(vars(random)[name], "__self__"))  # of the generator's methods
A_MOMENT = 0.001  # seconds, in which draws that are under way come to an end, if the machine is not busy
A_MOMENT_OR_MORE = 1000  # how often to wait, should it be
_turn = Turn()


@contextmanager
def left_to_this_thread() -> Iterator[None]:
    """Leave the generator behind `random.random` and its like to this thread; others get one that is theirs.

    Threads that ask for this take turns.

    >>> import random
    >>> random.seed(7)
    >>> with left_to_this_thread():
    ...     round(random.random(), 6)
    0.323833
    """
    with _turn:
        owner, others = threading.get_ident(), random.Random()

        def parted(mine: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *given, **named: (mine if threading.get_ident() == owner else theirs)(*given, **named)

        earlier = {name: vars(random)[name] for name in NAMES}
        for name, method in earlier.items():
            setattr(random, name, parted(method, getattr(others, name)))
        generator = earlier["random"].__self__
        for _ in range(A_MOMENT_OR_MORE):
            time.sleep(A_MOMENT)
            if not any(_draws(frame, generator) for thread, frame in sys._current_frames().items() if thread != owner):
                break
        try:
            yield
        finally:
            for name, method in earlier.items():
                setattr(random, name, method)


def _draws(frame: FrameType | None, generator: random.Random) -> bool:
    """Whether a thread that is at this frame is drawing from a generator."""
    while frame is not None and frame.f_locals.get("self") is not generator:
        frame = frame.f_back
    return frame is not None
