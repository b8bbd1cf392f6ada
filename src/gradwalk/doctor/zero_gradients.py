"""Why a gradient is exactly 0 although a path leads there: who on the way up multiplied it by 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from gradwalk import ops, walk
from gradwalk.doctor.order import edges
from gradwalk.doctor.scan import Scan
from gradwalk.engine import Value

FOLLOWED = 20_000  # nodes, at most, on the way up from one parameter

#: What an op that stops a gradient does, in words.
_STOPS: dict[Any, str] = {
    ops.relu: "relu",
    ops.tanh: "saturated",
    ops.sigmoid: "saturated",
    ops.softplus: "saturated",
    ops.mul: "times 0",
    ops.div: "times 0",
    ops.maximum: "not chosen",
    ops.minimum: "not chosen",
    ops.where: "not chosen",
    ops.clamp: "clamped",
}


@dataclass
class ZeroGradient:
    """Parameters whose gradient is exactly 0 for one reason, and where it was stopped.

    >>> ZeroGradient("relu").parameters
    []
    """

    reason: str
    parameters: list[str] = field(default_factory=list)
    units: set[str] = field(default_factory=set)  # whose ReLU, tanh, … stopped it
    example: str = ""


def why_zero(scan: Scan, parameters: Iterable[Value]) -> list[ZeroGradient]:
    """The reasons for gradients of 0 after a `backward()`, for parameters that a path leads to.

    >>> w = Value(-2.0, label="w")
    >>> loss = (w * 3).relu() * 5
    >>> loss.backward()
    >>> [(zero.reason, zero.parameters, zero.example) for zero in why_zero(Scan(loss, names_of([w])), [w])]
    [('relu', ['w'], 'ReLU(-6) = 0')]
    """
    parameters = list(parameters)
    consumers = _consumers(scan, parameters)
    found: dict[str, ZeroGradient] = {}
    for p in parameters:
        blockers = _blockers(p, consumers)
        reasons = {_reason(v, below) for v, below in blockers}
        reason = reasons.pop() if len(reasons) == 1 else "several" if reasons else "cancels"
        zero = found.setdefault(reason, ZeroGradient(reason))
        zero.parameters.append(scan.names.name(p))
        for v, _ in blockers:
            unit = scan.unit_of(next((x for x in v.inputs if isinstance(x, Value)), v))
            zero.units.add(unit[0] if unit else "")
            zero.example = zero.example or walk.describe(v)
    return list(found.values())


def _consumers(scan: Scan, parameters: list[Value]) -> dict[int, list[tuple[Value, float | None]]]:
    """Who reads each parameter, and each node above it that has no gradient to pass on, with its slope towards it."""
    found: dict[int, list[tuple[Value, float | None]]] = {id(p): [] for p in parameters}
    for v in scan.order:  # operands first, so one pass finds what is above what was found
        if not any(id(x) in found for x in v.inputs):
            continue
        for x, slope in edges(v):
            if id(x) in found:
                found[id(x)].append((v, slope))
                if slope != 0.0 and v.grad == 0.0:
                    found.setdefault(id(v), [])
    return found


def _blockers(p: Value, consumers: dict[int, list[tuple[Value, float | None]]]) -> list[tuple[Value, Value]]:
    """The nodes above `p` whose slope of 0 stops what comes down to it, each with the operand it stops."""
    found: list[tuple[Value, Value]] = []
    seen = {id(p)}
    ahead = [p]
    while ahead and len(seen) < FOLLOWED:
        v = ahead.pop()
        for above, slope in consumers.get(id(v), ()):
            if slope == 0.0:
                found.append((above, v))
            elif above.grad == 0.0 and id(above) not in seen:
                seen.add(id(above))
                ahead.append(above)
    return found


def _reason(v: Value, below: Value) -> str:
    reason = _STOPS.get(v.primitive, "a slope of 0")
    if reason == "times 0" and below.is_leaf:
        return "an input of 0"  # the parameter itself is multiplied by 0
    return reason
