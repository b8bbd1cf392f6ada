"""One engine in the table of a class: a mark that compares, out of the same total for everybody.

The mark counts the essentials alone, and all of them: what is wrong, not there yet or not judged earns nothing, and a
column for each says which it was. Ops that only some engines have are in no mark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from gradwalk.diagnose.checks import CHECKS, is_essential
from gradwalk.diagnose.results import CheckResult, Diagnosis, Grade, Mark

__all__ = ["VERDICTS", "Standing", "Verdict", "exit_code", "standing"]

Verdict = Literal["right", "right so far", "partly judged", "wrong", "not judged"]
VERDICTS: tuple[Verdict, ...] = ("right", "right so far", "partly judged", "wrong", "not judged")
WRONG = ("failed", "error")
SPEED = "an addition and its way back"  # how the note on speed begins: it is nothing for a table


@dataclass(frozen=True)
class Standing:
    """Where an engine stands.

    >>> found = standing(grade(museum.find("reversed-division").source()))
    >>> found.verdict, found.mark.total - found.mark.score, found.wrong
    ('wrong', 1, 1)
    """

    verdict: Verdict
    mark: Mark
    beyond: Mark
    wrong: int = 0
    not_there: int = 0
    not_judged: int = 0
    bugs: tuple[Diagnosis, ...] = ()
    beyond_bugs: tuple[Diagnosis, ...] = ()
    notes: tuple[str, ...] = ()  # first of all why something was not judged, or what is wrong without a known cause


def standing(report: Grade) -> Standing:
    """Where an engine with this report stands.

    >>> found = standing(grade(teaching.SOURCE.replace("def tanh", "def other")))
    >>> found.verdict, found.not_there, found.mark.total == standing(grade("x = 1")).mark.total
    ('right so far', 2, True)
    """
    essentials, beyond = (_checks(report, essential) for essential in (True, False))
    mark, further = (Mark(_count(some, "passed"), _total(e)) for some, e in ((essentials, True), (beyond, False)))
    unusable = [check.message for check in report.checks if check.name not in CHECKS]
    if unusable:
        return Standing("not judged", mark, further, not_judged=mark.total, notes=(unusable[0], *report.notes))
    wrong, not_there = _count(essentials, *WRONG), _count(essentials, "missing")
    extra = [check for check in report.checks if CHECKS[check.name].extra and check.essential]
    # what the report does not mention at all was not judged either
    not_judged = mark.total - mark.score - wrong - not_there
    verdict: Verdict = "right so far"
    if wrong or _count(extra, *WRONG):
        verdict = "wrong"
    elif not_judged:
        verdict = "partly judged" if not_judged < mark.total else "not judged"
    elif mark.score == mark.total:
        verdict = "right"
    named = [check for check in report.checks if check.status in WRONG]
    first = {check.diagnosis for check in named if check.essential}
    bugs = tuple(diagnosis for diagnosis in report.diagnoses if diagnosis in first)
    others = tuple(diagnosis for diagnosis in report.diagnoses if diagnosis not in first)
    seen = [check.message for check in essentials if check.status in WRONG][: not bugs]  # where no cause was found
    skipped = [f"not judged: {check.message}" for check in essentials if check.status == "skipped"][:1]
    notes = (*seen, *skipped, *(note for note in report.notes if not note.startswith(SPEED)))
    return Standing(verdict, mark, further, wrong, not_there, not_judged, bugs, others, notes)


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """0 if all were judged and nothing is wrong, 2 if none could be judged, 1 for all between.

    >>> exit_code(["right", "right so far"]), exit_code(["right", "not judged"]), exit_code(["not judged"])
    (0, 1, 2)
    """
    found = set(verdicts)
    if found <= {"not judged"}:
        return 2
    return 0 if found <= {"right", "right so far"} else 1


@cache
def _total(essential: bool) -> int:
    """How many checks every engine is asked."""
    return sum(is_essential(check.name, check.group) == essential and not check.extra for check in CHECKS.values())


def _checks(report: Grade, essential: bool) -> list[CheckResult]:
    asked = (check for check in report.checks if check.name in CHECKS and not CHECKS[check.name].extra)
    return [check for check in asked if check.essential == essential]


def _count(checks: Iterable[CheckResult], *statuses: str) -> int:
    return sum(check.status in statuses for check in checks)
