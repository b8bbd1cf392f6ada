"""Switches that change how ops are recorded: `no_grad()` and `anomaly()`.

A switch holds for the thread or task that turned it on, and until its `with` block ends. The engine's hot paths ask
only one question, `modes.active`: is any switch on anywhere? If not, nothing else is looked at.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

__all__ = ["anomaly", "no_grad"]

active = 0  # how many switches are on, in all threads together
_active_lock = Lock()
_recording: ContextVar[bool] = ContextVar("recording", default=True)
_watching: ContextVar[bool] = ContextVar("watching", default=False)

_OWN_FILES = os.path.dirname(__file__)  # noqa: PTH120 (importing pathlib takes longer than all of us)


@contextmanager
def _switched(switch: ContextVar[bool], on: bool) -> Iterator[None]:
    global active
    with _active_lock:
        active += 1
    before = switch.set(on)
    try:
        yield
    finally:
        switch.reset(before)
        with _active_lock:
            active -= 1


@contextmanager
def no_grad() -> Iterator[None]:
    """Compute without remembering: results are leaves, and nothing is kept for a backward walk.

    >>> import gradwalk
    >>> a = gradwalk.Value(3.0)
    >>> with gradwalk.no_grad():
    ...     b = a * a
    >>> b.data, b.operands
    (9.0, ())
    """
    with _switched(_recording, False):
        yield


@contextmanager
def anomaly() -> Iterator[None]:
    """Stop at the first nan or inf, forwards or backwards, and name the op, its operands and the line that made it.

    >>> import gradwalk
    >>> with gradwalk.anomaly():
    ...     gradwalk.Value(1.0) / gradwalk.Value(0.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.AnomalyError: 1 / 0 gave inf
      made by ...
    """
    with _switched(_watching, True):
        yield


def recording() -> bool:
    """Whether ops remember their operands here and now."""
    return _recording.get()


def watching() -> bool:
    """Whether a nan or inf is to be reported here and now."""
    return _watching.get()


def users_line() -> str:
    """The innermost source line outside gradwalk that led to this call, for messages."""
    import linecache  # only here, where something went wrong anyway

    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FILES):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(file, line).strip()
    return f"{file}, line {line}, in {frame.f_code.co_name}" + (f":\n    {source}" if source else "")
