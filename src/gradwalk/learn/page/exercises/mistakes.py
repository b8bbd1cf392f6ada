"""Which mistake it is, in words: by what the learner's text does, not by how it is written.

Every mistake that an exercise knows is itself run on the checks. Where the learner's numbers are the same as the
mistake's everywhere, it is that mistake. What is left is told by the numbers alone: nothing arrived, an operand's data
changed, a contribution is missing, a slope is off by so much.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator, Mapping
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

_Wrong = tuple[int, str, float, float]  # which check, its name, what it is, what is right
_HUNG = ("self._backward", "other._backward")


@dataclass(frozen=True)
class Feedback:
    """What is wrong: its kind, a headline with the numbers, why, a question, guilty lines, and the ledger if it helps.

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
    >>> exercise = EXERCISES["plus-times"]
    >>> tab = exercise.tabs["__mul__"]
    >>> text = tab.solution.replace("+=", "=")
    >>> found = name_it(exercise, tab, text, {}, attempt(exercise, tab, text, {}))
    >>> found.headline, found.ask, found.lines
    ('3.0 where 6.0 is right', 'Is there an `=` that should be `+=`?', (6, 7))
    """
    right = expected(exercise, tab)
    wrong = _wrong(got, right)
    slope = next((each for each in wrong if each[1].endswith("grad")), None)
    headline = _off(*(slope or wrong[0])[2:]) if wrong else "Not all of it ran"
    money = ledger(tab.checks[slope[0]], *slope[1:]) if slope and exercise.kind == "methods" else None
    error = next((outcome.error for outcome in got if outcome.error), None)
    known = [
        mistake
        for mistake in matching(_candidates(exercise.name, tab.name), range(len(got)),
                                observed=lambda at: got[at].outcome, right=lambda at: right[at].outcome)
        if mistake.kind != "wrong direction" or exercise.kind != "methods" or _lines(mistake.kind, text)
    ]  # fmt: skip
    if known:  # of those that give the same numbers, the one whose text is most like the learner's
        mistake = max(known, key=lambda each: _likeness(each.apply(tab.solution), text))
        return Feedback(mistake.kind, headline, mistake.why, mistake.ask, _lines(mistake.kind, text), money, error)
    if tab.name == "backward" and wrong:
        told = order_of_visits(text)
        if told:
            return Feedback(told.kind, headline, told.sentence, told.ask)
    if error is not None:
        return _of_error(tab, error)
    changed = [
        (name, x, one.leaves[name])
        for one, other in zip(got, right, strict=True)
        for name, x in other.leaves.items()
        if not same(one.leaves[name], x)
    ]
    if changed:
        name, before, after = changed[0]
        why = (
            f"`{name}.data` was {shown(before)} and is {shown(after)} afterwards. An operation leaves its operands as "
            "they are: the result is a new box, and the walk back writes `grad`."
        )
        headline = headline if wrong else f"{shown(after)} where {shown(before)} was"
        ask = "Which line writes to an operand's `data`?"
        return Feedback("changed the wrong thing", headline, why, ask, _lines("changed the wrong thing", text))
    hung = _lines("hung on an operand", text)
    if hung:
        why = "The function hangs on an operand, so visiting the result does not push."
        return Feedback("changed the wrong thing", headline, why, "On which box should it hang?", hung)
    return _by_numbers(exercise, tab, text, wrong, headline, money)


def untouched(tab: Tab, text: str) -> bool:
    """Whether a text is still the one the learner found, comments and blank lines aside.

    >>> from gradwalk.learn.page.exercises import EXERCISES
    >>> tab = EXERCISES["plus-times"].tabs["__mul__"]
    >>> untouched(tab, tab.starter + "# hm"), untouched(tab, tab.solution)
    (True, False)
    """
    try:
        return ast.dump(ast.parse(textwrap.dedent(text))) == ast.dump(ast.parse(tab.starter))
    except (SyntaxError, ValueError):
        return False


@cache
def _candidates(exercise_name: str, tab_name: str) -> list[tuple[Mistake, Callable[[int], list[Outcome]]]]:
    """Each known mistake, and what it gives on a check, by the check's place."""
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


def _wrong(got: tuple[Attempt, ...], right: tuple[Attempt, ...]) -> list[_Wrong]:
    """Every number that is off."""
    return [
        (at, name, mine.numbers[name], x)
        for at, (mine, theirs) in enumerate(zip(got, right, strict=True))
        for name, x in theirs.numbers.items()
        if name in mine.numbers and not same(mine.numbers[name], x)
    ]


def _off(mine: float, theirs: float) -> str:
    return f"{shown(mine)} where {shown(theirs)} is right"


def _by_numbers(
    exercise: Exercise, tab: Tab, text: str, wrong: list[_Wrong], headline: str, money: Ledger | None
) -> Feedback:
    value = next((each for each in wrong if not each[1].endswith("grad")), None)
    if value:
        _, name, mine, theirs = value
        why = f"`{name}` is {_off(mine, theirs)}: that is the forward pass, before any walk."
        found = exercise.kind == "methods" and "out = " in tab.starter
        kept = "The line that makes `out` was right as you found it." if found else ""
        return Feedback("wrong value", _off(mine, theirs), why, kept)
    if all(mine == 0.0 for _, _, mine, _ in wrong):
        why = "Nothing arrived there: the gradient is still the zero it started with."
        return Feedback("not implemented", headline, why, "Who was to push to it?", _lines("", text), money)
    if money and money.replaced:
        two = "The second contribution replaced the first."
        why = two if len(money.parts) == 2 else "Each contribution replaced the one before."
        ask = "Is there an `=` that should be `+=`?"
        return Feedback("overwritten", headline, why, ask, _lines("overwritten", text), money)
    if money:
        lost = next(part for part in money.parts if part.state == "lost")
        why = f"The {shown(lost.value)} that comes from `{lost.source}` never arrived."
        return Feedback("a part is missing", headline, why, "Which push is missing?", _lines("", text), money)
    _, name, mine, theirs = wrong[0]
    if all(same(mine, -theirs) for _, _, mine, theirs in wrong):
        why, ask = "The size is right and the sign is not.", "Where does the minus come from?"
    else:
        times = f", {shown(mine / theirs)} times as much" if theirs else ""
        why = f"`{name}` came out as {shown(mine)}; nudging says {shown(theirs)}{times}. "
        why, ask = f"{why}The local slope is not right there.", "What is the slope of this operation, in each operand?"
    return Feedback("wrong local derivative", headline, why, ask, _lines("", text))


def _of_error(tab: Tab, error: LearnerError) -> Feedback:
    told = str(error)
    where = (error.line,) if error.line and error.where == tab.name else ()
    headline = f"{error.kind} in line {error.line}" if where else error.kind
    words = "error", headline, told, ""
    if error.kind == "NotANumber":
        words = ("changed the wrong thing", "A gradient is a box, not a number", f"{told[0].upper()}{told[1:]}.",
                 "Is there an operand that should be its `.data`?")  # fmt: skip
    elif "'NoneType' object is not callable" in told:
        words = ("changed the wrong thing", "`_backward` is nothing",
                 "A node was visited, and its `_backward` is `None`.",
                 "`out._backward = _backward()` calls the function at once. Is there a pair of brackets too many?",
                 )  # fmt: skip
    elif "NoneType" in told and not where:
        words = ("not implemented", f"`{tab.name}` gives back nothing",
                 "The result is `None`, so nothing can be done with it.", "Is a `return` missing?")  # fmt: skip
    return Feedback(*words, where, error=error)


# --- lines ---------------------------------------------------------------------------------------------------------


def _lines(kind: str, text: str) -> tuple[int, ...]:
    """The lines of the learner's text that a feedback is about: those that write where this kind of mistake writes."""
    writes = list(_writes(text))
    if kind == "overwritten":
        chosen = [line for line, target, plain in writes if plain and target.endswith(".grad")]
    elif kind == "changed the wrong thing":
        chosen = [line for line, target, _ in writes if target.endswith(".data") or target in _HUNG]
    elif kind == "hung on an operand":
        chosen = [line for line, target, _ in writes if target in _HUNG]
    elif kind == "wrong direction":
        chosen = [line for line, target, _ in writes if target == "out.grad"]
    else:
        chosen = [line for line, target, _ in writes if target.endswith(".grad")]
        chosen = chosen if len(chosen) == 1 else []  # one line can be meant; of several, the learner looks for it
    return tuple(sorted(set(chosen)))


def _writes(text: str) -> Iterator[tuple[int, str, bool]]:
    """Every assignment to an attribute: its line, its target, and whether it is a plain `=`."""
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            plain = isinstance(node, ast.Assign)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((t.lineno, ast.unparse(t), plain) for t in targets if isinstance(t, ast.Attribute))
