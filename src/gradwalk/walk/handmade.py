"""Runs a `_backward` that was written by hand, sees what it adds to whose gradient, and leaves no trace.

Such a closure works on `.grad` itself, so for the length of a walk the gradients of the graph are ours: each operand
holds a float that notes what is added to it. Afterwards everything is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from gradwalk.errors import BackwardError, GraphError
from gradwalk.walk.graph import Graph
from gradwalk.walk.nodes import Node, describe

__all__: list[str] = []

Share = tuple[int, int, float, float]  # position, operand, what was added, the sum after it


class Tally(float):
    """A gradient that notes what is added to it."""

    origin: object
    shares: tuple[float, ...]

    def __new__(cls, total: float, origin: object, shares: tuple[float, ...] = ()) -> Tally:
        made = super().__new__(cls, total)
        made.origin, made.shares = origin, shares
        return made

    def __add__(self, other: Any) -> Any:
        share = float(other)
        return Tally(float(self) + share, self.origin, (*self.shares, share))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -float(other)


class Borrowed:
    """The gradients of a graph for the length of a `with`; closures run in it, and all is put back at its end."""

    def __init__(self, nodes: Sequence[Node], graph: Graph) -> None:
        self.nodes, self.graph = nodes, graph
        self.blank = float("0")  # an object of its own: whatever else lies in a .grad at the end was put there astray
        self.kept: list[tuple[Node, Any, Any]] = []

    def __enter__(self) -> Self:
        for node in self.nodes:
            if not hasattr(node, "grad"):
                raise GraphError(f"{describe(node)} cannot be stepped: it has no .grad for its consumers to add to")
        self.kept = [(node, node.data, node.grad) for node in self.nodes]
        for node in self.nodes:
            node.grad = self.blank
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        astray = [
            (node, "gradient" if node.grad is not self.blank else "data")
            for node, data, _ in self.kept
            if node.grad is not self.blank or node.data is not data
        ]
        for node, data, grad in self.kept:
            node.data, node.grad = data, grad
        if astray and kind is None:
            node, what = astray[0]
            raise GraphError(
                f"this graph cannot be stepped: a _backward changed the {what} of {describe(node)}, which is not the "
                "gradient of one of its operands; a _backward adds to those and to nothing else"
            )

    def run(self, place: int, upstream: float, gradients: Sequence[float | None]) -> Iterator[Share]:
        """What the node's own `_backward` pushes, given its gradient and those of its operands."""
        node, below = self.nodes[place], self.graph.nodes[place].operands
        tallies = {x: Tally(gradients[x] or 0.0, origin=node) for x in below}
        node.grad = upstream
        for x, tally in tallies.items():
            self.nodes[x].grad = tally
        try:
            node._backward()
            found = {x: self.nodes[x].grad for x in tallies}
            own = node.grad
            shares = {x: _shares(found[x], tally) for x, tally in tallies.items()}
        except Exception as error:
            raise BackwardError(
                f"the walk cannot be told beyond {describe(node)}: its _backward raised {type(error).__name__}: "
                f"{error}; data and gradients are as they were"
            ) from error
        node.grad = self.blank if own is upstream else own  # a changed one of its own is found at the end
        for x in tallies:
            self.nodes[x].grad = self.blank
        for x, (start, parts) in shares.items():
            positions = [position for position, operand in enumerate(below) if operand == x]
            total = start
            for i, part in enumerate(parts):
                total += part
                yield positions[min(i, len(positions) - 1)], x, part, total


def _shares(left: Any, tally: Tally) -> tuple[float, tuple[float, ...]]:
    """Where the sum began, and what was added; a gradient that was replaced began again at 0."""
    if isinstance(left, Tally) and left.origin is tally.origin:
        return float(tally), left.shares
    return 0.0, (float(left),)
