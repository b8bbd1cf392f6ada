"""Which mistake it is, in words: by what the learner's text does, not by how it is written.

In this order: a known mistake, written as we know it; a number that is computed and thrown away; one small change to
the learner's own text that makes everything right (`repairs`); an order of visits that is watched at work; a known
mistake that gives the same numbers everywhere. What is left is told by the numbers alone. A line is pointed at only if
it is known to be guilty.
"""

from __future__ import annotations

import ast
import copy
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from difflib import SequenceMatcher
from functools import cache

from gradwalk.learn.page.answer import NOTHING, Feedback, LedgerShown
from gradwalk.learn.page.exercises.array_words import Off, alike, headline_of, of_arrays
from gradwalk.learn.page.exercises.attempts import Attempt, attempt, expected
from gradwalk.learn.page.exercises.errors import of_error
from gradwalk.learn.page.exercises.ledger import ledger
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab
from gradwalk.learn.page.exercises.reading import cut_off, seen_in, writes_in
from gradwalk.learn.page.exercises.repairs import repair
from gradwalk.learn.page.exercises.visit_order import order_of_visits
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.matcher import Outcome, matching, same
from gradwalk.messages import Message, joined, say, sentence

__all__ = ["name_it", "untouched"]

_Wrong = tuple[int, str, float, float]  # which check, its name, what it is, what is right
_HUNG = ("self._backward", "other._backward")
#: Errors that say themselves what is wrong: nothing is gained by trying changes.
_PLAIN = {"NameError", "OutOfSteps", "RecursionError", "NotDefined", "EOFError", "SystemExit", "KeyboardInterrupt"}
_SHORT = 90  # letters of what Python says: more than that is no help
_ABSENT = {"a part is missing", "not implemented", "no seed", "not zeroed", "visited twice", "wrong order"}


def name_it(exercise: Exercise, tab: Tab, text: str, texts: Mapping[str, str], got: tuple[Attempt, ...]) -> Feedback:
    """Name what is wrong with a text whose checks gave `got`, not all of it right.

    >>> exercise = EXERCISES["plus-times"]
    >>> tab = exercise.tabs["__mul__"]
    >>> text = tab.solution.replace("+=", "=")
    >>> found = name_it(exercise, tab, text, {}, attempt(exercise, tab, text, {}))
    >>> found.headline, found.ask, found.lines
    ('3.0 where 6.0 is right', 'Is there an `=` that should be `+=`?', (6, 7))
    """
    right = expected(exercise, tab)
    both = list(zip(got, right, strict=True))
    wrong = [(at, name, mine.numbers[name], x) for at, (mine, theirs) in enumerate(both)
             for name, x in theirs.numbers.items()
             if name in mine.numbers and not same(mine.numbers[name], x)]  # fmt: skip
    slope = next((each for each in wrong if each[1].endswith("grad")), None)
    headline = _off(*(slope or wrong[0])[2:]) if wrong else say("Not all of it ran")
    if not wrong and not any(outcome.error for outcome in got):
        headline = say("A single number where an array belongs")
    pairs = [(name, mine.arrays[name], array) for mine, theirs in both
             for name, array in theirs.arrays.items() if name in mine.arrays]  # fmt: skip
    off = next((Off(name, mine, array) for name, mine, array in pairs if not alike(mine, array)), None)
    headline = headline_of(off) if off else headline
    money = ledger(tab.checks[slope[0]], *slope[1:]) if slope and exercise.kind == "methods" else None
    error = next((outcome.error for outcome in got if outcome.error), None)
    exact = None
    with suppress(SyntaxError, ValueError):  # a known mistake that is written here, comments and blanks aside
        written = _plain(text)
        exact = next((mistake for mistake in tab.mistakes if _plain(mistake.apply(tab.solution)) == written), None)
    if exact:
        guilty = _changed(tab, text, exact)
        if not guilty and (change := repair(exercise, tab, text, texts)):
            guilty = change.lines
        return _known_by(exact, headline, guilty, money, error)
    known = list(matching(_candidates(exercise, tab), range(len(got)),
                          observed=lambda at: got[at].outcome, right=lambda at: right[at].outcome))  # fmt: skip
    told = order_of_visits(text) if tab.name == "backward" and (wrong or error) else None
    if error is not None and error.kind in _PLAIN and not (error.kind == "OutOfSteps" and (known or told)):
        return of_error(exercise, tab, text, error)
    stopped = of_error(exercise, tab, text, error) if error is not None else None
    if stopped and stopped.kind != "error" and not (stopped.kind == "slip" and wrong):  # it has a cause that we know
        return stopped
    seen = seen_in(exercise, tab, text)
    if seen:
        kind, (why, ask, line) = seen
        return Feedback(kind, headline, why, ask, (line,), error=error)
    found = repair(exercise, tab, text, texts)
    lines = found.lines if found else ()
    if told:
        kind, why, ask = told
        return Feedback(kind, headline, why, ask, lines)
    changed = [
        (name, x, one.leaves[name])
        for one, other in both
        for name, x in other.leaves.items()
        if name in one.leaves and not same(one.leaves[name], x)
    ]
    if changed:
        name, before, after = changed[0]
        why = say(
            "`{name}.data` was {before} and is {after} afterwards. An operation leaves its operands as they are: the "
            "result is a new node, and the walk back writes `grad`.",
            name=name,
            before=shown(before),
            after=shown(after),
        )
        if not wrong:
            headline = say("{after} where {before} was", after=shown(after), before=shown(before))
        ask = say("Which line writes to an operand's `data`?")
        return Feedback("changed the wrong thing", headline, why, ask, lines or _writing(text, ".data"))
    hung = _writing(text, *_HUNG)
    if hung:
        why = say("The function is given to an operand, so visiting the result does not push.")
        return Feedback("changed the wrong thing", headline, why, say("Which node should get it?"), hung)
    nudges = _nudges(text, tab.solution)
    near = 1e-2 if nudges else 1e-3
    if wrong and not error and all(abs(mine - theirs) < near * max(1.0, abs(theirs)) for _, _, mine, theirs in wrong):
        why = say("Every number is nearly right, but not to seven decimals.")
        if not nudges:
            ask = say("Is a number written with too few digits, or a tiny one left out?")
            return Feedback("wrong value", headline, why, ask, lines)
        why = joined(why, say("That is how a measured slope looks."))
        ask = say("Do you measure it, by a nudge and a division? The formula is exact.")
        return Feedback("wrong local derivative", headline, why, ask, lines)
    nothing = bool(wrong) and all(
        mine == 0.0 and name.endswith("grad") for _, name, mine, _ in wrong
    )  # there are many ways for nothing to arrive
    vague = (found is None and not nothing) or (found is not None and found.kind == "a part is missing")
    vague = vague or tab.name == "backward" or (off is not None and found is not None and found.vague)
    known = [mistake for mistake in known if _can_be_said(mistake, tab, text, nothing)]
    if found and found.kind == "a part is missing":
        known = [mistake for mistake in known if mistake.kind in _ABSENT]
    round_ = (
        exercise.kind == "methods" and found is not None and found.kind == "wrong value"
    )  # two minus signs may turn it as well
    likely = [
        mistake
        for mistake in known
        if vague or (found and mistake.kind == found.kind) or (round_ and mistake.kind == "turned round")
    ]
    if likely:  # of those that give the same numbers, the one whose text is most like the learner's
        mistake = max(likely, key=lambda each: _likeness(each.apply(tab.solution), text))
        return _known_by(mistake, headline, lines, money, error)
    if found:
        title, why = headline, found.why
        if stopped and not wrong:
            title = stopped.headline if stopped.lines else headline
            if found.vague and stopped.kind == "error" and len(stopped.why) < _SHORT:
                why = joined(say("{said}.", said=stopped.why), why)
        return Feedback(found.kind, title, why, found.ask, lines, money, error)
    if stopped:
        return stopped
    if off:
        return of_arrays(off)
    return _by_numbers(exercise, tab, text, wrong, headline, money)


def _known_by(
    mistake: Mistake, headline: Message, lines: tuple[int, ...], money: LedgerShown | None, error: LearnerError | None
) -> Feedback:
    title = sentence(mistake.headline) if mistake.headline else headline
    return Feedback(mistake.kind, title, sentence(mistake.why), sentence(mistake.ask), lines, money, error)


def untouched(tab: Tab, text: str) -> bool:
    """Whether a text is still the one the learner found, comments and blank lines aside.

    >>> tab = EXERCISES["plus-times"].tabs["__mul__"]
    >>> untouched(tab, tab.starter + "# hm"), untouched(tab, tab.solution)
    (True, False)
    """
    with suppress(SyntaxError, ValueError):
        return _plain(text) == _plain(tab.starter)
    return False


@cache
def _candidates(exercise: Exercise, tab: Tab) -> list[tuple[Mistake, Callable[[int], list[Outcome]]]]:
    """Each known mistake, and what it gives on a check, by the check's place."""
    from gradwalk.learn.page.exercises import solutions

    found: list[tuple[Mistake, Callable[[int], list[Outcome]]]] = []
    for mistake in tab.mistakes:
        with suppress(LearnerError):
            tried = attempt(exercise, tab, mistake.apply(tab.solution), solutions())
            found.append((mistake, lambda at, tried=tried: [tried[at].outcome]))  # type: ignore[misc]
    return found


def _plain(text: str) -> str:
    return ast.dump(ast.parse(textwrap.dedent(text)))


def _changed(tab: Tab, text: str, mistake: Mistake) -> tuple[int, ...]:
    """The lines of a text that the solution does not have, and that are to blame."""
    ours = {header for _, header in _headers("\n".join([tab.solution, *mistake.innocent]))}
    return tuple(sorted({line for line, header in _headers(text) if header not in ours}))


def _headers(text: str) -> Iterator[tuple[int, str]]:
    """Each statement without what is inside it, and its line."""
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, ast.stmt):
            bare = copy.copy(node)
            for inside in ("body", "orelse"):
                if hasattr(bare, inside):
                    setattr(bare, inside, [])
            yield node.lineno, ast.dump(bare)


def _can_be_said(mistake: Mistake, tab: Tab, text: str, nothing: bool) -> bool:
    """Whether it can be true of this text: the code that its words begin to quote, as in `p = p - …`, is there.

    A line that the mistake lacks is not there; if it writes where the solution does not, so does the text. Where
    nothing arrived, which has many causes, a line that it adds is there too.
    """
    simple = (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)
    there, right, mistaken = (
        {ast.unparse(node) for node in ast.walk(ast.parse(textwrap.dedent(each))) if isinstance(node, simple)}
        for each in (text, tab.solution, mistake.apply(tab.solution))
    )
    given = any(target == "out._backward" for _, target, _ in writes_in(text))
    lacking = right - mistaken if mistaken < right else set()
    if lacking & there or (given and "out._backward = _backward" in lacking):
        return False
    elsewhere = _targets(mistaken) - _targets(right)
    if elsewhere and not elsewhere & _targets({textwrap.dedent(text)}):
        return False
    if nothing and right < mistaken and not (mistaken - right) & there:
        return False
    asked = re.findall(r"Is there an? `([^`]+)` that should", mistake.ask)
    return all(start in text for start in [*asked, *re.findall(r"`([^`…]+)…`", mistake.why)])


def _targets(texts: set[str]) -> set[str]:
    return {target for text in texts for _, target, _ in writes_in(text)}


def _likeness(one: str, other: str) -> float:
    first, second = (ast.unparse(ast.parse(textwrap.dedent(text))) for text in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


# --- by the numbers ------------------------------------------------------------------------------------------------


def shown(x: float) -> str:
    """A number as a headline has it: up to seven decimals, at least one."""
    text = f"{x:.7f}".rstrip("0") if abs(x) < 1e12 else f"{x:.6g}"
    text = text + "0" if text.endswith(".") else text
    return text.replace("-", "−") if x or text[0] != "-" else text[1:]


def _off(mine: float, theirs: float) -> Message:
    return say("{got} where {right} is right", got=shown(mine), right=shown(theirs))


def _by_numbers(
    exercise: Exercise, tab: Tab, text: str, wrong: list[_Wrong], headline: Message, money: LedgerShown | None
) -> Feedback:
    value = next((each for each in wrong if not each[1].endswith("grad")), None)
    if value:
        at, name, mine, theirs = value
        why = say("`{name}` is {got} where {right} is right.", name=name, got=shown(mine), right=shown(theirs))
        if f"{name.removesuffix('.data')}.backward()" in tab.checks[at].text:
            why = joined(why, say("That is the forward pass, before any walk."))
        found = exercise.kind == "methods" and "out = " in tab.starter
        kept = say("The line that makes `out` was right as you found it.") if found else NOTHING
        return Feedback("wrong value", _off(mine, theirs), why, kept)
    if exercise.kind == "methods" and _writing(tab.solution, ".grad") and not _writing(text, ".grad"):
        why, ask = say("No line of yours writes to the `grad` of a node."), say("What should each operand receive?")
        return Feedback("not implemented", headline, why, ask)
    if exercise.kind == "methods" and all(mine == 0.0 for _, _, mine, _ in wrong):
        seen = cut_off(text)
        if seen:
            return Feedback("cut off", headline, *seen[:2], (seen[2],), money)
    if all(mine == 0.0 for _, _, mine, _ in wrong):
        why = say("Nothing arrived there: the gradient is still the zero it started with.")
        return Feedback("not implemented", headline, why, say("Which line should push to it?"), (), money)
    if money and all(part["state"] != "lost" for part in money["parts"]):  # the last is all that is left
        why = say("Each contribution replaced the one before.")
        if len(money["parts"]) == 2:
            why = say("The second contribution replaced the first.")
        return Feedback("overwritten", headline, why, say("Is there an `=` that should be `+=`?"), (), money)
    sets = [(line, target) for line, target, plain in writes_in(text) if plain and target.endswith(".grad")]
    if sets and exercise.kind == "methods" and exercise.name != "backward":
        line, target = sets[0]
        why = say("Line {line} sets `{target}`. What had arrived there before is gone.", line=line, target=target)
        lines = tuple(line for line, _ in sets)
        return Feedback("overwritten", headline, why, say("Is there an `=` that should be `+=`?"), lines)
    if money:
        lost = next(part for part in money["parts"] if part["state"] == "lost")
        why = say(
            "The {amount} that comes from `{name}` never arrived.", amount=shown(lost["value"]), name=lost["source"]
        )
        return Feedback("a part is missing", headline, why, say("Which push is missing?"), (), money)
    _, name, mine, theirs = wrong[0]
    if exercise.kind != "methods":
        said = say("`{name}` is {got} where {right} is right.", name=name, got=shown(mine), right=shown(theirs))
        return Feedback("wrong value", headline, said)
    if all(same(mine, -theirs) for _, _, mine, theirs in wrong):
        why, ask = say("The size is right and the sign is not."), say("Where does the minus come from?")
    else:
        said = say("`{name}` came out as {got}; nudging says {right}.", name=name, got=shown(mine), right=shown(theirs))
        if theirs and mine:
            said = say(
                "`{name}` came out as {got}, {times} times the {right} that nudging gives.",
                name=name,
                got=shown(mine),
                right=shown(theirs),
                times=shown(mine / theirs),
            )
        why = joined(said, say("What arrives there is not right."))
        ask = say("What is the slope of this operation, in each operand?")
    pushes = _writing(text, ".grad")
    return Feedback("wrong local derivative", headline, why, ask, pushes if len(pushes) == 1 else ())


def _nudges(text: str, solution: str) -> bool:
    """Whether a text has a small number that the solution does not have, as a nudge is."""
    ours, theirs = (
        {n.value for n in ast.walk(ast.parse(textwrap.dedent(each))) if isinstance(n, ast.Constant)}
        for each in (text, solution)
    )
    return any(isinstance(x, float) and 0.0 < abs(x) < 0.05 for x in ours - theirs)


# --- lines ---------------------------------------------------------------------------------------------------------


def _writing(text: str, *targets: str) -> tuple[int, ...]:
    """The lines of the learner's text that write to one of these."""
    return tuple(sorted({line for line, target, _ in writes_in(text) if target.endswith(targets)}))
