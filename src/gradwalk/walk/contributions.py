"""The arithmetic of lost and doubled contributions.

Every contribution that arrives at a node must be passed on once. One that arrives after the node's last visit is
lost below it; one that is there on two visits is passed on twice. Local derivatives multiply along a path, so what
such a contribution would have been at a leaf is known, and all of them together are the error of the order.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from gradwalk.walk.events import Event, Push, Seed, Visit
from gradwalk.walk.graph import Graph

__all__: list[str] = []


class Arrivals:
    """For each computed node what came too late to be passed on, and what was passed on too often."""

    def __init__(self, graph: Graph, events: Sequence[Event]) -> None:
        self.late: dict[int, float] = {}
        self.late_from: defaultdict[int, dict[int, None]] = defaultdict(dict)  # who pushed too late, each once
        self.extra: dict[int, float] = {}
        self.visits: dict[int, int] = {}
        for event in reversed(events):  # so that `visits` counts the visits still to come
            match event:
                case Visit(node):
                    self.visits[node] = self.visits.get(node, 0) + 1
                case Push(node, operand=operand, contribution=share) if graph.nodes[operand].operands:
                    self._arrival(operand, share, node)
                case Seed(node, gradient) if graph.nodes[node].operands:
                    self._arrival(node, gradient, None)

    def _arrival(self, place: int, share: float, consumer: int | None) -> None:
        times = self.visits.get(place, 0)
        if times == 0:
            self.late[place] = self.late.get(place, 0.0) + share
            if consumer is not None:
                self.late_from[place][consumer] = None
        elif times > 1:
            self.extra[place] = self.extra.get(place, 0.0) + (times - 1) * share


def linear(graph: Graph, start: int, amount: float, *, size: bool = False) -> dict[int, float]:
    """What `amount` at a node becomes at every node below it; with `size`, the sum of the sizes of all paths."""
    reached = {start: abs(amount) if size else amount}
    for node in reversed(graph.nodes):
        if node.id in reached:
            for operand, slope in zip(node.operands, node.slopes, strict=True):
                if slope is not None:
                    share = (abs(slope) if size else slope) * reached[node.id]
                    reached[operand] = reached.get(operand, 0.0) + share
    return reached


def paths(graph: Graph, start: int) -> dict[int, tuple[int, ...]]:
    """The strongest path from a node to each leaf below it; of two that are equal, by the node that came last."""
    strength, came_from = {start: 1.0}, {start: start}
    for node in reversed(graph.nodes):
        if node.id in strength:
            for operand, slope in zip(node.operands, node.slopes, strict=True):
                if slope is None:
                    continue
                here = abs(slope) * strength[node.id]
                # nan counts as strong: that is where the trouble is
                if operand not in strength or not here <= strength[operand]:
                    strength[operand], came_from[operand] = here, node.id
    found = {}
    for leaf in strength:
        if graph.nodes[leaf].leaf:
            path = [leaf]
            while path[-1] != start:
                path.append(came_from[path[-1]])
            found[leaf] = tuple(reversed(path))
    return found


def close(got: float, right: float, size: float) -> bool:
    if not math.isfinite(got) or not math.isfinite(right):
        return got == right or (math.isnan(got) and math.isnan(right))
    return abs(got - right) <= 1e-9 * size
