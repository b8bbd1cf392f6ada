"""Is it mended? An engine goes through the grader's checks; a program must give the numbers it should have given."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from gradwalk.diagnose import teaching
from gradwalk.diagnose.adapter import Engine, NotAnEngine
from gradwalk.diagnose.grading import grade
from gradwalk.diagnose.results import CheckResult, Grade
from gradwalk.learn.page.grading import PageExamination
from gradwalk.learn.page.hunting.cases import Case
from gradwalk.learn.page.hunting.recorder import engine_of
from gradwalk.learn.page.sandbox import LearnerError, execute, guarded
from gradwalk.matcher import same

__all__ = ["judged"]

MOST = 8  # rows of numbers that are shown
LINES = 60_000  # of a program


def judged(case: Case, text: str) -> dict[str, Any]:
    """What came of mending, as the page shows it: status `passed`, `failed`, `missing` (nothing changed) or `error`.

    >>> from gradwalk.learn.page.hunting.cases import case_of
    >>> from gradwalk.learn.page.hunting.repair import judged
    >>> case = case_of("overwriting")
    >>> judged(case, case.mended)["status"], judged(case, case.text)["status"]
    ('passed', 'missing')
    >>> told = judged(case, case.text.replace("self.grad = out.grad", "self.grad += out.grad"))
    >>> told["status"], told["lines"]
    ('failed', [36])
    """
    if _bare(text) == _bare(case.text):
        return _told(
            "missing", "Nothing is changed yet", "It is still as you found it.", "Which line would you begin with?"
        )
    try:
        return _engine(case, text) if case.where == "engine" else _program(case, text)
    except LearnerError as error:
        if isinstance(error.__cause__, NotAnEngine):
            return _told("error", "There is no engine here", str(error))
        line = error.line
        headline = f"{error.kind} in line {line}" if line else error.kind
        return _told("error", headline, str(error), lines=[line] if line else [])


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


# --- an engine -------------------------------------------------------------------------------------------------------


def _engine(case: Case, text: str) -> dict[str, Any]:
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
    numbers = {"checks": rows, "passed": sum(check.status == "passed" for check in counted), "total": len(counted)}
    if gone:
        why = f"{gone[0].message}, and it was there before. Mend it rather than taking it out."
        return {**_told("failed", "Something is missing now", why), **numbers}
    if not bad:
        return {**_told("passed", "Mended", "Every check that failed passes now, and nothing else broke."), **numbers}
    return {**_unmended(bad[0], report, wrong), **numbers}


def _unmended(first: CheckResult, report: Grade, wrong: frozenset[str]) -> dict[str, Any]:
    found = first.diagnosis or next(iter(report.diagnoses), None)
    headline = "Not mended yet" if first.name in wrong else "Something else broke"
    endless = next((check for check in report.checks if "stopped after" in check.message), None)
    if endless is not None and endless.name not in wrong:
        return _told("error", "Stopped", f"{endless.message}. Is there a loop that never ends?")
    if found is None:
        return _told("failed", headline, first.message)
    lines = [found.line] if found.line else []
    sentence = found.sentence[:1].upper() + found.sentence[1:]
    return _told("failed", headline, sentence, found.hint, lines, kind=found.specimen or "")


def _is_bad(check: CheckResult) -> bool:
    return check.status in ("failed", "error", "skipped")


@cache
def _before(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The checks that the engine failed as it was found, and those that it has the ops for."""
    checks = grade(source, diagnosing=False).checks
    return frozenset(c.name for c in checks if _is_bad(c)), frozenset(c.name for c in checks if c.counts)


def _rows(checks: list[CheckResult]) -> list[dict[str, Any]]:
    found = []
    for check in checks:
        for name, right in check.expected.items():
            got = check.got.get(name)
            found.append(_row(check.title, name, got, right))
    found.sort(key=lambda row: row["ok"])
    return found[:MOST]


def _row(title: str, name: str, got: float | None, right: float) -> dict[str, Any]:
    ok = got is not None and same(got, right)
    return {
        "check": title,
        "name": name,
        "got": None if got is None else _seven(got),
        "expected": _seven(right),
        "ok": ok,
    }


# --- a program -------------------------------------------------------------------------------------------------------


def _program(case: Case, text: str) -> dict[str, Any]:
    names = {"Value": teaching.load(), "math": math}
    raised, after = "", dict[str, Any]()
    try:
        after = execute(text, names, name="your program", budget=LINES)
    except LearnerError as error:
        if error.kind != case.right_error:
            raise
        raised = error.kind
    if case.right_error:
        if raised:
            return _told("passed", "Mended", f"It says so now, with a {raised}, instead of cutting the inputs short.")
        return _told("failed", "Not mended yet", "The inputs are still cut short, and nobody says so.", case.hints[0])
    wanted = case.right
    with guarded(budget=LINES):
        got = {name: _value(name, after) for name in wanted}
        enough = bool(case.enough) and bool(eval(case.enough, after))
    rows = [_row("your program", name, got[name], right) for name, right in wanted.items()]
    numbers = {"checks": rows, "passed": sum(row["ok"] for row in rows), "total": len(rows)}
    if enough:
        numbers = {"checks": [], "passed": 1, "total": 1}
    if enough or all(row["ok"] for row in rows):
        return {**_told("passed", "Mended", "Its numbers are what they should be."), **numbers}
    return {
        **_told("failed", "Not mended yet", "These numbers are not yet what they should be.", case.hints[0]),
        **numbers,
    }


def _value(name: str, names: dict[str, Any]) -> float | None:
    try:
        return float(eval(name, names))
    except Exception:
        return None


def _told(
    status: str, headline: str, why: str, ask: str = "", lines: list[int] | None = None, kind: str = ""
) -> dict[str, Any]:
    """In the shape of an exercise's result."""
    return {
        "status": status, "kind": kind or status, "headline": headline, "why": why, "ask": ask, "lines": lines or [],
        "ledger": None, "error": None, "checks": [], "passed": 0, "total": 0,
    }  # fmt: skip


def _seven(x: float) -> str:
    if not math.isfinite(x):
        return str(x)
    return f"{x:.7f}" if abs(x) < 1e12 else f"{x:.6e}"
