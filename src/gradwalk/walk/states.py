"""What stands in the graph at any moment of a walk."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradwalk.errors import SettingError
from gradwalk.walk.events import Compute, Event, Push, Seed, Visit
from gradwalk.walk.graph import Graph

if TYPE_CHECKING:
    from gradwalk.walk.recording import Recording

__all__ = ["State", "replay", "state_after"]


@dataclass(frozen=True)
class State:
    """What stands in the graph at some moment: data and gradients by id, None where nothing is yet; who was visited.

    >>> recording = walk.record(Value(3.0, label="a") * 2)
    >>> state = walk.state_after(recording, 2)
    >>> dict(state.data), dict(state.grads), set(state.visited)
    ({0: 3.0, 1: 2.0, 2: 6.0}, {0: None, 1: None, 2: 1.0}, set())
    """

    data: Mapping[int, float | None]
    grads: Mapping[int, float | None]
    visited: Set[int]


def replay(events: Iterable[Event], graph: Graph) -> State:
    """The state that events lead to from a blank graph, in which leaves and constants alone hold a number.

    >>> a = Value(3.0)
    >>> recording = walk.record(a * a)
    >>> state = walk.replay(recording.events, recording.graph)
    >>> state.data[1], state.grads[0]
    (9.0, 6.0)
    """
    history = History(events, graph)
    data, grads = (dict(enumerate(numbers[-1] for _, numbers in slot)) for slot in (history.data, history.grads))
    return State(data, grads, frozenset(history.visits))


# --- any moment, at once -------------------------------------------------------------------------------------------


def state_after(recording: Recording, k: int) -> State:
    """The state after the first `k` events; every `k` is reached at once, forwards and back.

    >>> a = Value(3.0, label="a")
    >>> recording = walk.record(a * a)
    >>> [walk.state_after(recording, k).grads[0] for k in range(6)]
    [None, None, None, None, 3.0, 6.0]
    """
    if not 0 <= k <= len(recording.events):
        raise SettingError(f"the recording has {len(recording.events)} events: there is no state after {k} of them")
    history = recording._history
    return State(_Then(history.data, k), _Then(history.grads, k), _VisitedThen(history.visits, k))


Changes = tuple[list[int], list[float | None]]  # after how many events; and what was there before, between and after


class History:
    """For each node when its numbers changed, and to what; built once, in one pass."""

    def __init__(self, events: Iterable[Event], graph: Graph) -> None:
        self.data: list[Changes] = [([], [None if node.operands else node.data]) for node in graph.nodes]
        self.grads: list[Changes] = [([], [None]) for _ in graph.nodes]
        self.visits: dict[int, int] = {}
        for k, event in enumerate(events, start=1):
            match event:
                case Compute(node, value):
                    _note(self.data[node], k, value)
                case Seed(node, gradient) | Visit(node, gradient):
                    _note(self.grads[node], k, gradient)  # on a visit the same as before, unless a hook replaced it
                    if isinstance(event, Visit):
                        self.visits.setdefault(node, k)
                case Push(operand=operand, after=after):
                    _note(self.grads[operand], k, after)


def _note(changes: Changes, k: int, x: float | None) -> None:
    times, numbers = changes
    times.append(k)
    numbers.append(x)


class _Then(Mapping[int, float | None]):
    """The numbers as they were after `k` events."""

    def __init__(self, changes: list[Changes], k: int) -> None:
        self._changes, self._k = changes, k

    def __getitem__(self, place: int) -> float | None:
        if not 0 <= place < len(self._changes):
            raise KeyError(place)
        times, numbers = self._changes[place]
        return numbers[bisect_right(times, self._k)]

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self._changes)))

    def __len__(self) -> int:
        return len(self._changes)

    def __repr__(self) -> str:
        return repr(dict(self))


class _VisitedThen(Set[int]):
    """Who had been visited after `k` events."""

    def __init__(self, visits: dict[int, int], k: int) -> None:
        self._visits, self._k = visits, k

    def __contains__(self, place: object) -> bool:
        return place in self._visits and self._visits[place] <= self._k

    def __iter__(self) -> Iterator[int]:
        return (place for place, k in self._visits.items() if k <= self._k)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(set(self))
