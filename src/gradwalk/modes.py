"""Switches that change how ops are recorded: `no_grad()`, `anomaly()`, and listening to every op.

A switch holds for the thread or task that turned it on, and until its `with` block ends. The engine's hot paths ask
only one question, `modes.active`: is any switch on anywhere? If not, nothing else is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

__all__ = ["anomaly", "no_grad"]

Listener = Callable[[Any, Any], None]  # what is told of every op: the new node, and its operands as they were given

active = 0  # how many switches are on, in all threads together
_active_lock = Lock()
_recording: ContextVar[bool] = ContextVar("recording", default=True)
_watching: ContextVar[bool] = ContextVar("watching", default=False)
_listening: ContextVar[Listener | None] = ContextVar("listening", default=None)
_tracer: ContextVar[Any] = ContextVar("tracer", default=None)


@contextmanager
def _switched(switch: ContextVar[Any], on: Any) -> Iterator[None]:
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
    with _switched(_recording, False) if tracer() is None else tracer().without_gradient():
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


@contextmanager
def tracing(recorder: Any) -> Iterator[None]:
    """Let `recorder` write ops down instead of computing them: what compiling a function does, once."""
    with _switched(_tracer, recorder):
        yield


def tracer() -> Any:
    """Who writes ops down here and now; None where they are computed as usual."""
    return _tracer.get()


def recording() -> bool:
    """Whether ops remember their operands here and now."""
    return _recording.get()


def watching() -> bool:
    """Whether a nan or inf is to be reported here and now."""
    return _watching.get()


@contextmanager
def listened(listener: Listener | None) -> Iterator[None]:
    """Tell `listener` of every op, or nobody. Ops are several times slower."""
    with _switched(_listening, listener):
        yield


def listener() -> Listener | None:
    """Who is to be told of ops here and now."""
    return _listening.get()
