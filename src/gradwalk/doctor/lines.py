"""The source line of a node in a graph that was built without writing lines down.

Steps of a training build much the same graph again and again. So the lines of one step, which was followed, serve the
others: by the place of a node in the order, if the graphs have the same ops throughout; else by what the node looks
like, its op and the ops below it, if all nodes that look so come from one line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk.doctor.scan import Scan
from gradwalk.engine import Value
from gradwalk.provenance import Place

DEPTH = 4  # of the ops that make up the looks of a node

Outline = list[tuple[Any, tuple[int, ...]]]  # for each node what it is, and the places of its operands


class Lines:
    """The lines of a graph that was followed.

    >>> from gradwalk.doctor.names import Names
    >>> from gradwalk.doctor.tracking import follow
    >>> x, lines = Value(2.0), Lines()
    >>> with follow() as readings:
    ...     y = x.exp() * 2
    >>> lines.learn(Scan(y, Names()), readings.line)
    >>> later = (x * 3).exp()
    >>> lines.finder(Scan(later, Names()))(later).line
    2
    """

    def __init__(self) -> None:
        self._outline: Outline = []
        self._places: list[Place | None] = []

    def learn(self, scan: Scan, line_of: Callable[[Value], Place | None]) -> None:
        """Keep the lines of a graph; the nodes are not kept."""
        self._outline = _outline(scan)
        self._places = [line_of(v) for v in scan.order]

    def finder(self, scan: Scan) -> Callable[[Value], Place | None]:
        """A function that gives the line of a node of another graph, or None."""

        def find(v: Value) -> Place | None:
            own = v.made_at
            if own is not None or not self._outline:
                return own
            outline, place = _outline(scan), next(i for i, x in enumerate(scan.order) if x is v)
            return self._places[place] if outline == self._outline else self._by_looks(outline, place)

        return find

    def _by_looks(self, outline: Outline, place: int) -> Place | None:
        """The line that all nodes come from that look like the one at `place`, at the depth that shows just one."""
        ours, theirs = [hash(kind) for kind, _ in self._outline], [hash(kind) for kind, _ in outline]
        known, looked = ours, theirs
        for _ in range(DEPTH):
            found = {at for look, at in zip(known, self._places, strict=True) if look == looked[place] and at}
            if len(found) == 1:
                return found.pop()
            known = [
                hash((own, *(known[i] for i in below))) for own, (_, below) in zip(ours, self._outline, strict=True)
            ]
            looked = [hash((own, *(looked[i] for i in below))) for own, (_, below) in zip(theirs, outline, strict=True)]
        return None


def _outline(scan: Scan) -> Outline:
    """What a graph looks like apart from its numbers; a parameter is known by its layer."""
    spots, places = scan.names.spots, {id(v): i for i, v in enumerate(scan.order)}
    found: Outline = []
    for v in scan.order:
        if v.is_leaf:
            spot = spots.get(id(v))
            found.append((spot.layer if spot else None, ()))
        else:
            found.append((v.primitive or v._op, tuple(places[id(x)] for x in v.inputs if id(x) in places)))
    return found
