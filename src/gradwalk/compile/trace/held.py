"""What things hold, past what their classes make of it: attributes, slots, what they wrap, the memory that they are."""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from types import FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from gradwalk.compile.trace.whose import is_librarys, module_of
from gradwalk.module import Module
from gradwalk.node import Node

__all__: list[str] = []

NAMESPACES = (SimpleNamespace, Namespace)  # classes of a library whose objects have attributes like anybody's


def functions_in(things: Sequence[Any]) -> Iterator[Any]:
    """The functions, methods and partial ones among things."""
    return (part for part in things if isinstance(part, (FunctionType, MethodType, partial)))


def is_open(x: Any) -> bool:
    """Whether a library's module may hold it for others: data that is no stream, or code of the user's."""
    if isinstance(x, (FunctionType, type)):
        return not is_librarys(x)
    if callable(x):
        return not is_librarys(type(x))
    return not isinstance(x, ModuleType) and not hasattr(type(x), "__next__")


class Clearings:
    """How often a cache was cleared, as far as it was looked at.

    >>> from functools import lru_cache
    >>> square, count = lru_cache(lambda x: x * x), Clearings()
    >>> square(3.0), count(square)
    (9.0, 0)
    >>> square.cache_clear()
    >>> count(square)
    1
    """

    def __init__(self) -> None:
        self._misses = self._times = 0

    def __call__(self, cache: Any) -> int:
        misses = cache.cache_info().misses
        self._times += misses < self._misses
        self._misses = misses
        return self._times


def may_hold_values(x: Any) -> bool:
    """Whether a module would look for parameters in it."""
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else [x]
    return any(isinstance(part, (Node, Module, list, tuple, dict)) for part in parts)


def holds_by_itself(thing: Any) -> bool:
    """Whether an object's class is a library's, whose code nobody looks into: all of its attributes count as read."""
    kind = type(thing)
    return (
        is_librarys(kind)
        and not isinstance(thing, NAMESPACES)
        and not isinstance(thing, (type, ModuleType, FunctionType))
    )


def attributes_of(thing: Any) -> Any:
    """An object's own attributes, past what its class makes of them; None if it has none."""
    if isinstance(thing, type):
        return vars(thing)
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None


def slots_of(kind: type) -> tuple[str, ...]:
    """The names of a class's slots, those of its bases included."""
    found = _slots.get(kind)
    if found is None:
        names: list[str] = []
        for base in [base for base in kind.__mro__ if not is_librarys(base) and not _is_node(base)]:
            slots: Any = vars(base).get("__slots__", ())
            for name in [slots] if isinstance(slots, str) else slots:
                private = name.startswith("__") and not name.endswith("__")
                names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
        found = _slots[kind] = tuple(name for name in names if not name.startswith("__"))
    return found


def _is_node(kind: type) -> bool:
    """Whether it is a class of nodes of ours, whose fields are numbers and graphs."""
    return issubclass(kind, Node) and kind.__module__.startswith("gradwalk.")


_slots: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()


def is_stand_in(x: Any) -> bool:
    """Whether something stands for a number in a trace."""
    return bool(getattr(type(x), "comes_later", False))


def holds_stand_in(x: Any, depth: int = 3) -> bool:
    """Whether something is a stand-in, or holds one: as an entry, as a key, or in what it holds."""
    parts: Any = x if isinstance(x, (list, tuple, set, frozenset, deque)) else ()
    if isinstance(x, dict):
        parts = chain(x, x.values())
    return is_stand_in(x) or (depth > 0 and any(holds_stand_in(part, depth - 1) for part in parts))


def content_of(cell: Any) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # not set yet
        return []


def subclasses_of(kind: type) -> list[type]:
    return kind.__subclasses__()


def labels_of(nodes: Sequence[Any]) -> list[Any]:
    return [v.label for v in nodes]


def raw(thing: Any) -> bytes:
    """The memory of something that is no more than that.

    >>> import ctypes
    >>> raw(ctypes.c_int16(258))
    b'\\x02\\x01'
    """
    return memoryview(thing).tobytes()


def content_of_proxy(proxy: Any) -> list[Any]:
    """A method of what a proxy of `weakref` stands for, which has the thing itself; none if that is gone."""
    try:
        return [proxy.__repr__]
    except ReferenceError:
        return []


def slot_of(thing: Any, name: str) -> list[Any]:
    try:
        return [object.__getattribute__(thing, name)]
    except AttributeError:
        return []


def wrapped_by(thing: Any) -> Any:
    """What a wrapper wraps, where it says so."""
    held = attributes_of(thing)
    if isinstance(held, dict) and "__wrapped__" in held:
        return held["__wrapped__"]
    return getattr(thing, "__wrapped__", None) if module_of(type(thing)) == "functools" else None
