"""Which faults an engine has: its wrong numbers against those of the museum's engines on the same programs.

First a single fault that explains everything is looked for. If there is none, each op is looked into by itself, with
programs that need no other op; what is still wrong after that lies in the walk. Where nodes can be asked to push one by
one, the programs are walked back by hand, so that all of this is about ops; what the walk does is watched instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from gradwalk.diagnose import museum
from gradwalk.diagnose.comparison import AS_WRITTEN, Candidate, Comparison
from gradwalk.diagnose.experiments import answer_to_upstream
from gradwalk.diagnose.formulas import Measured, measure
from gradwalk.diagnose.museum.faults import ARRANGEMENTS, EVERY, Fault, Kind
from gradwalk.diagnose.op_probes import BASIC, REVERSED, at_points, chained, evidence, ops_in
from gradwalk.diagnose.probes import Probe
from gradwalk.diagnose.vocabulary import SYMBOL, UNARY
from gradwalk.diagnose.watching import starts_with_one
from gradwalk.matcher import by_type

__all__ = ["Findings", "faults_of", "whole"]

PUSHING: tuple[Kind, ...] = (
    "overwriting", "counting-itself", "without-upstream", "adds-upstream", "detached", "keyed-by-operand",
)  # fmt: skip
#: Where an op that is written with `if` pushes anything.
PUSHES_WHERE = {"relu": "x > 0.0", "pow": "n != 0"}
#: Specimens that concern the engine as a whole, simplest first; those of the walk depend on the order of operands.
EVERYWHERE = ("overwriting", "not-seeded", "hidden-method", "root-twice", "one-user", "keyed-by-operand")
IN_EVERY_OP = (
    Fault("negated", EVERY),
    Fault("slope", EVERY, formula="1.0"),
    *(Fault(kind, EVERY) for kind in ("without-upstream", "adds-upstream", "counting-itself")),
)
ORDERS = ("wrong-end", "no-order", "listed-twice", "preorder", "breadth-first")
_ODD = ("gated", "clipped", "odd")  # ways in which a push may answer to the upstream gradient
REPEATED = ("left-over-gradients", "only-once", "leaves-reset")


@dataclass
class Findings:
    """The faults that were found, the ops that are wrong in a way that has no name, and how operands are kept.

    `in_walk`: the walk is to blame, in a way that has no name.

    >>> Findings().faults
    ()
    """

    faults: tuple[Fault, ...] = ()
    unknown: dict[str, Measured] = field(default_factory=dict)
    arrangement: str | None = AS_WRITTEN
    in_walk: bool = False


def whole(name: str) -> Fault:
    """A specimen as a fault.

    >>> whole("preorder").name
    'preorder'
    """
    return Fault("specimen", specimen=name, edits=museum.find(name).edits)


def faults_of(comparison: Comparison, misplaced: Collection[str] = ()) -> Findings:
    """What is wrong with values and gradients at ordinary points, in one walk.

    `misplaced` are ops whose pushes stand on an operand: of these only value and derivatives are looked at.

    >>> from gradwalk.diagnose.examination import Examination
    >>> comparison = Comparison(Examination(Engine(museum.find("preorder").engine())))
    >>> [fault.name for fault in faults_of(comparison).faults]
    ['preorder']
    """
    if not comparison.wrong(comparison.programs):
        return Findings()
    single = _single(comparison, (), comparison.programs)
    if single:
        return single
    findings = _op_by_op(comparison, misplaced)
    if misplaced:
        return findings
    known = [p for p in comparison.programs if not ops_in(p.text) & findings.unknown.keys()]
    if not comparison.explains(findings.faults, comparison.wrong(known)):
        more = _single(comparison, findings.faults, known) or _one_more_op(comparison, findings, known)
        if more:
            return Findings(more.faults, findings.unknown, more.arrangement)
    findings.arrangement = None if comparison.by_set else AS_WRITTEN
    if comparison.by_hand:
        return findings
    cut_off = {fault.op for fault in findings.faults if fault.kind == "detached" and fault.operand is None}
    if len(cut_off) > 1 and cut_off >= {op for op, parts in comparison.parts.items() if op in BASIC and not parts}:
        return Findings((), {}, findings.arrangement, in_walk=True)
    slopes = {fault.op for fault in findings.faults if fault.kind == "slope"}
    apart = {op for op in ("sub", "mul", "div") if op in comparison.parts and not comparison.parts[op]}
    if len(apart) > 2 and slopes >= apart:  # what they have in common is who hands their slopes on
        return Findings((), {}, findings.arrangement, in_walk=True)
    # Right by themselves, wrong on top of each other: that need not be the ops' doing.
    answers = {op: how.answer for op, how in findings.unknown.items() if op in BASIC}
    together = {op for op, answer in answers.items() if not answer and not comparison.wrong(at_points(op))}
    unknown = {op: how for op, how in findings.unknown.items() if op not in together}
    if len(unknown) > 2 and 2 * len(unknown) > sum(map(comparison.has, BASIC)):  # so many ops are not wrong at once
        return Findings(findings.faults, {}, findings.arrangement, in_walk=True)
    return Findings(findings.faults, unknown, findings.arrangement, in_walk=len(unknown) < len(findings.unknown))


def _single(comparison: Comparison, faults: tuple[Fault, ...], programs: list[Probe]) -> Findings | None:
    """One fault of the whole engine that, with those found already, explains every program."""
    names = [name for name in EVERYWHERE if name != "hidden-method" or comparison.examination.engine.hides_backward()]
    if "hidden-method" in names:
        names.remove("not-seeded")
    if "not-seeded" in names and starts_with_one(comparison.examination.engine):
        names.remove("not-seeded")
    if comparison.by_hand:
        names = ["overwriting", "keyed-by-operand"]
    arrangements = [None] if comparison.by_set else list(ARRANGEMENTS)
    candidates: list[Candidate] = [
        ((*faults, fault), arrangement)
        for fault in (*map(whole, names), *IN_EVERY_OP)
        for arrangement in (arrangements if fault.name in ("overwriting", "one-user") else arrangements[:1])
    ]
    orders = () if comparison.by_hand else ORDERS
    candidates += [((*faults, whole(name)), arrangement) for arrangement in arrangements for name in orders]
    found = comparison.first(candidates, programs)
    return found and Findings(found[0], arrangement=found[1])


def _op_by_op(comparison: Comparison, misplaced: Collection[str]) -> Findings:
    findings = Findings()
    for op in misplaced:
        if not comparison.parts[op]:
            findings.faults += measure(comparison, op).faults
    ops = [op for op in (*BASIC, *REVERSED) if comparison.has(op)]
    ops = [op for op in ops if not {op, op[1:] if op in REVERSED else "", *comparison.parts[op]} & {*misplaced}]
    ops.sort(key=lambda op: len(comparison.parts[op] - {"turned"}))  # what others are made of comes first
    clean = {op for op in ops if not comparison.wrong(evidence(op))}
    for op in ops:
        if any(part in findings.unknown for part in (*comparison.parts[op], op[1:] if op in REVERSED else "")):
            continue  # no wonder
        if op in clean and (answering := _answering(comparison, op, findings.faults)):
            findings.unknown[op] = answering
        if op in clean or comparison.explains(findings.faults, comparison.there(evidence(op))):
            continue
        if _goes_through(comparison, op, findings.faults):
            continue  # no wonder either
        found = _in_op(comparison, op, clean, findings.faults)
        if isinstance(found, Measured):
            findings.unknown[op] = found
        else:
            findings.faults += tuple(fault for fault in found if not _as_meant(fault))
    return findings


def _goes_through(comparison: Comparison, op: str, faults: tuple[Fault, ...]) -> bool:
    """Whether an op is made of one that is wrong, in a way that no simulation has."""
    guilty = [fault for fault in faults if fault.op in comparison.parts[op]]
    wrong = comparison.wrong(evidence(op))
    values = any(name.endswith(".data") for each in wrong for name in comparison.examination.failure(each).wrong())
    if not guilty or (values and not any(fault.kind in ("value", "reflected") for fault in guilty)):
        return False
    return all(by_type(comparison.simulate(faults, program), program.expected()) for program in wrong)


def _answering(comparison: Comparison, op: str, faults: tuple[Fault, ...]) -> Measured | None:
    """An op that is right on an upstream gradient of 1 and wrong on another; None if that cannot be seen."""
    if not comparison.by_hand and _is_gated(comparison, op, faults):
        return Measured((), comparison.examination.failure(chained(op, -2.0)), "gated")
    wrong = comparison.wrong(chained(op, k) for k in (3.0, -2.0)) if comparison.by_hand and op not in REVERSED else []
    answer = answer_to_upstream(comparison.examination.engine, op) if wrong else ""
    if answer not in _ODD:
        return None
    return Measured((), comparison.examination.failure(wrong[0]), answer)


def _as_meant(fault: Fault) -> bool:
    """Whether a reflected operator is written as it should be: then what it is written with is at fault."""
    return fault.kind == "reflected" and fault.formula == f"as_value(other) {SYMBOL[fault.op[1:]]} self"


def _in_op(comparison: Comparison, op: str, clean: set[str], before: tuple[Fault, ...]) -> tuple[Fault, ...] | Measured:
    def first(candidates: Iterable[tuple[Fault, ...]], programs: list[Probe]) -> tuple[Fault, ...]:
        found = comparison.first((((*before, *faults), AS_WRITTEN) for faults in candidates), programs)
        return found[0][len(before) :] if found else ()

    alone = comparison.there(evidence(op))
    for part in sorted(comparison.parts[op] - {"turned"}):
        if part in BASIC and (found := first(_pushing(part), [*alone, *comparison.about(part, clean)])):
            return found
    engine = comparison.examination.engine
    if comparison.by_hand and (answer := answer_to_upstream(engine, op)) in _ODD:
        wrong = comparison.wrong(evidence(op))
        return Measured((), comparison.examination.failure(wrong[0]) if wrong else None, answer)
    kept = set(comparison.shapes)
    comparison.shapes -= {op, f"{op}, wrapped", f"{op}, reflected"}  # it has a fault of its own, whatever it is made of
    measured = measure(comparison, op)
    candidates = list(_candidates(op, measured))
    found = first(candidates, comparison.about(op, clean)) or first(candidates, alone)
    if found and not comparison.by_hand and _is_gated(comparison, op, (*before, *found)):
        return Measured((), comparison.examination.failure(chained(op, -2.0)), "gated")
    if not found:
        comparison.shapes = kept
    return found or measured


def _is_gated(comparison: Comparison, op: str, faults: tuple[Fault, ...]) -> bool:
    """Whether an op that these faults explain on a positive upstream gradient pushes nothing on a negative one."""
    above, below = chained(op), chained(op, -2.0)
    got = comparison.examination.outcome(below)
    alone = {"neg", *UNARY} & {op} and got.kind == "numbers" and got.numbers["a.grad"] == 1.0  # what comes past it
    return bool(alone) and comparison.reproduces(faults, above) and not comparison.reproduces(faults, below)


def _candidates(op: str, measured: Measured) -> Iterator[tuple[Fault, ...]]:
    if op in REVERSED:
        for formula in _ANYTHING:
            yield (Fault("reflected", op, formula=formula, specimen=_REVERSED_SPECIMENS.get((op, formula), "")),)
        return
    if measured.faults:
        yield measured.faults
    yield from _pushing(op)
    for extra in _pushing(op) if measured.faults else ():
        yield (*measured.faults, *extra)


def _pushing(op: str) -> Iterator[tuple[Fault, ...]]:
    if op in PUSHES_WHERE:
        yield (Fault("overwriting", op, formula=PUSHES_WHERE[op]),)
    for kind in PUSHING:
        yield (Fault(kind, op),)
        if op in SYMBOL and kind != "keyed-by-operand":
            yield (Fault(kind, op, 0),)
            yield (Fault(kind, op, 1),)


def _one_more_op(comparison: Comparison, findings: Findings, programs: list[Probe]) -> Findings | None:
    """A fault in an op that shows only together with other ops."""
    ops = [op for op in BASIC if comparison.has(op) and op not in findings.unknown]
    candidates = (((*findings.faults, *extra), AS_WRITTEN) for op in ops for extra in _pushing(op))
    found = comparison.first(candidates, programs)
    return found and Findings(found[0])


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
