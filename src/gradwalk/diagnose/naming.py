"""Which faults an engine has: its wrong numbers against those of the museum's engines on the same programs.

First a single fault that explains everything is looked for. If there is none, each op is looked into by itself, with
programs that need no other op; what is still wrong after that lies in the walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gradwalk.diagnose import museum
from gradwalk.diagnose.case import Case
from gradwalk.diagnose.checks import SYMBOL, on_points
from gradwalk.diagnose.evidence import BASIC, REVERSED, evidence, ops_in
from gradwalk.diagnose.measuring import Measured, measure
from gradwalk.diagnose.museum.faults import ARRANGEMENTS, EVERY, Fault, Kind
from gradwalk.diagnose.programs import Program

__all__ = ["Findings", "faults_of", "whole"]

PUSHING: tuple[Kind, ...] = (
    "overwriting", "counting-itself", "without-upstream", "adds-upstream", "detached", "keyed-by-operand",
    "closure-on-operand",
)  # fmt: skip
#: Where an op that is written with `if` pushes anything.
PUSHES_WHERE = {"relu": "x > 0.0", "pow": "n != 0"}
#: Specimens that concern the engine as a whole, simplest first; those of the walk depend on the order of operands.
EVERYWHERE = ("overwriting", "not-seeded", "hidden-method", "root-twice", "one-user", "keyed-by-operand",
              "closure-on-operand")  # fmt: skip
IN_EVERY_OP = (
    Fault("negated", EVERY),
    Fault("slope", EVERY, formula="1.0"),
    *(Fault(kind, EVERY) for kind in ("without-upstream", "adds-upstream", "counting-itself")),
)
ORDERS = ("wrong-end", "no-order", "listed-twice", "preorder", "breadth-first")
REPEATED = ("left-over-gradients", "only-once", "leaves-reset")


@dataclass
class Findings:
    """The faults that were found, the ops that are wrong in a way that has no name, and how operands are kept.

    `in_walk`: the walk is to blame, in a way that has no name.

    >>> from gradwalk.diagnose.naming import Findings
    >>> Findings().faults
    ()
    """

    faults: tuple[Fault, ...] = ()
    unknown: dict[str, Measured] = field(default_factory=dict)
    arrangement: str | None = "as written"
    in_walk: bool = False


def whole(name: str) -> Fault:
    """A specimen as a fault.

    >>> from gradwalk.diagnose.naming import whole
    >>> whole("preorder").name
    'preorder'
    """
    return Fault("specimen", specimen=name, edits=museum.find(name).edits)


def faults_of(case: Case) -> Findings:
    """What is wrong with values and gradients at ordinary points, in one walk.

    >>> from gradwalk.diagnose import museum
    >>> from gradwalk.diagnose.adapter import Engine
    >>> from gradwalk.diagnose.case import Case
    >>> from gradwalk.diagnose.naming import faults_of
    >>> from gradwalk.diagnose.trial import Trial
    >>> case = Case(Trial(Engine(museum.find("preorder").engine())))
    >>> [fault.name for fault in faults_of(case).faults]
    ['preorder']
    """
    if not case.wrong(case.programs):
        return Findings()
    single = _single(case, (), case.programs)
    if single:
        return single
    findings = _op_by_op(case)
    known = [p for p in case.programs if not ops_in(p.text) & findings.unknown.keys()]
    if not case.explains(findings.faults, case.wrong(known)):
        more = _single(case, findings.faults, known) or _one_more_op(case, findings, known)
        if more:
            return Findings(more.faults, findings.unknown, more.arrangement)
    findings.arrangement = None if case.by_set else "as written"
    together = [op for op in findings.unknown if op in BASIC and not case.wrong(on_points(op))]
    if len(together) > 2:  # right by themselves, wrong on top of each other
        return Findings(findings.faults, {}, findings.arrangement, in_walk=True)
    return findings


def _single(case: Case, faults: tuple[Fault, ...], programs: list[Program]) -> Findings | None:
    """One fault of the whole engine that, with those found already, explains every program."""
    names = [name for name in EVERYWHERE if name != "hidden-method" or case.trial.engine.hides_backward()]
    if "hidden-method" in names:
        names.remove("not-seeded")
    arrangements = [None] if case.by_set else list(ARRANGEMENTS)
    for fault in (*map(whole, names), *IN_EVERY_OP):
        both = (*faults, fault)
        for arrangement in arrangements if fault.name in ("overwriting", "one-user") else arrangements[:1]:
            if case.explains(both, programs, arrangement):
                return Findings(both, arrangement=arrangement)
    for arrangement in arrangements:
        for name in ORDERS:
            if case.explains((*faults, whole(name)), programs, arrangement):
                return Findings((*faults, whole(name)), arrangement=arrangement)
    return None


def _op_by_op(case: Case) -> Findings:
    findings = Findings()
    ops = [op for op in (*BASIC, *REVERSED) if case.has(op)]
    ops.sort(key=lambda op: len(case.parts[op]))  # what others are made of comes first
    clean = {op for op in ops if not case.wrong(evidence(op))}
    for op in ops:
        if op in clean or case.explains(findings.faults, _there(case, evidence(op))):
            continue
        if any(part in findings.unknown for part in (*case.parts[op], op[1:] if op in REVERSED else "")):
            continue  # no wonder
        found = _in_op(case, op, clean, findings.faults)
        if isinstance(found, Measured):
            findings.unknown[op] = found
        else:
            findings.faults += found
    return findings


def _in_op(case: Case, op: str, clean: set[str], before: tuple[Fault, ...]) -> tuple[Fault, ...] | Measured:
    for part in case.parts[op] - {"turned"}:
        programs = [*_there(case, evidence(op)), *case.about(part, clean)]
        for fault in _pushing(part) if part in BASIC else ():
            if case.explains((*before, fault), programs):
                return (fault,)
    kept = set(case.shapes)
    case.shapes -= {op, f"{op}, wrapped", f"{op}, reflected"}  # it has a fault of its own, whatever it is made of
    scope, alone = case.about(op, clean), _there(case, evidence(op))
    measured = measure(case, op)
    candidates = list(_candidates(op, measured))
    for programs in (scope, alone):
        for faults in candidates:
            if case.explains((*before, *faults), programs):
                return faults
    case.shapes = kept
    return measured


def _candidates(op: str, measured: Measured) -> Iterator[tuple[Fault, ...]]:
    if op in REVERSED:
        for formula in _ANYTHING:
            yield (Fault("reflected", op, formula=formula, specimen=_REVERSED_SPECIMENS.get((op, formula), "")),)
        return
    if measured.faults:
        yield measured.faults
    for extra in _pushing(op):
        yield (extra,)
    for extra in _pushing(op) if measured.faults else ():
        yield (*measured.faults, extra)


def _pushing(op: str) -> Iterator[Fault]:
    if op in PUSHES_WHERE:
        yield Fault("overwriting", op, formula=PUSHES_WHERE[op])
    for kind in PUSHING:
        yield Fault(kind, op)
        if op in SYMBOL and kind != "keyed-by-operand":
            yield Fault(kind, op, 0)
            yield Fault(kind, op, 1)


def _one_more_op(case: Case, findings: Findings, programs: list[Program]) -> Findings | None:
    """A fault in an op that shows only together with other ops."""
    for op in BASIC:
        if case.has(op) and op not in findings.unknown:
            for fault in _pushing(op):
                both = (*findings.faults, fault)
                if case.explains(both, programs):
                    return Findings(both)
    return None


def _there(case: Case, programs: tuple[Program, ...]) -> list[Program]:
    return [program for program in programs if case.trial.outcome(program).kind != "missing"]


_ANYTHING = (
    "self - other", "self / other", "as_value(other) + self", "as_value(other) * self", "as_value(other) - self",
    "as_value(other) / self", "-self", "self", "as_value(other)", "-(as_value(other) + self)",
    "as_value(other) ** -1 * self",
    "self ** -1", "as_value(other) * -self", "as_value(other) / -self", "-as_value(other) - self",
)  # fmt: skip
_REVERSED_SPECIMENS = {
    ("rsub", "self - other"): "reversed-subtraction",
    ("rdiv", "self / other"): "reversed-division",
}
