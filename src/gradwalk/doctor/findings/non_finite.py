"""A nan or inf and its birthplace, as a finding: which op made it of which numbers, who carried it on, what helps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gradwalk import ops, walk
from gradwalk.doctor.report import Finding
from gradwalk.doctor.scan import Scan
from gradwalk.engine import Value
from gradwalk.messages import counted
from gradwalk.provenance import Birth, Births, Place, backward_births, forward_births

LARGE = 1e100  # from such operands an op overflows because they are large, not because of what it is

LOG = (
    "keep it above 0, as in log(x + 1e-12)",
    "for probabilities: take nn.cross_entropy or nn.binary_cross_entropy of the scores themselves, which never do this",
)
EXP = (
    "subtract the largest number before exp, as nn.softmax and nn.logsumexp do",
    "look for what lets its operand grow so far: the learning rate, the first weights",
)
#: What to try, by the op that gave something not finite forwards.
_FORWARD: dict[Any, tuple[str, ...]] = {
    ops.log: LOG,
    ops.log1p: LOG,
    ops.exp: EXP,
    ops.expm1: EXP,
    ops.sinh: EXP,
    ops.cosh: EXP,
    ops.div: ("keep the divisor away from 0, as in x / (y + 1e-12)", "find out why it is 0 at all"),
    ops.sqrt: ("keep it from going below 0, as in sqrt(relu(x) + 1e-12)",),
    ops.pow: (
        "a negative number has no fractional power, and 0 no negative one: keep the base above 0",
        "for a square write x * x or x ** 2",
    ),
    ops.asin: ("keep it between -1 and 1 with clamp",),
    ops.acos: ("keep it between -1 and 1 with clamp",),
}
#: … and by the op whose slope did it backwards.
_BACKWARD: dict[Any, tuple[str, ...]] = {
    ops.sqrt: ("the slope of sqrt at 0 is inf: write sqrt(x + 1e-12)",),
    ops.pow: ("its slope has no end at 0: write (x + 1e-12) ** p",),
    ops.log: ("the slope of log at 0 is inf: write log(x + 1e-12)",),
    ops.div: ("keep the divisor away from 0, as in x / (y + 1e-12)",),
}
GROWN = (
    "numbers have grown too large on the way: try a smaller learning rate, smaller first weights, or clipped gradients",
)
NOTHING = (
    "0 × inf is nan: a gradient of 0 meets a slope that is inf; leave the number out where it does not count, as in "
    "where(x > 0, sqrt(x), 0), through which nothing is pushed to the branch that is not taken",
)


def birth_of_number(
    scan: Scan, step: int, line_of: Callable[[Value], Place | None], changed_by_update: dict[int, str]
) -> Finding | None:
    """The finding for a graph that holds a nan or inf; `changed_by_update` tells of parameters an update broke.

    >>> from gradwalk.doctor.names import Names
    >>> birth_of_number(Scan(Value(0.0).log() * 2, Names()), 1, lambda v: None, {}).what
    '-inf was born in log(0) at step 1'
    """
    births = forward_births(scan.order)
    first = births.first
    if first is None:
        return None
    if first in births.arrivals:
        return _arrival(scan, births, first, step, line_of(first.node), changed_by_update)
    node = first.node
    formula = first.text.rsplit(" gave ", 1)[0]
    numbers = [x.data if isinstance(x, Value) else x for x in node.inputs]
    grown = max(map(abs, numbers)) > LARGE or node.primitive in (ops.add, ops.sub, ops.mul)
    remedy = GROWN if grown else _FORWARD.get(node.primitive, ("look at the operands that this op was given",))
    noun, shown = "operand is" if len(numbers) == 1 else "operands are", " and ".join(f"{x:g}" for x in numbers)
    why = f"its {noun} finite ({shown}), and what it gives is not"
    what = f"{first.value:g} was born in {formula}"
    return _finding(scan, births, "forward", step, line_of(node), what, why, remedy, numbers)


def _arrival(
    scan: Scan, births: Births, first: Birth, step: int, line: Place | None, changed_by_update: dict[int, str]
) -> Finding:
    node = first.node
    name = scan.names.name(node) if node.is_leaf else ""
    if id(node) in changed_by_update:
        what, why = f"{first.value:g} was born in an update: {name}", changed_by_update[id(node)]
        remedy = "look at the optimiser: its learning rate, and anything it divides by"
    elif id(node) in scan.reached:
        what, why = f"the parameter {name} is {first.value:g}", "it was so before this graph"
        remedy = "look at how the parameters were made or loaded"
    else:
        what, why = first.text, "no op made it: it came in with the data"
        remedy = "look for nan and inf in what the model is given, before the first step"
    return _finding(scan, births, "arrival", step, line, what, why, (remedy,))


def birth_of_gradient(scan: Scan, step: int, line_of: Callable[[Value], Place | None]) -> Finding | None:
    """The finding for a graph with finite numbers and a gradient that is not, after its `backward()`.

    >>> from gradwalk.doctor.names import Names
    >>> y = Value(0.0, label="x").sqrt() * 3
    >>> y.backward()
    >>> birth_of_gradient(Scan(y, Names()), 2, lambda v: None).what
    'a gradient turned inf at sqrt(x=0) = 0, on the way back at step 2'
    """
    births = backward_births(scan.order)
    first = births.first
    if first is None:
        return None
    node = first.node
    remedy: tuple[str, ...]
    if math.isnan(first.value) and node.grad == 0.0:
        remedy = NOTHING
    elif node.primitive in _BACKWARD:
        remedy = _BACKWARD[node.primitive]
    elif node.primitive is not None:
        remedy = GROWN
    else:
        remedy = ("look at what its _backward divides by",)
    what = f"a gradient turned {first.value:g} at {walk.describe(node)}, on the way back"
    return _finding(scan, births, "backward", step, line_of(node), what, first.text, remedy)


def _finding(
    scan: Scan, births: Births, way: str, step: int, line: Place | None, what: str, why: str, remedy: tuple[str, ...],
    operands: Sequence[float] = (),
) -> Finding:  # fmt: skip
    first = births.first
    assert first is not None
    return Finding(
        "birth",
        "error",
        f"{what} at step {step}" if step else what,
        where=(scan.at(first.node),),
        line=line,
        why=why + _company(births),
        remedy=remedy,
        step=step,
        numbers={
            "way": way,
            "op": first.node._op,
            "value": first.value,
            "operands": list(operands),
            "producers": len(births.producers),
            "arrivals": len(births.arrivals),
            "carriers": births.carriers,
        },
    )


def _company(births: Births) -> str:
    """Who else made one, and how many only carried it."""
    others = len(births.producers) + len(births.arrivals) - 1
    parts = []
    if others:
        parts.append(f"{counted(others, 'other op')} made one too")
    if births.carriers:
        parts.append(f"{counted(births.carriers, 'node')} only carried it on")
    return "; " + ", ".join(parts) if parts else ""
