"""A recording and a place in it: forth, back, to the seed, to the end."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from gradwalk.walk import Event, Push, Recording, Seed, State, readable, state_after
from gradwalk.walk.many import Many

__all__ = ["Player"]


class Player:
    """Where in a recording we are: `at` counts the steps taken; one place more is the end, with the verdict.

    >>> player = Player(record(PRESETS["diamond"].build().root))
    >>> player.steps, player.event, player.go(4).kind
    (11, None, 'seed')
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.at = 0

    @property
    def steps(self) -> int:
        """How many steps the recording has.

        >>> Player(walk.record(Value(3.0) * 2)).steps
        4
        """
        return len(self.recording.events)

    @property
    def last(self) -> int:
        """The place after the last step.

        >>> Player(walk.record(Value(3.0) * 2)).last
        5
        """
        return self.steps + 1

    @property
    def event(self) -> Event | None:
        """The step that was just taken; None before the first and after the last.

        >>> player = Player(walk.record(Value(3.0) * 2))
        >>> player.go(1).kind, player.go(99)
        ('compute', None)
        """
        return self.recording.events[self.at - 1] if 1 <= self.at <= self.steps else None

    @property
    def state(self) -> State:
        """What stands in the graph here.

        >>> Player(walk.record(Value(3.0) * 2)).state.data[2] is None
        True
        """
        return state_after(self.recording, min(self.at, self.steps))

    def go(self, place: int) -> Event | None:
        """Go to a place, or as far as there is one; gives the step that leads there.

        >>> player = Player(walk.record(Value(3.0) * 2))
        >>> player.go(-7), player.at
        (None, 0)
        """
        self.at = max(0, min(place, self.last))
        return self.event

    @cached_property
    def seed(self) -> int:
        """The place of the seed, where the backward pass begins.

        >>> Player(walk.record(Value(3.0) * 2)).seed
        2
        """
        return next(k for k, event in enumerate(self.recording.events, start=1) if isinstance(event, Seed))

    @cached_property
    def pushes(self) -> dict[tuple[int, int], tuple[int, Any]]:
        """For each edge (node, position of the operand) the place of its first push, and the local derivative there.

        Of a tensor it is what was pushed: its local derivative is a map.

        >>> Player(walk.record(Value(3.0) * 2)).pushes
        {(2, 0): (4, 2.0)}
        """
        found: dict[tuple[int, int], tuple[int, Any]] = {}
        for place, event in enumerate(self.recording.events, start=1):
            if isinstance(event, Push):
                local = event.contribution if isinstance(event.contribution, Many) else event.local
                found.setdefault((event.node, event.position), (place, local))
        return found

    @cached_property
    def widths(self) -> dict[int, int]:
        """For each node the characters of the longest number it ever shows, so that cards keep their size.

        >>> Player(walk.record(Value(3.25) * 2)).widths
        {0: 4, 1: 1, 2: 3}
        """
        found = {node.id: len(readable(node.data)) for node in self.recording.graph.nodes}
        for event in self.recording.events:
            place = event.operand if isinstance(event, Push) else event.node
            number = event.after if isinstance(event, Push) else getattr(event, "gradient", None)
            if number is not None:
                found[place] = max(found[place], len(readable(number)))
        return found
