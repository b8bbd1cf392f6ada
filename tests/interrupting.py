"""Ctrl-C at a chosen moment, as from the keyboard."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that sends a signal")


def seconds_of(run: Callable[[], object]) -> float:
    """How long a function takes that is run again and again: the least of some times, which no first call is."""

    def one() -> float:
        began = time.perf_counter()
        run()
        return time.perf_counter() - began

    return min(one() for _ in range(6))


@contextmanager
def interrupts() -> Iterator[Callable[[Callable[[], object], float], KeyboardInterrupt | None]]:
    """Gives what runs a function with a signal after so many seconds; that gives the error, if it was broken off."""

    def broken_off(run: Callable[[], object], after: float) -> KeyboardInterrupt | None:
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            try:
                run()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0.0)
        except KeyboardInterrupt as error:
            return error
        return None

    earlier = signal.signal(signal.SIGALRM, signal.default_int_handler)
    gc.disable()  # a library that listens to the collector would hear the signal in our place
    try:
        yield broken_off
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, earlier)
