"""Hooks on the engine while someone watches: each is put in place by the first to watch and gone with the last.

`backward()` tells of itself before and after; an optimiser tells when it is about to use the gradients. Calls that
gradwalk makes itself, as in a gradient check, are no steps of a training and are not told. Compiled functions run
eagerly meanwhile, because native code has no nodes to look at.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from gradwalk import modes
from gradwalk.engine import Value
from gradwalk.optim import Optimizer
from gradwalk.provenance import is_users

__all__ = ["Watcher", "hooked", "installed", "ran_eagerly"]


class Watcher(Protocol):
    """Who is told.

    >>> from gradwalk.doctor.hooks import Watcher
    >>> from gradwalk.doctor.watch import Visit
    >>> watcher: Watcher = Visit()
    """

    def before(self, root: Value) -> None:
        """`root.backward()` is about to run.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor.watch import Visit
        >>> Visit().before(Value(1.0))
        """

    def after(self, root: Value) -> None:
        """`root.backward()` has run.

        >>> from gradwalk import Value
        >>> from gradwalk.doctor.watch import Visit
        >>> visit = Visit()
        >>> visit.after(Value(1.0))
        """

    def stepping(self, optimiser: Optimizer) -> None:
        """An optimiser is about to use the gradients.

        >>> from gradwalk import Value, optim
        >>> from gradwalk.doctor.watch import Visit
        >>> Visit().stepping(optim.SGD([Value(1.0)], lr=0.1))
        """


_watchers: list[Watcher] = []


def installed() -> bool:
    """Whether the hooks are in place.

    >>> from gradwalk.doctor.hooks import installed
    >>> installed()
    False
    """
    return Value.backward is not _backward


@contextmanager
def hooked(watcher: Watcher) -> Iterator[None]:
    """Tell `watcher` for the length of a `with`.

    >>> from gradwalk.doctor.hooks import hooked, installed
    >>> from gradwalk.doctor.watch import Visit
    >>> with hooked(Visit()):
    ...     print(installed())
    True
    >>> installed()
    False
    """
    if not _watchers:
        Value.backward = _told_backward  # type: ignore[method-assign]
        Optimizer.gradients = _told_gradients  # type: ignore[method-assign]
    _watchers.append(watcher)
    _run_eagerly()
    try:
        yield
    finally:
        _watchers.remove(watcher)
        if not _watchers:
            Value.backward = _backward  # type: ignore[method-assign]
            Optimizer.gradients = _gradients  # type: ignore[method-assign]
            while _compiled:
                kind, call = _compiled.popitem()
                kind.__call__ = call
            _called.clear()


_backward, _gradients = Value.backward, Optimizer.gradients
_compiled: dict[Any, Any] = {}  # classes of compiled functions, and how they were called

#: Where compiled functions are made, if any are: module, class, and its method that does the same eagerly.
_NATIVE = (
    ("gradwalk.compile.api", "Compiled", "eager"),
    ("gradwalk.compile.batches", "Batched", "one_by_one"),
)


def _run_eagerly() -> None:
    for module, name, eager in _NATIVE:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and kind not in _compiled:
            _compiled[kind] = kind.__call__
            kind.__call__ = _calling(kind.__call__, eager)


def _calling(native: Callable[..., Any], eager: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not modes.recording() or getattr(self, "batch", "") == "each":  # a measurement, not a loss
            with modes.listened(None):
                return native(self, *args, **kwargs)
        _called.add(self)
        return getattr(self, eager)(*args, **kwargs)

    return call


_called: set[Any] = set()  # compiled functions that were called


def ran_eagerly() -> bool:
    """Whether a compiled function was called, and ran eagerly instead.

    >>> from gradwalk.doctor.hooks import ran_eagerly
    >>> ran_eagerly()
    False
    """
    return bool(_called)


def _told_backward(self: Value, gradient: float = 1.0, *, create_graph: bool = False) -> None:
    if create_graph or not _is_a_step(sys._getframe(1).f_code.co_filename):
        _backward(self, gradient, create_graph=create_graph)
        return
    _run_eagerly()
    watchers = list(_watchers)
    for watcher in watchers:
        watcher.before(self)
    _backward(self, gradient)
    for watcher in watchers:
        watcher.after(self)


def _told_gradients(self: Optimizer) -> list[float]:
    for watcher in tuple(_watchers):
        watcher.stepping(self)
    return _gradients(self)


def _is_a_step(caller: str) -> bool:
    return is_users(caller) or caller.endswith("train.py")
