"""The result of a test as the page shows it: plain data that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gradwalk.learn.page.answer import CheckRow, Feedback, LineOfError, Result, Status, answer, array_row, row, seven
from gradwalk.learn.page.exercises.array_words import alike, rows_of
from gradwalk.learn.page.exercises.attempts import Attempt, attempt, expected
from gradwalk.learn.page.exercises.errors import of_error
from gradwalk.learn.page.exercises.mistakes import name_it, untouched
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.exercises.splice import PARTS
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.matcher import same
from gradwalk.messages import Message, joined, say, sentence, verbatim

__all__ = ["result"]


def result(exercise: Exercise, tab: Tab, sources: Mapping[str, str]) -> Result:
    """Run a tab's checks on the learner's text, and say what came of it.

    `status` is `passed`, `failed`, `missing` (still as it was found) or `error`.

    >>> exercise = EXERCISES["slopes"]
    >>> told = result(exercise, exercise.tabs["exp"], {"exp": "def exp(self):\\n    return 1 / 0"})
    >>> told["status"], told["headline"], told["why"], told["lines"]
    ('error', 'ZeroDivisionError on line 2', 'division by zero', [2])
    """
    from gradwalk.learn.page.exercises import EXERCISES

    if exercise.kind == "program":
        found = {name: EXERCISES[home].tabs[name].starter for name, (home, since) in PARTS.items() if since <= 7}
        later = {name for name, (home, since) in PARTS.items() if since > 7
                 and name in sources and untouched(EXERCISES[home].tabs[name], sources[name])}  # fmt: skip
        # what is not written yet is there as it was found, but not what belongs to a later lesson
        sources = {name: text for name, text in {**found, **sources}.items() if name not in later}
    text = sources.get(tab.name, tab.starter)
    right = expected(exercise, tab)
    try:
        got = attempt(exercise, tab, text, sources)
    except LearnerError as error:
        elsewhere = exercise.kind == "program" and error.where in PARTS
        feedback = _elsewhere(error) if elsewhere else of_error(exercise, tab, text, error)
        return _answer("error", feedback, _rows(tab, None, right))
    rows = _rows(tab, got, right)
    if untouched(tab, text):
        why = say("`{name}` is still as you found it.", name=tab.name)
        if exercise.kind == "methods":
            why = say("`{name}` is still as you found it, so nothing arrives where it should.", name=tab.name)
        ask = say("What should the first line do? A hint may help.")
        return _answer("missing", Feedback("not implemented", say("Not written yet"), why, ask), rows)
    kept = all(
        same(x, theirs.leaves[name]) for mine, theirs in zip(got, right, strict=True) for name, x in mine.leaves.items()
    )
    own = _own_part(exercise, sources)
    if kept and all(row["ok"] for row in rows):
        if own:
            return _answer("failed", replace(own, why=joined(say("These numbers are right by luck."), own.why)), rows)
        return _answer("passed", Feedback("right", say("All of it agrees to seven decimals"), sentence(tab.done)), rows)
    feedback = own or name_it(exercise, tab, text, sources, got)
    return _answer("error" if feedback.kind == "error" else "failed", feedback, rows)


def _elsewhere(error: LearnerError) -> Feedback:
    """Something the learner wrote in another exercise stands in the way."""
    headline = say("{error} in `{name}`", error=error.kind, name=error.where)
    if error.line:
        headline = say("{error} in `{name}`, line {line}", error=error.kind, name=error.where, line=error.line)
    said = verbatim(error.reason)
    why = say("{said}. That is in the part of your engine that you wrote above.", said=said)
    return Feedback("error", headline, why, error=error)


def _own_part(exercise: Exercise, sources: Mapping[str, str]) -> Feedback | None:
    """On the learner's own engine: which part of it does not pass its own test, if any."""
    if exercise.kind != "program":
        return None
    from gradwalk.learn.page.exercises import EXERCISES

    for name in ("__add__", "__mul__", "backward"):
        home = EXERCISES[PARTS[name][0]]
        own = result(home, home.tabs[name], sources)
        if own["status"] != "passed":
            why = say(
                "`{name}` does not pass its own test yet. {headline}. {why}",
                name=name,
                headline=own["headline"],
                why=own["why"],
            )
            headline = say("It is `{name}` of your engine", name=name)
            return Feedback(own["kind"], headline, why, say("Go back to it above, then come here again."))
    return None


def _answer(status: Status, feedback: Feedback, rows: list[CheckRow]) -> Result:
    told = answer(status, feedback.headline, feedback.why, feedback.ask, feedback.lines, kind=feedback.kind, rows=rows)
    if feedback.error is not None:
        told["error"] = LineOfError(kind=feedback.error.kind, line=feedback.error.line)
    return {**told, "ledger": feedback.ledger}


def _rows(tab: Tab, got: tuple[Attempt, ...] | None, right: tuple[Attempt, ...]) -> list[CheckRow]:
    return [
        _row(sentence(check.title), name, got[at] if got else Attempt(), right[at])
        for at, check in enumerate(tab.checks)
        for name in check.see
    ]


def _row(title: Message, name: str, mine: Attempt, theirs: Attempt) -> CheckRow:
    if name not in theirs.arrays:
        return row(title, name, mine.numbers.get(name), theirs.numbers[name])
    right, got = theirs.arrays[name], mine.arrays.get(name)
    if got is None:
        number = mine.numbers.get(name)
        return array_row(title, name, None if number is None else seven(number), rows_of(right), ok=False)
    ok = alike(got, right)
    digits = 7 if not ok and rows_of(got) == rows_of(right) else 4  # enough to see the difference
    return array_row(title, name, rows_of(got, digits), rows_of(right, digits), ok)
