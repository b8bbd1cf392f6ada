"""`gradcheck(f, inputs)`: does backward agree with the function itself?"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from gradwalk import walk
from gradwalk.check import suspects
from gradwalk.check.agreement import ATOL, RTOL, checked_tolerances, judged, same
from gradwalk.check.inputs import CheckedFunction, Inputs, direction, read_inputs
from gradwalk.check.nodes import CheckedGraph, Node, at_kink, data
from gradwalk.check.numeric import slope
from gradwalk.check.report import CheckReport, InputCheck, Suspect, show
from gradwalk.check.taylor import remainder
from gradwalk.engine import Value
from gradwalk.errors import SettingError

__all__ = ["gradcheck"]

METHODS = {"central": "central differences", "taylor": "Taylor remainders"}


def gradcheck(
    f: Callable[..., Any],
    inputs: Any,
    *,
    method: str = "central",
    rtol: float = RTOL,
    atol: float = ATOL,
    raise_error: bool = True,
    value: Callable[..., Any] | None = None,
    seed: int = 0,
) -> CheckReport:
    """Check the gradients of `f` at a point against slopes that are measured by nudging the inputs.

    `inputs` holds one entry for each argument of `f`: a number, a Value (only read), or a list of them in any
    nesting. `f` gives one Value. What is allowed is `atol + rtol × |slope|` beyond the error of the measurement,
    which is estimated for each input. Where the function has a kink, any slope between its two sides is right.
    `method='taylor'` tests one random direction (drawn from `seed`) by the way its Taylor remainder shrinks.

    Beside the gradients of the inputs, each node of the graph is checked on its own, so that a failure names the op
    whose derivative is wrong. `value=MyValue` checks a class of your own: anything with data, grad and backward().

    Tensors among the inputs are checked number by number, and each op on the way by itself; one alone needs no list.

    Raises `GradientCheckError`, which is an AssertionError; with `raise_error=False` the report says it all.

    >>> gradcheck(lambda a, b: (a * b + 1).tanh(), [0.5, -2.0]).ok
    True
    >>> @gradwalk.op(lambda x, out: 3.003 * x * x)
    ... def cube(x):
    ...     return x * x * x
    >>> gradcheck(lambda x: cube(x) + x, [2.0])
    Traceback (most recent call last):
    ...
    gradwalk.errors.GradientCheckError: gradcheck failed: the gradient is wrong (central differences, value 10, 3 nodes)
      input      backward gave  measured     ratio
      inputs[0]         13.012        13  1.00092  wrong
    at fault: cube, at cube(2) = 8: its derivative in operand 1 is 12.012 and should be 12 (ratio 1.001)
    """
    if method not in METHODS:
        raise SettingError(f"no method is called {method!r}; there are {', '.join(METHODS)}")
    rtol, atol = checked_tolerances(rtol, atol)
    if getattr(inputs, "many", False) is True:  # a tensor alone is the one argument, as PyTorch takes it
        inputs = [inputs]
    if value is None and any_tensor(inputs):
        from gradwalk.check.of_tensors import checked

        if method != "central":
            raise SettingError("functions of tensors are checked by central differences; leave method out")
        report = checked(f, inputs, rtol, atol)
        return report.or_raise() if raise_error else report
    check = _Check(CheckedFunction(f, read_inputs(inputs, value)), method, rtol, atol, seed)
    report = check.report()
    return report.or_raise() if raise_error else report


def any_tensor(inputs: Any) -> bool:
    """Whether there is a tensor among inputs.

    >>> any_tensor([2.0, 3.0])
    False
    """
    return isinstance(inputs, (list, tuple)) and any(getattr(x, "many", False) is True for x in inputs)


@dataclass
class _Check:
    """One run of gradcheck: the graph at the point, then the entries, then who is at fault."""

    f: CheckedFunction
    method: str
    rtol: float
    atol: float
    seed: int

    def __post_init__(self) -> None:
        root, self.leaves = self.f.run(self.f.inputs.numbers)
        self.graph = CheckedGraph(root, self.leaves, fresh=True)
        self.gradients = [self.graph.gradient(leaf) for leaf in self.leaves]
        self.measured = suspects.measured_on_their_own(self.graph)

    @property
    def inputs(self) -> Inputs:
        return self.f.inputs

    def report(self) -> CheckReport:
        report = CheckReport("gradcheck", METHODS[self.method], data(self.graph.root), len(self.graph.order), ())
        stop = self._not_deterministic() or not_finite(self.graph)
        if stop:
            return replace(report, problems=(stop,))
        entries = self._by_taylor() if self.method == "taylor" else [self._entry(i) for i in range(len(self.leaves))]
        found, problems = self._at_fault(entries)
        return replace(report, inputs=tuple(entries), suspects=tuple(found), problems=tuple(problems))

    def _not_deterministic(self) -> str:
        root, leaves = self.f.run(self.inputs.numbers)
        first, second = data(self.graph.root), data(root)
        remedy = "draw random numbers before and pass them in, or seed inside f, and let f keep nothing between calls"
        if not same(first, second):
            return f"f is not deterministic: at the same inputs it gave {first!r} and then {second!r}; {remedy}"
        again = CheckedGraph(root, leaves, fresh=True)
        for name, leaf, twin, got in zip(self.inputs.names, self.leaves, leaves, self.gradients, strict=True):
            now = again.gradient(twin)
            # Out of a set the contributions come in any order, and their sum differs in its last digits.
            if abs(got - now) > 1e-9 * max(abs(got), abs(now)) + self.graph.rounding(leaf):
                return (
                    f"backward is not deterministic: at the same inputs it gave {name} the gradient {got!r} and then "
                    f"{now!r}; {remedy}; does an order come out of a set?"
                )
        return ""

    def _entry(self, position: int) -> InputCheck:
        name, leaf, x = self.inputs.names[position], self.leaves[position], self.inputs.numbers[position]
        found = slope(self.f.along(position), x, self.graph.noise)
        entry = judged(
            name,
            self.gradients[position],
            found,
            rtol=self.rtol,
            atol=self.atol,
            size=max(1.0, abs(x)),  # tuned: f may add a number of any size to a small one; 1 is the usual
            rounding=self.graph.rounding(leaf),
        )
        return replace(entry, note="; ".join(filter(None, [entry.note, *self._notes(entry, leaf, found.kink)])))

    def _notes(self, entry: InputCheck, leaf: Node, kink: bool) -> Iterator[str]:
        if leaf not in self.graph and (isinstance(self.graph.root, Value) or self.graph.locals):
            yield (
                "the result's graph does not reach it: .data, Value(x.data) or no_grad() on the way?"
                if entry.status == "wrong"
                else "f does not use it (for a graph over Values that exist already there is check_graph)"
            )
        if kink:
            yield at_kink(self.graph, [leaf])
        if not math.isfinite(entry.got):
            yield _where_not_finite(self.graph)

    def _explained(self, entry: InputCheck, leaf: Node) -> bool:
        """Whether the note beside an input has already said what is wrong with it."""
        return entry.status != "wrong" or leaf not in self.graph or not math.isfinite(entry.got)

    # --- along a direction -------------------------------------------------------------------------------------------

    def _by_taylor(self) -> list[InputCheck]:
        """One random direction; if it fails, each input by itself, to name the one that is wrong."""
        point = self.inputs.numbers
        if len(point) > 1:
            way = direction(random.Random(self.seed), point)
            whole = self._remainder(way, self._measured_along(way))
            if whole.status != "wrong":
                return [whole]
        units = ([float(i == j) for j in range(len(point))] for i in range(len(point)))
        return [self._remainder(unit, self._entry(i)) for i, unit in enumerate(units)]

    def _remainder(self, way: list[float], entry: InputCheck) -> InputCheck:
        """The verdict along one way; where the remainder does not settle it, what was measured does."""
        shrinks = remainder(self._along(way), entry.got, self.graph.noise)
        if shrinks.ok and math.isfinite(entry.got):
            return replace(entry, status="ok", note=str(shrinks))
        return replace(entry, note="; ".join(filter(None, [str(shrinks), entry.note])))

    def _measured_along(self, way: list[float]) -> InputCheck:
        point = self.inputs.numbers
        return judged(
            f"all {len(point)} inputs, along a random direction",
            sum(d * g for d, g in zip(way, self.gradients, strict=True)),
            slope(self._along(way), 0.0, self.graph.noise),
            rtol=self.rtol,
            atol=self.atol,
            size=max(map(abs, point)),
            rounding=sum(abs(d) * self.graph.rounding(leaf) for d, leaf in zip(way, self.leaves, strict=True)),
        )

    def _along(self, way: list[float]) -> Callable[[float], float]:
        point = self.inputs.numbers
        return lambda t: self.f.value(tuple(x + t * d for x, d in zip(point, way, strict=True)))

    # --- who is at fault ---------------------------------------------------------------------------------------------

    def _at_fault(self, entries: list[InputCheck]) -> tuple[list[Suspect], list[str]]:
        found = suspects.wrong_on_their_own(self.graph, self.measured, self.rtol, self.atol)
        if all(entry.status != "wrong" for entry in entries):
            return found, []
        more, unknown = suspects.wrong_by_rebuilding(self.graph, self.f, self.leaves, self.rtol)
        found += more
        if found or all(map(self._explained, entries, self.leaves)):
            return found, []
        names = dict(zip(map(id, self.leaves), self.inputs.names, strict=True))
        lost = suspects.lost_on_the_way(self.graph, names)
        if not unknown:
            return [], [lost or suspects.NOTHING]
        some = f"{', '.join(unknown[:4])}{', …' if len(unknown) > 4 else ''}"
        left = f"could not be checked on their own, for want of a function or of a _backward that tells: {some}"
        return [], list(filter(None, [lost, left]))


def not_finite(graph: CheckedGraph) -> str:
    """Why there is no derivative to check, where the value itself is not finite."""
    if math.isfinite(data(graph.root)):
        return ""
    first = graph.first_not_finite()
    return (
        f"the value is {show(data(graph.root))}, so there is no derivative to check here, and no fault of backward's. "
        f"It first stopped being finite at {walk.describe(first)}: choose a point where it is finite"
    )


def _where_not_finite(graph: CheckedGraph) -> str:
    for v in reversed(graph.order):
        for _, local in graph.locals[id(v)].shares() if id(v) in graph.locals else ():
            if not math.isfinite(local * graph.gradient(v)):
                return f"it stopped being finite at {walk.describe(v)}: {show(graph.gradient(v))} × {show(local)}"
    return ""
