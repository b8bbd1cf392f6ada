"""A bounded cache of traces: what is in it can be seen, and it can be cleared."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from gradwalk.errors import SettingError
from gradwalk.turns import Turn

__all__ = ["Cache"]


class Remembering(Protocol):
    """What knows whether it was used since it was last asked."""

    recent: bool


T = TypeVar("T", bound=Remembering)


NONE: tuple[Any, Any] = ((), None)


class Earlier(NamedTuple):
    """The key of an entry whose place another has taken."""

    key: Hashable
    number: int


class Cache(Generic[T]):
    """Keeps at most `size` entries; when one must go, it is the oldest that has not been used of late.

    >>> from types import SimpleNamespace
    >>> cache = Cache(2)
    >>> for name in "abc":
    ...     cache.put(name, SimpleNamespace(recent=False))
    >>> list(cache.entries), cache.evicted
    (['b', 'c'], 1)
    """

    def __init__(self, size: int) -> None:
        if not isinstance(size, int) or size < 1:
            raise SettingError(f"cache= is how many traces are kept, a whole number of at least 1, not {size!r:.60}")
        self.size = size
        self.entries: dict[Hashable, T] = {}
        self.evicted = 0
        self._count = 0
        self.latest: tuple[Any, Any] = NONE  # the shapes of arrays that were the only arguments, and their entry
        self._lock = Turn()

    def get(self, key: Hashable) -> T | None:
        """The entry of a key, if there is one; it counts as used."""
        entry = self.entries.get(key)
        if entry is not None:
            entry.recent = True
        return entry

    def others(self, key: Hashable) -> list[T]:
        """Entries that had this key before others took their place."""
        return [entry for known, entry in list(self.entries.items()) if isinstance(known, Earlier) and known.key == key]

    def put(self, key: Hashable, entry: T) -> None:
        """Keep an entry; if there is no room, another goes. Each that was used of late gets a second chance.

        What had the key before is kept as one of its `others`.
        """
        with self._lock:
            self._put(key, entry)

    def _put(self, key: Hashable, entry: T) -> None:
        self.latest = NONE
        before = self.entries.pop(key, None)
        for place in [place for place, other in self.entries.items() if other is entry]:
            del self.entries[place]
        if before is not None and before is not entry:
            self._count += 1
            self.entries[Earlier(key, self._count)] = before
        while len(self.entries) >= self.size:
            oldest, known = next(iter(self.entries.items()))
            del self.entries[oldest]
            if known.recent:
                known.recent = False
                self.entries[oldest] = known  # behind all others
            else:
                self.evicted += 1
        self.entries[key] = entry

    def drop(self, key: Hashable) -> None:
        """Forget one entry."""
        with self._lock:
            self.latest = NONE
            del self.entries[key]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self.latest = NONE
            self.entries.clear()
