"""From what was seen to a report: all findings, each once, what comes first told first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradwalk.doctor.findings.connections import connections
from gradwalk.doctor.findings.gradient_flow import gradient_flow
from gradwalk.doctor.findings.idle_units import idle_units
from gradwalk.doctor.findings.learning_rate import overshoot
from gradwalk.doctor.findings.training_loop import training_loop
from gradwalk.doctor.history import ModelHistory
from gradwalk.doctor.report import Finding, Looked, Report

#: Of findings as grave and as early as each other, causes before what they cause.
CAUSES = (
    "wrong-derivative",
    "wrong-broadcast",
    "not-connected",
    "detached",
    "disconnected",
    "birth",
    "stale-graph",
    "no-zero-grad",
    "no-step",
    "exploding",
    "overshoot",
    "dead-relu",
    "saturated",
    "zero-gradient",
    "vanishing",
    "unread",
)
#: What can come of what.
COMES_OF = {
    "overshoot": ("birth", "dead-relu", "saturated", "exploding"),
    "exploding": ("overshoot", "birth", "dead-relu", "saturated"),
    "no-zero-grad": ("overshoot", "birth", "dead-relu", "saturated", "exploding"),
    "wrong-derivative": ("overshoot", "birth", "dead-relu", "saturated", "exploding", "vanishing"),
    "dead-relu": ("vanishing", "zero-gradient"),
    "saturated": ("vanishing", "zero-gradient"),
    "detached": ("disconnected",),
}
GRAVITY = ("error", "warning", "note")


def report_on(records: Iterable[ModelHistory], remarks: Iterable[str] = ()) -> Report:
    """The report on everything that was seen.

    >>> print(report_on([], ["no backward() was seen"]))
    doctor: nothing found
    <BLANKLINE>
    no backward() was seen
    """
    records = list(records)
    trained = {id(p) for history in records if history.moved for p in history.names.parameters}
    for history in records:
        history.elsewhere = set().union(*(other.ever for other in records if other is not history))
        if any(id(p) in trained for p in history.names.parameters):
            history.idle = 0  # another line of the program trains them
    found = [finding for history in records for finding in _found(history)]
    found = _with_consequences(sorted(found, key=lambda f: (GRAVITY.index(f.severity), f.step, CAUSES.index(f.kind))))
    looked = [
        Looked(
            history.names.title,
            len(history.names.parameters),
            max((exam.nodes for exam in history.exams), default=0),
            history.steps,
            len(history.exams) if history.steps else 0,
        )
        for history in records
    ]
    return Report(
        tuple(f for f in found if f.severity != "note"),
        tuple(f for f in found if f.severity == "note"),
        tuple(looked),
        tuple(remarks),
    )


def _found(history: ModelHistory) -> list[Finding]:
    told: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for exam in history.exams:
        for finding in exam.findings:
            key = (finding.kind, () if finding.kind == "birth" else (finding.what.split(":")[0],))
            told.setdefault(key, finding)
    found = [*told.values(), *connections(history), *training_loop(history), *overshoot(history)]
    broken = [*idle_units(history)]
    found += broken
    explained = any(finding.severity != "note" for finding in broken)
    found += gradient_flow(history, explained=explained)
    born = next((finding.step for finding in found if finding.kind == "birth"), None)
    return [f for f in found if born is None or f.step <= born]


def _with_consequences(ranked: list[Finding]) -> list[Finding]:
    """Say of what came after an error, and can come of it, that it may."""
    told: list[Finding] = []
    for finding in ranked:
        cause = next((i for i, one in enumerate(told, start=1) if finding.kind in COMES_OF.get(one.kind, ())), 0)
        if cause and finding.severity != "note" and finding.step >= told[cause - 1].step:
            finding = replace(finding, why=f"{finding.why}; it may come of finding {cause}")
        told.append(finding)
    return told
