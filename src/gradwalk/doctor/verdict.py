"""From what was seen to a report: all findings, each once, what comes first told first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradwalk.doctor.flow import flow
from gradwalk.doctor.habits import habits
from gradwalk.doctor.rate import overshoot
from gradwalk.doctor.record import Record
from gradwalk.doctor.report import Finding, Looked, Report
from gradwalk.doctor.units import units
from gradwalk.doctor.wiring import wiring

__all__ = ["report_on"]

#: Of findings as grave and as early as each other, causes before what they cause.
CAUSES = (
    "wrong-derivative",
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


def report_on(records: Iterable[Record], remarks: Iterable[str] = ()) -> Report:
    """The report on everything that was seen.

    >>> from gradwalk.doctor.verdict import report_on
    >>> print(report_on([], ["no backward() was seen"]))
    doctor: nothing found
    <BLANKLINE>
    no backward() was seen
    """
    records = list(records)
    trained = {id(p) for record in records if record.moved for p in record.names.parameters}
    for record in records:
        if any(id(p) in trained for p in record.names.parameters):
            record.idle = 0  # another line of the program trains them
    found = [finding for record in records for finding in _found(record)]
    found = _with_consequences(sorted(found, key=_rank))
    looked = [
        Looked(
            record.names.title,
            len(record.names.parameters),
            max((exam.nodes for exam in record.exams), default=0),
            record.steps,
            len(record.exams) if record.steps else 0,
        )
        for record in records
    ]
    return Report(
        tuple(f for f in found if f.severity != "note"),
        tuple(f for f in found if f.severity == "note"),
        tuple(looked),
        tuple(remarks),
    )


def _found(record: Record) -> list[Finding]:
    told: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for exam in record.exams:
        for finding in exam.findings:
            key = (finding.kind, () if finding.kind == "birth" else (finding.what.split(":")[0],))
            told.setdefault(key, finding)
    found = [*told.values(), *wiring(record), *habits(record), *overshoot(record)]
    broken = [*units(record)]
    found += broken
    explained = any(finding.severity != "note" for finding in broken)
    found += flow(record, explained=explained)
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


def _rank(finding: Finding) -> tuple[int, int, int]:
    return GRAVITY.index(finding.severity), finding.step, CAUSES.index(finding.kind)
