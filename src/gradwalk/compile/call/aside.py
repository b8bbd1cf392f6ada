"""What a function sets and never reads: a replay does not set it again, so it is said once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwalk.compile.call.sameness import MISSING, same
from gradwalk.compile.trace.held import attributes_of, holds_stand_in, slots_of
from gradwalk.compile.trace.reach import Reached

__all__ = ["Aside"]

MOST = 128  # objects that are looked at


class Aside:
    """Names and attributes that are set and not read, as they are before a function is traced.

    >>> from types import SimpleNamespace
    >>> box = SimpleNamespace(kind=None)
    >>> def f(x):
    ...     box.kind = "large"
    >>> before = Aside(Reached([f]))
    >>> f(1.0)
    >>> before.changed()
    ['box.kind']

    A stand-in that is left there needs no word: it says so by itself when it is touched.
    """

    def __init__(self, reached: Reached) -> None:
        self._then: list[tuple[str, Any, str, Any]] = []
        for space, names in reached.assigned.values():
            read = reached.globals[id(space)][1] if id(space) in reached.globals else {}
            self._then += [(name, space, name, space.get(name, MISSING)) for name in names if name not in read]
        aside = [name for name in reached.stored if not reached.reads(name)]
        for path, thing in reached.objects[:MOST] if aside else ():
            held, slots = attributes_of(thing), slots_of(type(thing))
            self._then += [
                (f"{path}.{name}", thing, name, _attribute(thing, name))
                for name in aside
                if held is not None or name in slots
            ]

    def changed(self) -> list[str]:
        """Those that are something else now, and nothing that stands for a number."""
        return list(self._changed())

    def _changed(self) -> Iterator[str]:
        for path, thing, name, then in self._then:
            now = thing.get(name, MISSING) if type(thing) is dict else _attribute(thing, name)
            if not same(now, then) and not holds_stand_in(now):
                yield path


def _attribute(thing: Any, name: str) -> Any:
    held = attributes_of(thing)
    if held is not None and name in held:
        return held[name]
    try:
        return object.__getattribute__(thing, name) if name in slots_of(type(thing)) else MISSING
    except AttributeError:
        return MISSING
