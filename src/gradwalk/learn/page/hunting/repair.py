"""Is it mended? An engine goes through the grader's checks; a program must give the numbers it should have given."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from gradwalk.diagnose import teaching
from gradwalk.diagnose.adapter import Engine, NotAnEngine
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.results import CheckResult, Grade
from gradwalk.learn.page.answer import CheckRow, Result, answer, row
from gradwalk.learn.page.grading import PageExamination
from gradwalk.learn.page.hunting.cases import Case
from gradwalk.learn.page.hunting.recorder import engine_of
from gradwalk.learn.page.sandbox import LearnerError, execute, guarded
from gradwalk.messages import say, sentence, verbatim

__all__ = ["judged"]

MOST = 8  # rows of numbers that are shown
LINES = 60_000  # of a program
MENDED, NOT_YET = say("Mended"), say("Not mended yet")


def judged(case: Case, text: str) -> Result:
    """What came of mending, as the page shows it: status `passed`, `failed`, `missing` (nothing changed) or `error`.

    >>> case = case_of("overwriting")
    >>> judged(case, case.mended)["status"], judged(case, case.text)["status"]
    ('passed', 'missing')
    >>> told = judged(case, case.text.replace("self.grad = out.grad", "self.grad += out.grad"))
    >>> told["status"], told["lines"]
    ('failed', [36])
    """
    if _bare(text) == _bare(case.text):
        why, ask = say("It is still as you found it."), say("Which line would you begin with?")
        return answer("missing", say("Nothing is changed yet"), why, ask)
    try:
        return _engine(case, text) if case.where == "engine" else _program(case, text)
    except LearnerError as error:
        if isinstance(error.__cause__, NotAnEngine):
            return answer("error", say("There is no engine here"), verbatim(error.reason))
        line = error.line
        headline = say("{error} on line {line}", error=error.kind, line=line) if line else verbatim(error.kind)
        headline = say("It does not come to an end") if error.kind == "OutOfSteps" else headline
        return answer("error", headline, verbatim(error.reason), lines=[line] if line else [])


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


# --- an engine -------------------------------------------------------------------------------------------------------


def _engine(case: Case, text: str) -> Result:
    namespace = execute(text, {"__name__": "engine"}, name="engine")
    with guarded():
        cls, _ = engine_of(text, namespace)
        engine = Engine(cls, namespace)
    report = PageExamination(engine).report(text)
    wrong, there = _before(case.text)
    bad = [check for check in report.checks if _is_bad(check) and (check.essential or check.name in wrong)]
    gone = [check for check in report.checks if check.status == "missing" and check.name in there]
    rows = _rows([*bad, *(check for check in report.checks if check.name in wrong and check not in bad)])
    counted = [check for check in report.checks if check.counts]
    if gone:
        why = say("{missing}, and it was there before. Mend it rather than taking it out.", missing=gone[0].message)
        told = answer("failed", say("Something is missing now"), why)
    elif not bad:
        told = answer("passed", MENDED, say("Every check that failed passes now, and nothing else broke."))
    else:
        told = _unmended(bad[0], report, wrong)
    passed = sum(check.status == "passed" for check in counted)
    return {**told, "checks": rows, "passed": passed, "total": len(counted)}


def _unmended(first: CheckResult, report: Grade, wrong: frozenset[str]) -> Result:
    found = first.diagnosis or next(iter(report.diagnoses), None)
    headline = NOT_YET if first.name in wrong else say("Something else broke")
    endless = next((check for check in report.checks if "stopped after" in check.message), None)
    if endless is not None and endless.name not in wrong:
        why = say("{stopped}. Is there a loop that never ends?", stopped=endless.message)
        return answer("error", say("Stopped"), why)
    if found is None:
        return answer("failed", headline, first.message)
    lines = [found.line] if found.line else []
    return answer("failed", headline, found.sentence, found.hint, lines, kind=found.specimen or "")


def _is_bad(check: CheckResult) -> bool:
    return check.status in ("failed", "error", "skipped")


@cache
def _before(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The checks that the engine failed as it was found, and those that it has the ops for."""
    checks = grade(source, diagnosing=False).checks
    return frozenset(c.name for c in checks if _is_bad(c)), frozenset(c.name for c in checks if c.counts)


def _rows(checks: list[CheckResult]) -> list[CheckRow]:
    found = [row(sentence(c.title), name, c.got.get(name), right) for c in checks for name, right in c.expected.items()]
    return sorted(found, key=lambda row: row["ok"])[:MOST]


# --- a program -------------------------------------------------------------------------------------------------------


def _program(case: Case, text: str) -> Result:
    names = {"Value": teaching.load(), "math": math}
    raised, after = "", dict[str, Any]()
    try:
        after = execute(text, names, name="your program", budget=LINES)
    except LearnerError as error:
        if error.kind != case.specimen.right_error:
            raise
        raised = error.kind
    if case.specimen.right_error:
        if raised:
            why = say("It says so now, with a {error}, instead of cutting the inputs short.", error=raised)
            return answer("passed", MENDED, why)
        return answer("failed", NOT_YET, say("The inputs are still cut short, and nobody says so."), case.hints[0])
    wanted = case.specimen.right
    with guarded(budget=LINES):
        got = {name: _value(name, after) for name in wanted}
        enough = bool(case.enough) and bool(eval(case.enough, after))
    rows = [row(say("your program"), name, got[name], right) for name, right in wanted.items()]
    right = say("Its numbers are what they should be.")
    if enough:
        return {**answer("passed", MENDED, right), "passed": 1, "total": 1}
    if all(row["ok"] for row in rows):
        return answer("passed", MENDED, right, rows=rows)
    wrong = say("These numbers are not yet what they should be.")
    return answer("failed", NOT_YET, wrong, case.hints[0], rows=rows)


def _value(name: str, names: dict[str, Any]) -> float | None:
    try:
        return float(eval(name, names))
    except Exception:
        return None
