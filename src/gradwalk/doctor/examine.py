"""A full examination of one graph, right after its `backward()`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradwalk import ops, provenance
from gradwalk.doctor.findings.non_finite import birth_of_gradient, birth_of_number
from gradwalk.doctor.history import Exam
from gradwalk.doctor.report import Finding
from gradwalk.doctor.scan import Scan
from gradwalk.doctor.wrong_derivatives import WrongDerivative, wrong_by_rebuilding, wrong_derivatives
from gradwalk.doctor.zero_gradients import why_zero
from gradwalk.engine import Value
from gradwalk.messages import counted
from gradwalk.provenance import Place

FEW = 64  # parameters with a gradient of 0 that are asked why, at most

Liner = Callable[[Value], Place | None]


def examine(
    scan: Scan,
    step: int,
    *,
    gradients: dict[int, float] | None = None,
    line_of: Liner = provenance.made_by,
    broken: dict[int, str] | None = None,
    build: Callable[[], Value] | None = None,
    suspect_odd: bool = True,
    ask_zeros: bool = True,
) -> Exam:
    """Everything that one graph shows.

    `gradients` holds those of the parameters by id, where their `.grad` holds more than this walk's or has been cleared
    since; `broken` tells of parameters that an update made nan or inf; `build` makes the graph again. Whether there is
    a nan or inf anywhere, and why gradients are 0, is looked into unless told otherwise, because it takes its time.

    >>> w = Value(0.0, label="w")
    >>> loss = (w * 2).log()
    >>> loss.backward()
    >>> examine(Scan(loss, names_of([w])), 1).findings[0].what
    '-inf was born in log(0) at step 1'
    """
    exam = Exam(step, scan.root.data, len(scan.order), reached=set(scan.reached))
    own = {id(p): p.grad for p in scan.names.parameters} if gradients is None else gradients
    number = gradient = None
    if suspect_odd and not all(math.isfinite(v.data) for v in scan.order):
        number = birth_of_number(scan, step, line_of, broken or {})
    if suspect_odd and number is None:
        gradients_here = (own.get(id(v), v.grad) for v in scan.order)
        if not all(math.isfinite(g) for g in gradients_here if g.__class__ is float):
            gradient = birth_of_gradient(scan, step, line_of)
    if number or gradient:  # whatever else the graph shows comes of it
        exam.findings = [found for found in (number, gradient) if found is not None]
        return exam
    exam.flows = {layer: flow.size for layer, flow in scan.flows.items()}
    exam.relus, exam.squashes = scan.relus, scan.squashes
    wrong = wrong_derivatives(scan.custom)
    if build is not None and scan.custom:
        known = {w.op for w in wrong}
        more = wrong_by_rebuilding(build, scan.custom, scan.names.parameters)
        wrong += [w for w in more if w.op not in known]
    exam.findings = [_wrong(scan, w, step, line_of) for w in wrong]
    if len(scan.reached) < len(scan.names.parameters):
        exam.outside, exam.even = _outside(scan), _even(scan)
    if ask_zeros:
        still = [p for p in scan.names.parameters if id(p) in scan.reached and own[id(p)] == 0.0]
        exam.zeros = why_zero(scan, still[:FEW]) if still else []
    return exam


def _wrong(scan: Scan, wrong: WrongDerivative, step: int, line_of: Liner) -> Finding:
    numbers: dict[str, Any] = {}
    if wrong.silent:
        what = f"{wrong.op!r} has operands and no _backward: no gradient passes it"
        why = f"{counted(wrong.count, 'such node')} in the graph push nothing to what they are made of"
        remedy = ["give it a _backward that adds to each operand's grad", "or define the operation with @gradwalk.op"]
    elif wrong.habit:
        what = f"the _backward of {wrong.op} is wrong: {wrong.habit}"
        users = "1 node of the graph uses" if wrong.count == 1 else f"{wrong.count} nodes of the graph use"
        why = f"seen by running it alone; {users} it"
        remedy = ["write x.grad += slope * out.grad for each operand x"]
    else:
        what = f"the derivative of {wrong.op} is wrong: it gives {wrong.got:.6g} and should give {wrong.expected:.6g}"
        nodes = f"all {wrong.of} nodes" if wrong.count == wrong.of else f"{wrong.count} of {wrong.of} nodes"
        why = "so its value changes when it is nudged" + (f" in operand {wrong.operand}" if wrong.operand else "")
        why += f"; {nodes} that were checked show it" if wrong.of > 1 else ""
        why += f"; {wrong.why}" if wrong.why else ""
        remedy = [f"correct the rule of {wrong.op}, then make sure with gradwalk.gradcheck"]
        if wrong.expected == 0.0:
            remedy.append("a straight-through estimator is meant to be so: leave it")
        numbers = {"op": wrong.op, "operand": wrong.operand, "got": wrong.got, "expected": wrong.expected}
    return Finding(
        "wrong-derivative",
        "error",
        what,
        where=(scan.at(wrong.node),),
        line=line_of(wrong.node),
        why=why,
        remedy=tuple(remedy),
        step=step,
        numbers=numbers,
    )


def _outside(scan: Scan) -> dict[str, bool]:
    """For each layer whether all that it multiplies with comes from outside the graph: leaves and constants."""
    layers = {id(p): spot.layer for p in scan.names.parameters if (spot := scan.names.spot(p))}
    found: dict[str, bool] = {}
    for v in scan.order:
        if v.primitive is not ops.mul or v.closure is not None:
            continue
        for own, other in (v.inputs, v.inputs[::-1]):
            layer = layers.get(id(own))
            if layer is not None and id(other) not in layers:
                leaf = not isinstance(other, Value) or other.is_leaf
                found[layer] = found.get(layer, True) and leaf
    return found


def _even(scan: Scan) -> set[str]:
    """The tables of which each row that is read at all is read as often as the others, and more than once.

    So does a layer read its weights, once a sample; rows of an embedding are read as samples have it.
    """
    first: dict[str, tuple[int, str]] = {}  # of each row its first number stands for all
    for p in scan.names.parameters:
        spot = scan.names.spots[id(p)]
        if spot.table and id(p) in scan.reached:
            first.setdefault(spot.unit, (id(p), spot.table))
    wanted = {own for own, _ in first.values()}
    reads = dict.fromkeys(wanted, 0)
    for v in scan.order:
        for x in v.inputs:
            if id(x) in wanted:
                reads[id(x)] += 1
    counts: dict[str, list[int]] = {}
    for own, table in first.values():
        counts.setdefault(table, []).append(reads[own])
    return {table for table, found in counts.items() if len(found) > 1 and len(set(found)) == 1 and found[0] > 1}
