"""How a tensor was made, and when."""

from __future__ import annotations

from typing import Any

from gradwalk.node import Recipe

__all__: list[str] = []


class Made(Recipe):
    """How a tensor was made: the op, what went in, and when."""

    __slots__ = ("clock",)
    closure = None
    text = ""
    slopes = ()

    def __init__(self, op: Any, inputs: tuple[Any, ...]) -> None:
        self.op = op
        self.inputs = inputs
        self.hooks = ()  # type: ignore[assignment]  # a list once there is one
        self.clock = Clock.time


class Clock:
    """Counts how often the numbers of leaves were written: a node that is older than such a change is out of date."""

    time = 0


#: What stands for a gradient that was let go.
FREED: Any = type("Freed", (), {"__repr__": lambda self: "<freed>"})()
