"""Which mistake it is, in words: by what the learner's text does, not by how it is written.

Every mistake that an exercise knows is itself run on the checks. Where the learner's numbers are the same as the
mistake's everywhere, it is that mistake. What is left is told by the numbers alone: nothing arrived, an operand's data
changed, a contribution is missing, a slope is off by so much.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache

from gradwalk.learn.page.exercises.attempts import Attempt, attempt, expected
from gradwalk.learn.page.exercises.ledger import Ledger, ledger
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab
from gradwalk.learn.page.exercises.visit_order import order_of_visits
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.matcher import Outcome, matching, same

__all__ = ["Feedback", "name_it", "untouched"]


@dataclass(frozen=True)
class Feedback:
    """What is wrong: its kind, a headline with the numbers, why, a question, guilty lines, and the ledger if it helps.

    >>> from gradwalk.learn.page.exercises.mistakes import Feedback
    >>> Feedback("overwritten", "3.0 where 6.0 is right", "", "").lines
    ()
    """

    kind: str
    headline: str
    why: str
    ask: str = ""
    lines: tuple[int, ...] = ()
    ledger: Ledger | None = None
    error: LearnerError | None = field(default=None, compare=False)


def name_it(exercise: Exercise, tab: Tab, text: str, texts: Mapping[str, str], got: tuple[Attempt, ...]) -> Feedback:
    """Name what is wrong with a text whose checks gave `got`, not all of it right.

    >>> from gradwalk.learn.page.exercises import EXERCISES
    >>> from gradwalk.learn.page.exercises.mistakes import name_it
    >>> from gradwalk.learn.page.exercises.attempts import attempt
    >>> exercise = EXERCISES["plus-times"]
    >>> tab = exercise.tabs["__mul__"]
    >>> text = tab.solution.replace("+=", "=")
    >>> found = name_it(exercise, tab, text, {}, attempt(exercise, tab, text, {}))
    >>> found.headline, found.ask, found.lines
    ('3.0 where 6.0 is right', 'Is there an `=` that should be `+=`?', (6, 7))
    """
    right = expected(exercise, tab)
    headline = _headline(got, right)
    money = _ledger(tab, got, right) if exercise.kind == "methods" else None
    error = next((outcome.error for outcome in got if outcome.error), None)
    known = [
        mistake
        for mistake in matching(
            _signatures(exercise.name, tab.name),
            range(len(got)),
            lambda at: got[at].outcome,
            lambda at: right[at].outcome,
        )
        if mistake.kind != "wrong direction" or exercise.kind != "methods" or _lines(mistake.kind, text)
    ]
    if known:  # of those that give the same numbers, the one whose text is most like the learner's
        mistake = max(known, key=lambda each: _likeness(each.apply(tab.solution), text))
        return Feedback(mistake.kind, headline, mistake.why, mistake.ask, _lines(mistake.kind, text), money, error)
    if tab.name == "backward" and _wrong(got, right):
        told = order_of_visits(text)
        if told:
            return Feedback(told.kind, headline, told.sentence, told.ask)
    if error is not None:
        return _of_error(tab, error)
    return _by_numbers(exercise, tab, text, got, right, headline, money)


def untouched(tab: Tab, text: str) -> bool:
    """Whether a text is still the one the learner found, comments and blank lines aside.

    >>> from gradwalk.learn.page.exercises import EXERCISES
    >>> from gradwalk.learn.page.exercises.mistakes import untouched
    >>> tab = EXERCISES["plus-times"].tabs["__mul__"]
    >>> untouched(tab, tab.starter + "# hm"), untouched(tab, tab.solution)
    (True, False)
    """
    try:
        return ast.dump(ast.parse(textwrap.dedent(text))) == ast.dump(ast.parse(tab.starter))
    except (SyntaxError, ValueError):
        return False


@cache
def _signatures(exercise_name: str, tab_name: str) -> list[tuple[Mistake, Callable[[int], list[Outcome]]]]:
    """What each known mistake gives on the checks, by their places."""
    from gradwalk.learn.page.exercises import EXERCISES, solutions

    exercise = EXERCISES[exercise_name]
    tab = exercise.tabs[tab_name]
    found: list[tuple[Mistake, Callable[[int], list[Outcome]]]] = []
    for mistake in tab.mistakes:
        with suppress(LearnerError):
            tried = attempt(exercise, tab, mistake.apply(tab.solution), solutions())
            found.append((mistake, lambda at, tried=tried: [tried[at].outcome]))  # type: ignore[misc]
    return found


def _likeness(one: str, other: str) -> float:
    first, second = (ast.unparse(ast.parse(textwrap.dedent(text))) for text in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


# --- by the numbers ------------------------------------------------------------------------------------------------


def shown(x: float) -> str:
    """A number as a headline has it: up to seven decimals, at least one."""
    text = f"{x:.7f}".rstrip("0") if abs(x) < 1e12 else f"{x:.6g}"
    text = text + "0" if text.endswith(".") else text
    return text.replace("-", "−") if x or text[0] != "-" else text[1:]


def _wrong(got: tuple[Attempt, ...], right: tuple[Attempt, ...]) -> list[tuple[int, str, float, float]]:
    """Every number that is off: which check, its name, what it is, what is right."""
    return [
        (at, name, mine.numbers[name], x)
        for at, (mine, theirs) in enumerate(zip(got, right, strict=True))
        for name, x in theirs.numbers.items()
        if name in mine.numbers and not same(mine.numbers[name], x)
    ]


def _headline(got: tuple[Attempt, ...], right: tuple[Attempt, ...]) -> str:
    wrong = _wrong(got, right)
    if not wrong:
        return "Not all of it ran"
    _, _, mine, theirs = next((each for each in wrong if each[1].endswith("grad")), wrong[0])
    return f"{shown(mine)} where {shown(theirs)} is right"


def _ledger(tab: Tab, got: tuple[Attempt, ...], right: tuple[Attempt, ...]) -> Ledger | None:
    """The ledger of the number in the headline."""
    first = next((each for each in _wrong(got, right) if each[1].endswith("grad")), None)
    return ledger(tab.checks[first[0]], *first[1:]) if first else None


def _by_numbers(
    exercise: Exercise, tab: Tab, text: str, got: tuple[Attempt, ...], right: tuple[Attempt, ...], headline: str,
    money: Ledger | None,
) -> Feedback:  # fmt: skip
    for one, other in zip(got, right, strict=True):
        for name, x in other.leaves.items():
            if not same(one.leaves[name], x):
                why = (
                    f"`{name}.data` was {shown(x)} and is {shown(one.leaves[name])} afterwards. An operation "
                    f"leaves its operands as they are: the result is a new box, and the walk back writes `grad`."
                )
                first = headline if _wrong(got, right) else f"{shown(one.leaves[name])} where {shown(x)} was"
                return Feedback(
                    "changed the wrong thing",
                    first,
                    why,
                    "Which line writes to an operand's `data`?",
                    _lines("changed the wrong thing", text),
                )
    hung = _lines("hung on an operand", text)
    if hung:
        why = "The function hangs on an operand, so visiting the result does not push."
        return Feedback("changed the wrong thing", headline, why, "On which box should it hang?", hung)
    wrong = _wrong(got, right)
    values = [each for each in wrong if not each[1].endswith("grad")]
    if values:
        _, name, mine, theirs = values[0]
        why = f"`{name}` is {shown(mine)} where {shown(theirs)} is right: that is the forward pass, before any walk."
        kept = (
            "The line that makes `out` was right as you found it."
            if exercise.kind == "methods" and "out = " in tab.starter
            else ""
        )
        return Feedback("wrong value", f"{shown(mine)} where {shown(theirs)} is right", why, kept)
    if all(mine == 0.0 for _, _, mine, _ in wrong):
        why = "Nothing arrived there: the gradient is still the zero it started with."
        return Feedback("not implemented", headline, why, "Who was to push to it?", _lines("", text), money)
    if money:
        if money.replaced:
            why = (
                "The second contribution replaced the first."
                if len(money.parts) == 2
                else "Each contribution replaced the one before."
            )
            return Feedback(
                "overwritten", headline, why, "Is there an `=` that should be `+=`?", _lines("overwritten", text), money
            )
        lost = next(part for part in money.parts if part.state == "lost")
        why = f"The {shown(lost.value)} that comes from `{lost.source}` never arrived."
        return Feedback("a part is missing", headline, why, "Which push is missing?", _lines("", text), money)
    if all(same(mine, -theirs) for _, _, mine, theirs in wrong):
        return Feedback(
            "wrong local derivative",
            headline,
            "The size is right and the sign is not.",
            "Where does the minus come from?",
            _lines("", text),
        )
    _, name, mine, theirs = wrong[0]
    times = f", {shown(mine / theirs)} times as much" if theirs else ""
    why = (
        f"`{name}` came out as {shown(mine)}; nudging says {shown(theirs)}{times}. The local slope is not right there."
    )
    return Feedback(
        "wrong local derivative",
        headline,
        why,
        "What is the slope of this operation, in each operand?",
        _lines("", text),
    )


# --- errors --------------------------------------------------------------------------------------------------------


def _of_error(tab: Tab, error: LearnerError) -> Feedback:
    told = str(error)
    where = (error.line,) if error.line and error.where == tab.name else ()
    if error.kind == "NotANumber":
        return Feedback(
            "changed the wrong thing",
            "A gradient is a box, not a number",
            f"{told[0].upper()}{told[1:]}.",
            "Is there an operand that should be its `.data`?",
            where,
            error=error,
        )
    if "'NoneType' object is not callable" in told:
        return Feedback(
            "changed the wrong thing",
            "`_backward` is nothing",
            "A node was visited, and its `_backward` is `None`.",
            "`out._backward = _backward()` calls the function at once. Is there a pair of brackets too many?",
            where,
            error=error,
        )
    if "NoneType" in told and not where:
        return Feedback(
            "not implemented",
            f"`{tab.name}` gives back nothing",
            "The result is `None`, so nothing can be done with it.",
            "Is a `return` missing?",
            where,
            error=error,
        )
    headline = f"{error.kind} in line {error.line}" if where else error.kind
    return Feedback("error", headline, told, "", where, error=error)


# --- lines ---------------------------------------------------------------------------------------------------------


def _lines(kind: str, text: str) -> tuple[int, ...]:
    """The lines of the learner's text that a feedback is about: those that write where this kind of mistake writes."""
    writes = list(_writes(text))
    if kind == "overwritten":
        chosen = [line for line, target, plain in writes if plain and target.endswith(".grad")]
    elif kind == "changed the wrong thing":
        chosen = [
            line
            for line, target, _ in writes
            if target.endswith(".data") or target in ("self._backward", "other._backward")
        ]
    elif kind == "hung on an operand":
        chosen = [line for line, target, _ in writes if target in ("self._backward", "other._backward")]
    elif kind == "wrong direction":
        chosen = [line for line, target, _ in writes if target == "out.grad"]
    else:
        chosen = [line for line, target, _ in writes if target.endswith(".grad")]
        chosen = chosen if len(chosen) == 1 else []  # one line can be meant; of several, the learner looks for it
    return tuple(sorted(set(chosen)))


def _writes(text: str) -> list[tuple[int, str, bool]]:
    """Every assignment to an attribute: its line, its target, and whether it is a plain `=`."""
    found = []
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, ast.Assign):
            found += [(t.lineno, ast.unparse(t), True) for t in node.targets if isinstance(t, ast.Attribute)]
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            found.append((node.lineno, ast.unparse(node.target), False))
    return found
