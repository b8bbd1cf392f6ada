"""Where numbers left a graph and came back as constants, and what that cost: the gradient that would have flowed there.

`cuts_followed` knows it for sure, of a forward pass that was followed. `cuts_guessed` sees a graph alone: a leaf or a
constant that equals the number of a node to its last digit, and is no parameter, was most likely read from that node's
`.data`. In either case what was lost is summed for each source: the largest of some numbers, subtracted from all of
them to keep an exponential small, loses nothing, because its parts cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from gradwalk.doctor.order import ordered
from gradwalk.doctor.scan import Scan
from gradwalk.doctor.tracking import Readings
from gradwalk.engine import Value
from gradwalk.provenance import Place

#: What is lost counts if it is more than this share of its parts.
MATTERS = 1e-9
DIGITS = 12  # a number with fewer may be equal to another by chance


@dataclass
class Cut:
    """A line at which numbers leave the graph: how they came back, the gradient lost, and what depends on it.

    >>> Cut(None, "data").count
    0
    """

    line: Place | None
    way: str  # "data", "detach", "no_grad", or "copy" for a guess
    count: int = 0
    lost: float = 0.0  # … at one of them: the most
    source: str = ""
    parameters: set[int] = field(default_factory=set)  # ids of those the source depends on


def cuts_followed(scan: Scan, readings: Readings) -> list[Cut]:
    """The cuts of a graph after its `backward()`, where its forward pass was followed.

    >>> from gradwalk.doctor.tracking import follow
    >>> w = Value(3.0, label="w")
    >>> with follow() as readings:
    ...     loss = Value((w * w).data * 2) * w
    >>> loss.backward()
    >>> [(cut.way, cut.lost) for cut in cuts_followed(Scan(loss, names_of([w])), readings)]
    [('data', 6.0)]
    """
    inside = {id(v) for v in scan.order}
    uses: list[tuple[Value, str, dict[int, float], float]] = []  # user, way, origins, slope of the loss
    for leaf, origins, way in readings.leaves:
        if id(leaf) in inside and leaf.is_leaf:  # a node made by hand has its number from elsewhere, and its operands
            uses.append((leaf, way, origins, _grad(leaf)))
    for leaf, _ in [readings.forgotten[place] for place in inside & readings.forgotten.keys()]:
        uses.append((leaf, "no_grad", {readings.source(leaf): 1.0}, _grad(leaf)))
    for node, place, x in readings.constants:
        if id(node) in inside:
            uses.append((node, "data", x.origins, _slope_in_constant(node, place)))
    lost: dict[int, float] = {}
    sizes: dict[int, float] = {}
    for _, _, origins, slope in uses:
        for origin, share in origins.items():
            lost[origin] = lost.get(origin, 0.0) + slope * share
            sizes[origin] = sizes.get(origin, 0.0) + abs(slope * share)
    found: dict[tuple[Place | None, str], Cut] = {}
    behind: dict[int, set[int]] = {}
    for v, way, origins, _ in uses:
        for origin in origins:
            if origin not in readings.sources or not abs(lost[origin]) > MATTERS * sizes[origin]:
                continue
            source = readings.sources[origin]
            if id(source) not in behind:
                behind[id(source)] = _parameters_behind(source, scan, readings)
            if behind[id(source)]:
                line = readings.line(v)
                cut = found.setdefault((line, way), Cut(line, way))
                cut.count += 1
                cut.parameters |= behind[id(source)]
                if abs(lost[origin]) >= abs(cut.lost):
                    cut.lost, cut.source = lost[origin], scan.at(source)
    return sorted(found.values(), key=lambda cut: -len(cut.parameters))


def _parameters_behind(source: Value, scan: Scan, readings: Readings) -> set[int]:
    """The ids of the parameters that a number was computed from, under `no_grad()` too."""
    known = {id(p) for p in scan.names.parameters}
    found: set[int] = set()
    seen: set[int] = set()
    ahead = [source]
    while ahead:
        top = ahead.pop()
        for x in ordered(top) if id(top) not in seen else ():
            seen.add(id(x))
            if id(x) in readings.forgotten:  # under no_grad() a result is a leaf: go on with what it was made of
                ahead += [y for y in readings.forgotten[id(x)][1] if isinstance(y, Value)]
            elif id(x) in known:
                found.add(id(x))
    return found


def cuts_guessed(scan: Scan) -> list[Cut]:
    """The likely cuts of a graph after its `backward()`, where nobody followed how it was made.

    >>> w = Value(0.3, label="w")
    >>> h = w.tanh()
    >>> loss = h * Value(h.data)
    >>> loss.backward()
    >>> [round(cut.lost, 6) for cut in cuts_guessed(Scan(loss, names_of([w])))]
    [0.291313]
    """
    nodes = {v.data: v for v in scan.order if not v.is_leaf and _unlikely_by_chance(v.data)}
    own = {id(p) for p in scan.names.parameters}
    found: dict[float, list[tuple[Value, float]]] = {}  # by number: who uses it, and the loss's slope in it
    for v in scan.order:
        if v.is_leaf and v.data in nodes and id(v) not in own:
            found.setdefault(v.data, []).append((v, _grad(v)))
        for place, (x, slope) in enumerate(zip(v.inputs, v.slopes, strict=True)):
            number = x.data if isinstance(x, Value) else x
            if slope is None and number in nodes and v.primitive is not None:
                found.setdefault(number, []).append((v, _slope_in_constant(v, place)))
    cuts: dict[frozenset[int], Cut] = {}  # one for all that cut the same parameters off
    for number, uses in found.items():
        lost, source = sum(slope for _, slope in uses), nodes[number]
        below = {id(x) for x in ordered(source)}
        cancels = not abs(lost) > MATTERS * sum(abs(slope) for _, slope in uses)
        if cancels or not below & own or any(id(v) in below for v, _ in uses):
            continue  # it makes no difference; or the node was itself computed from the number
        cut = cuts.setdefault(frozenset(below & own), Cut(None, "copy", parameters=below & own))
        cut.count += len(uses)
        if abs(lost) > abs(cut.lost):
            cut.line, cut.lost, cut.source = uses[0][0].made_at, lost, scan.at(source)
    return list(cuts.values())


def _unlikely_by_chance(x: float) -> bool:
    return math.isfinite(x) and len(repr(x).strip("-0.").replace(".", "").split("e")[0]) >= DIGITS


def _grad(v: Value) -> float:
    return v.grad if v.grad.__class__ is float else 0.0


def _slope_in_constant(v: Value, place: int) -> float:
    """How fast the loss changes with an operand that a node took for a constant."""
    if v.primitive is None:
        return 0.0
    point = [x.data if isinstance(x, Value) else x for x in v.inputs]
    return _grad(v) * v.primitive.slope(place, *point, v.data)
