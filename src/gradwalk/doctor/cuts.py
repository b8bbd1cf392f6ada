"""What a cut in a graph cost: the gradient that would have flowed through numbers that left it and came back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gradwalk.doctor.readings import Readings
from gradwalk.engine import Value
from gradwalk.ops import Op
from gradwalk.provenance import Place

__all__ = ["Cut", "cuts"]

#: What is lost counts if it is more than this share of its parts: the rest is a constant that does not matter.
MATTERS = 1e-9


@dataclass
class Cut:
    """A line at which numbers leave the graph: how they came back, the gradient lost, and what depends on it.

    >>> from gradwalk.doctor.cuts import Cut
    >>> Cut(None, "data").count
    0
    """

    line: Place | None
    way: str  # "data", "detach" or "no_grad"
    count: int = 0
    lost: float = 0.0  # … at one of them: the most
    text: str = ""
    source: str = ""
    parameters: set[int] = field(default_factory=set)  # ids of those the source depends on


def cuts(
    readings: Readings,
    inside: set[int],
    describe: Callable[[Value], str],
    parameters_of: Callable[[Value], set[int]],
) -> list[Cut]:
    """Where gradient was lost in a graph after its backward(); `inside` holds the ids of the graph's nodes.

    >>> from gradwalk import Value
    >>> from gradwalk.doctor.cuts import cuts
    >>> from gradwalk.doctor.readings import follow
    >>> w, v = Value(3.0), Value(2.0)
    >>> with follow() as readings:
    ...     loss = v * w.data
    >>> loss.backward()
    >>> [cut.lost for cut in cuts(readings, {id(loss)}, repr, lambda source: {id(source)})]
    [2.0]

    What was lost is summed for each source. A constant such as the largest of some numbers, subtracted from all of
    them to keep an exponential small, loses nothing: its parts cancel.
    """
    lost: dict[int, list[float]] = {}
    uses: list[tuple[Place | None, str, Value, dict[int, float]]] = []
    for leaf, origins, way in readings.leaves:
        if id(leaf) in inside:
            uses.append((readings.line(leaf), way, leaf, origins))
            _tally(lost, origins, _gradient(leaf))
    for place in inside & readings.forgotten.keys():
        leaf = readings.forgotten[place][0]
        origins = {readings.source(leaf): 1.0}
        uses.append((readings.line(leaf), "no_grad", leaf, origins))
        _tally(lost, origins, _gradient(leaf))
    for node, place, reading in readings.constants:
        if id(node) in inside:
            uses.append((readings.line(node), "data", node, reading.origins))
            _tally(lost, reading.origins, _gradient(node) * _slope(node, place))
    found: dict[tuple[Place | None, str], Cut] = {}
    depends: dict[int, set[int]] = {}
    for line, way, v, origins in uses:
        for origin in origins:
            total, size = lost[origin]
            if origin not in readings.sources or not abs(total) > MATTERS * size:
                continue
            source = readings.sources[origin]
            key = id(source)
            if key not in depends:
                depends[key] = parameters_of(source)
            if not depends[key]:
                continue
            cut = found.setdefault((line, way), Cut(line, way))
            cut.count += 1
            cut.parameters |= depends[key]
            if abs(total) >= abs(cut.lost):
                cut.lost, cut.text, cut.source = total, describe(v), describe(source)
    return sorted(found.values(), key=lambda cut: -len(cut.parameters))


def _tally(lost: dict[int, list[float]], origins: dict[int, float], gradient: float) -> None:
    for origin, slope in origins.items():
        sums = lost.setdefault(origin, [0.0, 0.0])
        sums[0] += gradient * slope
        sums[1] += abs(gradient * slope)


def _gradient(v: Value) -> float:
    return v.grad if v.grad.__class__ is float else 0.0


def _slope(v: Value, place: int) -> float:
    """How much a node changes with an operand that it took for a constant."""
    kind = v.primitive
    if not isinstance(kind, Op):
        return 0.0
    point = [x.data if isinstance(x, Value) else x for x in v.inputs]
    return kind.slope(place, *point, v.data)
