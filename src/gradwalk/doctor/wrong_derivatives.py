"""Derivatives of the user's own that are wrong: each op on its own, at the operands it was given.

The op table's own rules are held to their functions by the test suite. What is checked here is what the user wrote: an
`@op`, or a node made by hand with a `_backward`. Its function is the op's, or is known by its name (`tanh`), or is
seen in the graph itself, where a batch has run it at many points: between two neighbours the value must change as the
slopes at both say. With a function that builds the graph again, all are nudged together, and nothing need be known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from gradwalk.check import suspects
from gradwalk.check.agreement import ATOL, RTOL
from gradwalk.check.nodes import Local, ask, local
from gradwalk.doctor.order import edges, ordered
from gradwalk.engine import Value
from gradwalk.errors import GradwalkError
from gradwalk.provenance import Place

SAMPLED = 12  # nodes of each op
NEIGHBOURS = 200  # nodes of an op whose function is not known
NUDGE = 1e-5


@dataclass(frozen=True)
class WrongDerivative:
    """An op whose derivative is wrong, at one node: what it gave and what it should be.

    >>> square = gradwalk.op(lambda x, out: 3 * x)(lambda x: x * x)
    >>> (found,) = wrong_derivatives([square(gradwalk.Value(2.0))])
    >>> found.got, round(found.expected, 6)
    (6.0, 4.0)
    """

    op: str
    node: Value
    operand: int
    got: float
    expected: float
    why: str = ""
    count: int = 1  # nodes of this op that were found wrong
    of: int = 1  # … out of so many that were checked
    silent: bool = False  # it has operands, and pushes nothing
    habit: str = ""  # its slopes are right, but not what it does with them

    @property
    def line(self) -> Place | None:
        """The line that made the node, if it was written down."""
        return self.node.made_at


def wrong_derivatives(custom: Iterable[Value]) -> list[WrongDerivative]:
    """The wrong ones among nodes whose op or `_backward` is the user's own, one for each op.

    >>> x = Value(0.5)
    >>> out = Value(0.25, (x,), "square")
    >>> [found.silent for found in wrong_derivatives([out])]
    [True]
    """
    found = []
    for nodes in _by_op(custom).values():
        wrong = _wrong(nodes)
        if wrong is not None:
            found.append(wrong)
    return found


def _by_op(custom: Iterable[Value]) -> dict[Any, list[Value]]:
    groups: dict[Any, list[Value]] = {}
    for v in custom:
        closure = v.closure
        code = getattr(closure, "__code__", closure)
        groups.setdefault((v.primitive or v._op, code), []).append(v)
    return groups


def _wrong(nodes: list[Value]) -> WrongDerivative | None:
    first = nodes[0]
    if first.primitive is None and first.closure is None:
        return WrongDerivative(_name(first), first, 0, 0.0, math.nan, count=len(nodes), of=len(nodes), silent=True)
    sample = _spread(nodes, SAMPLED)
    bad, checked = [], 0
    for v in sample:
        here = _local(v)
        if here is None:
            continue
        habit = suspects.habit(here) if v.closure is not None else ""
        if habit:
            return WrongDerivative(_name(v), v, 0, math.nan, math.nan, count=len(nodes), of=len(nodes), habit=habit)
        if here.function is None:
            return _by_neighbours(nodes)
        checked += 1
        graph: Any = SimpleNamespace(locals={id(v): here})
        measured = suspects.measured_on_their_own(graph)
        bad += [(v, s) for s in suspects.wrong_on_their_own(graph, measured, RTOL, ATOL)[:1]]
    if not bad:
        return None
    v, worst = max(bad, key=lambda entry: abs(entry[1].got - entry[1].expected))
    return WrongDerivative(_name(v), v, worst.operand, worst.got, worst.expected, worst.why, len(bad), checked)


def _local(v: Value) -> Local | None:
    try:
        return local(v)
    except (GradwalkError, ArithmeticError, TypeError, ValueError):
        return None


def _name(v: Value) -> str:
    return v.primitive.name if v.primitive is not None else v._op or "a node without name"


def _spread(nodes: list[Value], count: int) -> list[Value]:
    """So many of the nodes, from the lowest number to the highest."""
    if len(nodes) <= count:
        return nodes
    ranked = sorted(nodes, key=lambda v: v.data)
    return [ranked[round(i * (len(ranked) - 1) / (count - 1))] for i in range(count)]


# --- a function that is not known, at many points ------------------------------------------------------------------


def _by_neighbours(nodes: list[Value]) -> WrongDerivative | None:
    points = []
    for v in _spread(nodes, NEIGHBOURS):
        operands = tuple(dict.fromkeys(v.inputs))
        slopes = ask(v, operands) if len(operands) == 1 else None
        if slopes is None or not math.isfinite(slopes[0] + v.data + operands[0].data):
            return None
        points.append((operands[0].data, v.data, slopes[0], v))
    points.sort(key=lambda point: point[0])
    reach = points[-1][0] - points[0][0]
    bad, checked = [], 0
    for (x, y, s, v), (x2, y2, s2, _) in pairwise(points):
        step, steepest = x2 - x, max(abs(s), abs(s2))
        if step == 0.0 and y != y2:
            return None  # it depends on more than its operand
        if not 0.0 < step <= 0.25 * reach or abs(s - s2) > 0.3 * steepest:
            continue  # too far apart to tell
        checked += 1
        between = (y2 - y) / step
        margin = 0.3 * abs(s - s2) + 0.01 * max(steepest, abs(between))
        if not min(s, s2) - margin <= between <= max(s, s2) + margin:
            bad.append((abs(between - s), v, s, between))
    if checked < 5 or len(bad) < 0.6 * checked:
        return None
    _, v, got, expected = max(bad, key=lambda entry: entry[0])
    why = "seen in the graph itself: between two neighbouring points its value changes otherwise than its slopes say"
    return WrongDerivative(_name(v), v, 1, got, expected, why, len(bad), checked)


# --- building the graph again --------------------------------------------------------------------------------------


def wrong_by_rebuilding(
    build: Callable[[], Value], custom: Iterable[Value], parameters: list[Value]
) -> list[WrongDerivative]:
    """The wrong ones, found by nudging all parameters together and building the graph again both ways.

    >>> w = Value(0.5, label="w")
    >>> def build():
    ...     out = Value(w.data ** 3, (w,), "cube")
    ...     def push():
    ...         w.grad += 2 * w.data ** 2 * out.grad
    ...     out._backward = push
    ...     return out
    >>> (found,) = wrong_by_rebuilding(build, [build()], [w])
    >>> found.op, round(found.expected / found.got, 3)
    ('cube', 1.5)
    """
    unknown = [
        nodes
        for nodes in _by_op(custom).values()
        if nodes[0].closure is not None and ((here := _local(nodes[0])) is None or here.function is None)
    ]
    if not unknown:
        return []
    held = [p.data for p in parameters]
    ways = [(1.0 + 0.37 * (i % 7)) * (-1.0 if i % 3 == 2 else 1.0) * max(1.0, abs(x)) for i, x in enumerate(held)]
    orders, numbers = [], []
    try:
        for sign in (0.0, 1.0, -1.0):
            for p, x, way in zip(parameters, held, ways, strict=True):
                p.data = x + sign * NUDGE * way
            orders.append(ordered(build()))
            numbers.append([v.data for v in orders[-1]])
    finally:
        for p, x in zip(parameters, held, strict=True):
            p.data = x
    middle = orders[0]
    if any([v._op for v in order] != [v._op for v in middle] for order in orders):
        return []  # it builds another graph each time
    _, forth, back = numbers
    change = {id(v): (a - b) / (2 * NUDGE) for v, a, b in zip(middle, forth, back, strict=True)}
    keys = set(_by_op(nodes[0] for nodes in unknown))
    found: dict[Any, WrongDerivative] = {}
    for key, nodes in _by_op(v for v in middle if v.closure is not None).items():
        for v in nodes if key in keys else ():
            operands = tuple(dict.fromkeys(x for x, _ in edges(v)))
            slopes = ask(v, operands)
            if slopes is None or key in found:
                continue
            told = sum(s * change[id(x)] for s, x in zip(slopes, operands, strict=True))
            seen = change[id(v)]
            size = max(abs(seen), sum(abs(s * change[id(x)]) for s, x in zip(slopes, operands, strict=True)))
            if abs(told - seen) > 1e-4 * size + 1e-9:
                one = len(operands) == 1 and change[id(operands[0])]
                expected = seen / change[id(operands[0])] if one else seen
                why = "measured by nudging all parameters and building the graph again"
                got = slopes[0] if one else told
                found[key] = WrongDerivative(_name(v), v, 1 if one else 0, got, expected, why, 1, len(nodes))
    return list(found.values())
