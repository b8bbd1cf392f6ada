"""The result of a test as the page shows it: plain data that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradwalk.learn.page.exercises.attempts import Attempt, attempt, expected
from gradwalk.learn.page.exercises.ledger import Ledger
from gradwalk.learn.page.exercises.mistakes import Feedback, name_it, untouched
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.exercises.splice import PARTS
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.matcher import same

__all__ = ["result"]


def result(exercise: Exercise, tab: Tab, sources: Mapping[str, str]) -> dict[str, Any]:
    """Run a tab's checks on the learner's text, and say what came of it.

    `status` is `passed`, `failed`, `missing` (still as it was found) or `error`.

    >>> from gradwalk.learn.page.exercises import EXERCISES
    >>> from gradwalk.learn.page.exercises.result import result
    >>> exercise = EXERCISES["slopes"]
    >>> told = result(exercise, exercise.tabs["exp"], {"exp": "def exp(self):\\n    return 1 / 0"})
    >>> told["status"], told["headline"], told["why"], told["lines"]
    ('error', 'ZeroDivisionError in line 2', 'division by zero', [2])
    """
    if exercise.kind == "program":
        sources = {**_starters(), **sources}  # what is not written yet is there as it was found
    text = sources.get(tab.name, tab.starter)
    right = expected(exercise, tab)
    try:
        got = attempt(exercise, tab, text, sources)
    except LearnerError as error:
        if exercise.kind != "program" or error.where not in PARTS:
            return {**_told(_unreadable(tab, error)), **_table(tab, None, right), "status": "error"}
        return {**_told(_elsewhere(error)), **_table(tab, None, right), "status": "error"}
    table = _table(tab, got, right)
    if untouched(tab, text):
        return {**_told(_nothing_yet(exercise, tab)), **table, "status": "missing"}
    kept = all(
        same(x, theirs.leaves[name]) for mine, theirs in zip(got, right, strict=True) for name, x in mine.leaves.items()
    )
    own = _own_part(exercise, sources)
    if table["passed"] == table["total"] and kept:
        if own:
            why = f"These numbers are right by luck. {own.why}"
            return {**_told(replace(own, why=why)), **table, "status": "failed"}
        return {**_told(Feedback("right", "All of it agrees to seven decimals", tab.done)), **table, "status": "passed"}
    feedback = own or name_it(exercise, tab, text, sources, got)
    return {**_told(feedback), **table, "status": "error" if feedback.kind == "error" else "failed"}


def _starters() -> dict[str, str]:
    from gradwalk.learn.page.exercises import EXERCISES

    return {name: EXERCISES[home].tabs[name].starter for name, (home, since) in PARTS.items() if since <= 7}


def _nothing_yet(exercise: Exercise, tab: Tab) -> Feedback:
    if exercise.kind == "methods":
        why = f"`{tab.name}` is still as you found it, so nothing arrives where it should."
    else:
        why = f"`{tab.name}` is still as you found it."
    return Feedback("not implemented", "Not written yet", why, "What should the first line do? A hint may help.")


def _unreadable(tab: Tab, error: LearnerError) -> Feedback:
    line = error.line if error.where == tab.name else None
    headline = f"{error.kind} in line {line}" if line else error.kind
    if error.kind == "NotDefined":
        headline = f"`{tab.name}` is not there"
    return Feedback("error", headline, str(error), "", (line,) if line else (), error=error)


def _elsewhere(error: LearnerError) -> Feedback:
    """Something the learner wrote in another exercise stands in the way."""
    place = f"`{error.where}`" + (f", line {error.line}" if error.line else "")
    return Feedback(
        "error",
        f"{error.kind} in {place}",
        f"{error}. That is in the part of your engine that you wrote above.",
        "",
        error=error,
    )


def _own_part(exercise: Exercise, sources: Mapping[str, str]) -> Feedback | None:
    """On the learner's own engine: which part of it does not pass its own test, if any."""
    if exercise.kind != "program":
        return None
    from gradwalk.learn.page.exercises import EXERCISES

    for name in ("__add__", "__mul__", "backward"):
        home = EXERCISES[PARTS[name][0]]
        own = result(home, home.tabs[name], sources)
        if own["status"] != "passed":
            why = (
                f"`{name}` does not pass its own test yet: {own['headline'][0].lower()}{own['headline'][1:]}. "
                f"{own['why']}"
            )
            return Feedback(
                own["kind"], f"It is `{name}` of your engine", why, "Go back to it above, then come here again."
            )
    return None


def _told(feedback: Feedback) -> dict[str, Any]:
    return {
        "kind": feedback.kind,
        "headline": feedback.headline,
        "why": feedback.why,
        "ask": feedback.ask,
        "lines": list(feedback.lines),
        "ledger": _ledger(feedback.ledger),
        "error": None if feedback.error is None else {"kind": feedback.error.kind, "line": feedback.error.line},
    }


def _ledger(ledger: Ledger | None) -> dict[str, Any] | None:
    if ledger is None:
        return None
    parts = [{"value": part.value, "source": part.source, "state": part.state} for part in ledger.parts]
    return {"name": ledger.name, "parts": parts, "got": _seven(ledger.got), "expected": _seven(ledger.right)}


def _table(tab: Tab, got: tuple[Attempt, ...] | None, right: tuple[Attempt, ...]) -> dict[str, Any]:
    rows = []
    for at, check in enumerate(tab.checks):
        for name in check.see:
            wanted = right[at].numbers[name]
            mine = got[at].numbers.get(name) if got else None
            rows.append(
                {
                    "check": check.title,
                    "name": name,
                    "got": None if mine is None else _seven(mine),
                    "expected": _seven(wanted),
                    "ok": mine is not None and same(mine, wanted),
                }
            )
    return {"checks": rows, "passed": sum(row["ok"] for row in rows), "total": len(rows)}


def _seven(x: float) -> str:
    if not math.isfinite(x):
        return str(x)
    return f"{x:.7f}" if abs(x) < 1e12 else f"{x:.6e}"
