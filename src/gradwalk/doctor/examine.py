"""A full examination of one graph, right after its `backward()`."""

from __future__ import annotations

import math
from collections.abc import Callable

from gradwalk import ops, provenance
from gradwalk.doctor.births import birth_of_gradient, birth_of_number
from gradwalk.doctor.chart import Chart
from gradwalk.doctor.cuts import cuts
from gradwalk.doctor.order import ordered
from gradwalk.doctor.readings import Readings
from gradwalk.doctor.record import CutLine, Exam
from gradwalk.doctor.report import Finding
from gradwalk.doctor.slopes import Wrong, wrong_by_rebuilding, wrong_derivatives
from gradwalk.doctor.zeros import why_zero
from gradwalk.engine import Value
from gradwalk.provenance import Place

__all__ = ["examine", "find_cuts"]

FEW = 64  # parameters with a gradient of 0 that are asked why, at most

Liner = Callable[[Value], Place | None]


def examine(
    chart: Chart,
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

    >>> from gradwalk import Value
    >>> from gradwalk.doctor.chart import Chart
    >>> from gradwalk.doctor.examine import examine
    >>> from gradwalk.doctor.names import names_of
    >>> w = Value(0.0, label="w")
    >>> loss = (w * 2).log()
    >>> loss.backward()
    >>> examine(Chart(loss, names_of([w])), 1).findings[0].what
    '-inf was born in log(0) at step 1'
    """
    exam = Exam(step, chart.root.data, len(chart.order), reached=set(chart.reached))
    own = {id(p): p.grad for p in chart.names.parameters} if gradients is None else gradients
    number = birth_of_number(chart, step, line_of, broken or {}) if suspect_odd and _odd_number(chart) else None
    look_back = suspect_odd and number is None and _odd_gradient(chart, own)
    gradient = birth_of_gradient(chart, step, line_of) if look_back else None
    if number or gradient:  # whatever else the graph shows comes of it
        exam.findings = [found for found in (number, gradient) if found is not None]
        return exam
    exam.flows = {layer: flow.size for layer, flow in chart.flows.items()}
    exam.relus, exam.squashes = chart.relus, chart.squashes
    wrong = wrong_derivatives(chart.custom)
    if build is not None and chart.custom:
        known = {w.op for w in wrong}
        more = wrong_by_rebuilding(build, chart.custom, chart.names.parameters)
        wrong += [w for w in more if w.op not in known]
    exam.findings = [_wrong(chart, w, step, line_of) for w in wrong]
    if len(chart.reached) < len(chart.names.parameters):
        exam.outside, exam.even = _outside(chart), _even(chart)
    if ask_zeros:
        still = [p for p in chart.names.parameters if id(p) in chart.reached and own[id(p)] == 0.0]
        exam.zeros = why_zero(chart, still[:FEW]) if still else []
    return exam


def _odd_number(chart: Chart) -> bool:
    return not math.isfinite(chart.root.data) or not all(math.isfinite(v.data) for v in chart.order)


def _odd_gradient(chart: Chart, own: dict[int, float]) -> bool:
    gradients = (own.get(id(v), v.grad) for v in chart.order)
    return not all(math.isfinite(g) for g in gradients if g.__class__ is float)


def _wrong(chart: Chart, wrong: Wrong, step: int, line_of: Liner) -> Finding:
    where = (chart.at(wrong.node),)
    line = line_of(wrong.node)
    if wrong.silent:
        return Finding(
            "wrong-derivative",
            "error",
            f"{wrong.op!r} has operands and no _backward: no gradient passes it",
            where=where,
            line=line,
            why=f"{wrong.count} such node{'s' * (wrong.count != 1)} in the graph push nothing to what they are made of",
            remedy=(
                "give it a _backward that adds to each operand's grad",
                "or define the operation with @gradwalk.op",
            ),
            step=step,
        )
    if wrong.habit:
        return Finding(
            "wrong-derivative",
            "error",
            f"the _backward of {wrong.op} is wrong: {wrong.habit}",
            where=where,
            line=line,
            why=f"seen by running it alone; {wrong.count} node{'s' * (wrong.count != 1)} of the graph use it",
            remedy=("write x.grad += slope * out.grad for each operand x",),
            step=step,
        )
    operand = f" in operand {wrong.operand}" if wrong.operand else ""
    share = f"; {_of(wrong.count, wrong.of)} that were checked show it" if wrong.of > 1 else ""
    return Finding(
        "wrong-derivative",
        "error",
        f"the derivative of {wrong.op} is wrong: it gives {wrong.got:.6g} and should give {wrong.expected:.6g}",
        where=where,
        line=line,
        why=f"so its value changes when it is nudged{operand}{share}" + (f"; {wrong.why}" if wrong.why else ""),
        remedy=(f"correct the rule of {wrong.op}, then make sure with gradwalk.gradcheck",),
        step=step,
        numbers={"op": wrong.op, "operand": wrong.operand, "got": wrong.got, "expected": wrong.expected},
    )


def _of(count: int, of: int) -> str:
    return f"all {of} nodes" if count == of else f"{count} of {of} nodes"


def _outside(chart: Chart) -> dict[str, bool]:
    """For each layer whether all that it multiplies with comes from outside the graph: leaves and constants."""
    layers = {id(p): spot.layer for p in chart.names.parameters if (spot := chart.names.spot(p))}
    found: dict[str, bool] = {}
    for v in chart.order:
        if v.primitive is not ops.mul or v.closure is not None:
            continue
        for own, other in (v.inputs, v.inputs[::-1]):
            layer = layers.get(id(own))
            if layer is not None and id(other) not in layers:
                leaf = not isinstance(other, Value) or other.is_leaf
                found[layer] = found.get(layer, True) and leaf
    return found


def _even(chart: Chart) -> set[str]:
    """The tables of which each row that is read at all is read as often as the others, and more than once.

    So does a layer read its weights, once a sample; rows of an embedding are read as samples have it.
    """
    first: dict[str, tuple[int, str]] = {}  # of each row its first number stands for all
    for p in chart.names.parameters:
        spot = chart.names.spots[id(p)]
        if spot.table and id(p) in chart.reached:
            first.setdefault(spot.unit, (id(p), spot.table))
    wanted = {own for own, _ in first.values()}
    reads = dict.fromkeys(wanted, 0)
    for v in chart.order:
        for x in v.inputs:
            if id(x) in wanted:
                reads[id(x)] += 1
    counts: dict[str, list[int]] = {}
    for own, table in first.values():
        counts.setdefault(table, []).append(reads[own])
    return {table for table, found in counts.items() if len(found) > 1 and len(set(found)) == 1 and found[0] > 1}


def find_cuts(chart: Chart, readings: Readings) -> list[CutLine]:
    """The lines at which gradient left a graph whose forward pass was followed.

    >>> from gradwalk import Value
    >>> from gradwalk.doctor.chart import Chart
    >>> from gradwalk.doctor.examine import find_cuts
    >>> from gradwalk.doctor.names import names_of
    >>> from gradwalk.doctor.readings import follow
    >>> w = Value(3.0, label="w")
    >>> with follow() as readings:
    ...     loss = Value((w * w).data * 2) * w
    >>> loss.backward()
    >>> [(cut.way, cut.lost) for cut in find_cuts(Chart(loss, names_of([w])), readings)]
    [('data', 6.0)]
    """
    known = {id(p) for p in chart.names.parameters}
    inside = {id(v) for v in chart.order}

    def parameters_of(v: Value) -> set[int]:
        found: set[int] = set()
        seen: set[int] = set()
        ahead = [v]
        while ahead:
            top = ahead.pop()
            if id(top) in seen:
                continue
            for x in ordered(top):
                seen.add(id(x))
                if id(x) in readings.forgotten:  # under no_grad() a result is a leaf: go on with what it was made of
                    ahead += [y for y in readings.forgotten[id(x)][1] if isinstance(y, Value) and id(y) not in seen]
                elif id(x) in known:
                    found.add(id(x))
        return found

    return [
        CutLine(cut.line, cut.way, cut.count, cut.lost, cut.text, cut.source, frozenset(cut.parameters))
        for cut in cuts(readings, inside, chart.at, parameters_of)
    ]
