"""`check_graph(root)`: a graph that exists already, checked without the function that made it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from gradwalk import walk
from gradwalk.check import suspects
from gradwalk.check.agreement import ATOL, RTOL, checked_tolerances, judged
from gradwalk.check.gradients import not_finite
from gradwalk.check.inputs import direction
from gradwalk.check.nodes import CheckedGraph, Node, at_kink, data, has_gradient
from gradwalk.check.numeric import slope
from gradwalk.check.report import CheckReport, InputCheck
from gradwalk.errors import GraphError
from gradwalk.replay import Replay

__all__ = ["check_graph"]

#: Up to so many evaluations of a node (leaves × nodes) every leaf is nudged; beyond, only directions.
AFFORDABLE = 200_000  # tuned: seconds, not minutes
DIRECTIONS = 4


def check_graph(
    root: Node,
    *,
    leaves: Sequence[Node] | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
    raise_error: bool = True,
    seed: int = 0,
) -> CheckReport:
    """Check the gradients of a graph that is already there, such as a loss over a model's parameters.

    The graph is computed again from its leaves with one of them nudged, and what that does to `root` is compared with
    what `root.backward()` gives; then each node is checked on its own. No `.data` and no `.grad` is changed.

    Nudging every leaf costs leaves × nodes. Where that is above 200,000, the leaves are moved together along four
    random directions (drawn from `seed`) instead, which still notices a wrong gradient but does not name the leaf;
    the check of each node on its own, which is linear, names the op. With `leaves=` only those are nudged, one by one.

    >>> w, x = Value(0.5, label="w"), Value(3.0, label="x")
    >>> print(check_graph((w * x).tanh()))
    check_graph passed: 2 gradients agree (central differences, value 0.905148, 4 nodes)
      input  backward gave      measured
      w        0.542119917   0.542119917  ok
      x       0.0903533195  0.0903533195  ok
    """
    rtol, atol = checked_tolerances(rtol, atol)
    if getattr(root, "many", False) is True:
        raise GraphError("check_graph does not know tensors yet; gradcheck(f, tensors) does, with the function")
    if not has_gradient(root) or not callable(getattr(root, "backward", None)):
        raise GraphError(
            f"check_graph takes the result of a computation, a Value, not {type(root).__name__}: {root!r}; "
            "to check a function, use gradcheck(f, inputs)"
        )
    report = _Recomputed(root).report(leaves, rtol, atol, seed)
    return report.or_raise() if raise_error else report


class _Recomputed:
    """A graph that can be computed again from its leaves."""

    def __init__(self, root: Node) -> None:
        self.graph = graph = CheckedGraph(root, fresh=False)
        leaves = [v for v in graph.order if id(v) not in graph.locals]
        self.replay = Replay(
            graph.order, lambda v: graph.locals[id(v)].computed() if id(v) in graph.locals else (None, ())
        )
        if self.replay.unknown is not None:
            raise GraphError(
                f"{walk.describe(graph.order[self.replay.unknown])} cannot be computed again: its function is not "
                "known, only its _backward; define the operation with @gradwalk.op, or check the function that made "
                "it: gradcheck(f, inputs)"
            )
        moving = {id(operand) for here in graph.locals.values() for operand, _ in here.shares()}
        self.leaves = [v for v in leaves if id(v) in moving or v is root]
        self.held = {id(v): data(v) for v in leaves}

    def report(self, chosen: Sequence[Node] | None, rtol: float, atol: float, seed: int) -> CheckReport:
        graph = self.graph
        report = CheckReport("check_graph", "central differences", data(graph.root), len(graph.order), ())
        stop = self._changed() or not_finite(graph)
        if stop:
            return replace(report, problems=(stop,))
        measured = suspects.measured_on_their_own(graph)
        self.rtol, self.atol = rtol, atol
        if chosen is not None or len(self.leaves) * len(graph.order) <= AFFORDABLE:
            entries = [self._leaf(v) for v in (self.leaves if chosen is None else self._checked(chosen))]
        else:
            dice = random.Random(seed)
            entries = [self._direction(i, dice) for i in range(1, DIRECTIONS + 1)]
        found = suspects.wrong_on_their_own(graph, measured, rtol, atol)
        wrong = any(entry.status == "wrong" for entry in entries)
        problems = (suspects.lost_on_the_way(graph, {}) or suspects.NOTHING,) if wrong and not found else ()
        return replace(report, inputs=tuple(entries), suspects=tuple(found), problems=problems)

    def _changed(self) -> str:
        for here in self.graph.locals.values():
            if suspects.stale(here):
                return (
                    f"{walk.describe(here.node)} does not hold what its operands give now "
                    f"({here.value(here.point):g}): some data was changed after the graph was made, so its derivatives "
                    "belong to other numbers; build the graph again"
                )
        return ""

    def _checked(self, chosen: Sequence[Node]) -> list[Node]:
        known = {id(v) for v in self.leaves}
        for v in chosen:
            if id(v) not in known:
                text = walk.describe(v) if has_gradient(v) else repr(v)
                raise GraphError(f"leaves= takes leaves of the graph, and {text} is none that it depends on")
        return list(chosen)

    def _leaf(self, leaf: Node) -> InputCheck:
        name = str(getattr(leaf, "label", "") or "") or f"leaf {self.leaves.index(leaf)} ({data(leaf):g})"
        return self._entry(name, lambda x: self.replay({**self.held, id(leaf): x}), data(leaf), [(leaf, 1.0)])

    def _direction(self, count: int, dice: random.Random) -> InputCheck:
        way = list(zip(self.leaves, direction(dice, [data(v) for v in self.leaves]), strict=True))

        def along(t: float) -> float:
            return self.replay({**self.held, **{id(v): data(v) + t * d for v, d in way}})

        return self._entry(f"all {len(self.leaves)} leaves, along random direction {count}", along, 0.0, way)

    def _entry(self, name: str, f: Callable[[float], float], at: float, way: list[tuple[Node, float]]) -> InputCheck:
        found = slope(f, at, self.graph.noise)
        entry = judged(
            name,
            sum(d * self.graph.gradient(v) for v, d in way),
            found,
            rtol=self.rtol,
            atol=self.atol,
            size=max(1.0, abs(at)),  # tuned: a graph may add a number of any size to a small one; 1 is the usual
            rounding=sum(abs(d) * self.graph.rounding(v) for v, d in way),
        )
        if found.kink:
            kinks = at_kink(self.graph, [v for v, _ in way])
            entry = replace(entry, note="; ".join(filter(None, [entry.note, kinks])))
        return entry
