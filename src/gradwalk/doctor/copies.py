"""Numbers of a graph that look like copies of its own nodes, where nobody followed how it was made.

A leaf or a constant that equals the number of a node to its last digit, and is no parameter, was most likely read from
that node's `.data`. It is a cut if the loss changes with it; the peak that a softmax subtracts does not.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from gradwalk.doctor.chart import Chart
from gradwalk.doctor.order import ordered
from gradwalk.doctor.record import CutLine
from gradwalk.engine import Value

__all__ = ["copies"]

DIGITS = 12  # a number with fewer may be equal to another by chance
MATTERS = 1e-9  # as a share of its parts


def copies(chart: Chart) -> list[CutLine]:
    """The likely cuts of a graph after its `backward()`.

    >>> from gradwalk import Value
    >>> from gradwalk.doctor.chart import Chart
    >>> from gradwalk.doctor.copies import copies
    >>> from gradwalk.doctor.names import names_of
    >>> w = Value(0.3, label="w")
    >>> h = w.tanh()
    >>> loss = h * Value(h.data)
    >>> loss.backward()
    >>> [round(cut.lost, 6) for cut in copies(Chart(loss, names_of([w])))]
    [0.291313]
    """
    nodes = {v.data: v for v in chart.order if not v.is_leaf and _telling(v.data)}
    own = {id(p) for p in chart.names.parameters}
    found: dict[float, list[tuple[Value, float]]] = {}  # by number: who uses it, and the loss's slope in it
    for v in chart.order:
        if v.is_leaf:
            if v.data in nodes and id(v) not in own:
                found.setdefault(v.data, []).append((v, _number(v.grad)))
            continue
        for place, x in enumerate(v.inputs):
            number = x.data if isinstance(x, Value) else x
            if v.slopes[place] is None and number in nodes and v.primitive is not None:
                point = [y.data if isinstance(y, Value) else y for y in v.inputs]
                found.setdefault(number, []).append((v, _number(v.grad) * v.primitive.slope(place, *point, v.data)))
    cuts: dict[frozenset[int], CutLine] = {}  # one for all that cut the same parameters off
    for number, uses in found.items():
        lost, source = sum(slope for _, slope in uses), nodes[number]
        below = {id(x) for x in ordered(source)}
        cancels = not abs(lost) > MATTERS * sum(abs(slope) for _, slope in uses)
        if cancels or not below & own or any(id(v) in below for v, _ in uses):
            continue  # it makes no difference; or the node was itself computed from the number
        user, behind = uses[0][0], frozenset(below & own)
        cut = CutLine(user.made_at, "copy", len(uses), lost, chart.at(user), chart.at(source), behind)
        known = cuts.get(behind)
        if known is not None:
            worse = cut if abs(cut.lost) > abs(known.lost) else known
            cut = replace(worse, count=known.count + cut.count)
        cuts[behind] = cut
    return list(cuts.values())


def _telling(x: float) -> bool:
    return math.isfinite(x) and len(repr(x).strip("-0.").replace(".", "").split("e")[0]) >= DIGITS


def _number(g: Any) -> float:
    return g if g.__class__ is float else 0.0
