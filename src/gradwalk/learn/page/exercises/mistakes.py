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
from difflib import SequenceMatcher, get_close_matches
from functools import cache

from gradwalk.learn.page.answer import NOTHING
from gradwalk.learn.page.exercises.array_words import arrays_off, headline_of, of_arrays
from gradwalk.learn.page.exercises.attempts import Attempt, attempt, expected
from gradwalk.learn.page.exercises.changes import Change
from gradwalk.learn.page.exercises.errors import FIELDS, of_error
from gradwalk.learn.page.exercises.feedback import Feedback
from gradwalk.learn.page.exercises.ledger import Ledger, ledger
from gradwalk.learn.page.exercises.model import Exercise, Mistake, Tab
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


#: Methods of arrays whose result is all that comes of them.
_OF_ARRAYS = {"sum", "mean", "max", "unsqueeze", "reshape", "view", "expand", "exp", "log"}
_ABSENT = {"a part is missing", "not implemented", "no seed", "not zeroed", "visited twice", "wrong order"}


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
    headline = _off(*(slope or wrong[0])[2:]) if wrong else say("Not all of it ran")
    off = next(iter(arrays_off(got, right)), None)
    headline = headline_of(off) if off else headline
    money = ledger(tab.checks[slope[0]], *slope[1:]) if slope and exercise.kind == "methods" else None
    error = next((outcome.error for outcome in got if outcome.error), None)
    exact = _exactly(tab, text)
    if exact:
        guilty = _changed(tab, text) or _lines_of(repair(exercise, tab, text, texts))
        return _known_by(exact, headline, guilty, money, error)
    known = _known(exercise, tab, got, right)
    told = order_of_visits(text) if tab.name == "backward" and (wrong or error) else None
    if error is not None and error.kind in _PLAIN and not (error.kind == "OutOfSteps" and (known or told)):
        return of_error(exercise, tab, text, error)
    if error is not None and of_error(exercise, tab, text, error).kind != "error":  # it has a cause that we know
        return of_error(exercise, tab, text, error)
    misspelt = _misspelt(text) if exercise.kind == "methods" else None
    if misspelt:
        return Feedback("slip", headline, *misspelt[:2], (misspelt[2],), error=error)
    thrown = _thrown_away(text)
    if thrown:
        return Feedback("thrown away", headline, *thrown[:2], (thrown[2],), error=error)
    found = repair(exercise, tab, text, texts)
    lines = _lines_of(found)
    if told:
        return Feedback(told.kind, headline, told.sentence, told.ask, lines)
    changed = [
        (name, x, one.leaves[name])
        for one, other in zip(got, right, strict=True)
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
    if wrong and not error and all(abs(mine - theirs) < 1e-2 * max(1.0, abs(theirs)) for _, _, mine, theirs in wrong):
        why = say("Every number is nearly right, but not to seven decimals. That is how a measured slope looks.")
        ask = say("Do you measure it, by a nudge and a division? The formula is exact.")
        return Feedback("wrong local derivative", headline, why, ask, lines)
    nothing = bool(wrong) and all(
        mine == 0.0 and name.endswith("grad") for _, name, mine, _ in wrong
    )  # there are many ways for nothing to arrive
    vague = (found is None and not nothing) or (found is not None and found.kind == "a part is missing")
    vague = vague or tab.name == "backward" or (off is not None and found is not None and found.vague)
    known = [mistake for mistake in known if _can_be_said(mistake, text)]
    if found and found.kind == "a part is missing":
        known = [mistake for mistake in known if mistake.kind in _ABSENT]
    alike = [mistake for mistake in known if vague or (found and mistake.kind == found.kind)]
    if alike:  # of those that give the same numbers, the one whose text is most like the learner's
        mistake = max(alike, key=lambda each: _likeness(each.apply(tab.solution), text))
        return _known_by(mistake, headline, lines, money, error)
    if found:
        title = headline if wrong or error is None else of_error(exercise, tab, text, error).headline
        return Feedback(found.kind, title, found.why, found.ask, lines, money, error)
    if error is not None:
        return of_error(exercise, tab, text, error)
    if off:
        return of_arrays(off)
    return _by_numbers(exercise, tab, text, wrong, headline, money)


def _known_by(
    mistake: Mistake, headline: Message, lines: tuple[int, ...], money: Ledger | None, error: LearnerError | None
) -> Feedback:
    title = sentence(mistake.headline) if mistake.headline else headline
    return Feedback(mistake.kind, title, sentence(mistake.why), sentence(mistake.ask), lines, money, error)


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


def _known(exercise: Exercise, tab: Tab, got: tuple[Attempt, ...], right: tuple[Attempt, ...]) -> list[Mistake]:
    """The known mistakes that give these numbers on every check."""
    known = _candidates(exercise.name, tab.name)
    places = range(len(got))
    return list(matching(known, places, observed=lambda at: got[at].outcome, right=lambda at: right[at].outcome))


def _exactly(tab: Tab, text: str) -> Mistake | None:
    """The known mistake that is written here, comments and blanks aside."""
    with suppress(SyntaxError, ValueError):
        written = _plain(text)
        return next((mistake for mistake in tab.mistakes if _plain(mistake.apply(tab.solution)) == written), None)
    return None


def _plain(text: str) -> str:
    return ast.dump(ast.parse(textwrap.dedent(text)))


def _changed(tab: Tab, text: str) -> tuple[int, ...]:
    """The lines of a text that the solution does not have."""
    ours = {header for _, header in _headers(tab.solution)}
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


def _can_be_said(mistake: Mistake, text: str) -> bool:
    """Whether the code that a mistake's words begin to quote, as in `p = p - …`, is there."""
    return all(start in text for start in re.findall(r"`([^`…]+)…`", mistake.why))


def _lines_of(found: Change | None) -> tuple[int, ...]:
    return found.lines if found else ()


def _misspelt(text: str) -> tuple[Message, Message, int] | None:
    """A field that no Value has, spelt almost like one that it has: why, a question, the line."""
    tree = ast.parse(textwrap.dedent(text))
    values = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    values |= {n.value.id for n in ast.walk(tree) if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr not in FIELDS and ast.unparse(node.value) in values:
            for close in get_close_matches(node.attr, FIELDS, 1, 0.6):
                why = say("On line {line}, no Value has a `{name}`.", line=node.lineno, name=node.attr)
                return why, say("Do you mean `{name}`?", name=close), node.lineno
    return None


def _thrown_away(text: str) -> tuple[Message, Message, int] | None:
    """A line that computes a number and does nothing with it: why, a question, the line."""
    tree = ast.parse(textwrap.dedent(text))
    ask = say("Where should the number be kept?")
    writes = any(target.endswith(".grad") for _, target, _ in _writes(text))
    inner = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    inner = [f for f in inner if f is not tree.body[-1] and ".grad" in ast.unparse(f)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and (_is_pure(node.value) or _gives_an_array(node.value)):
            if isinstance(node.value, ast.Attribute) and node.value.attr != "grad":
                continue
            why = say(
                "Line {line} computes `{code}` and throws it away: nothing is changed by it.",
                line=node.lineno,
                code=ast.unparse(node.value),
            )
            return why, ask, node.lineno
        printed = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "print"
        )
        if printed and not writes and any(node in ast.walk(f) for f in inner):
            line: int = node.lineno  # type: ignore[attr-defined]
            return (
                say("Line {line} prints a number. Printing only shows it: no `grad` is changed.", line=line),
                ask,
                line,
            )
    if not writes:
        for function in inner:
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
                    why = say(
                        "Line {line} gives a number back, but the walk does not take it. The function itself has to "
                        "write to the `grad` of the operands.",
                        line=node.lineno,
                    )
                    return why, ask, node.lineno
    return None


def _is_pure(value: ast.expr) -> bool:
    return isinstance(value, (ast.BinOp, ast.Compare, ast.Attribute))


def _gives_an_array(call: ast.expr) -> bool:
    """Whether it calls a method of an array, which changes nothing and gives another."""
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _OF_ARRAYS


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


def _off(mine: float, theirs: float) -> Message:
    return say("{got} where {right} is right", got=shown(mine), right=shown(theirs))


def _by_numbers(
    exercise: Exercise, tab: Tab, text: str, wrong: list[_Wrong], headline: Message, money: Ledger | None
) -> Feedback:
    value = next((each for each in wrong if not each[1].endswith("grad")), None)
    if value:
        _, name, mine, theirs = value
        why = say(
            "`{name}` is {got} where {right} is right: that is the forward pass, before any walk.",
            name=name,
            got=shown(mine),
            right=shown(theirs),
        )
        found = exercise.kind == "methods" and "out = " in tab.starter
        kept = say("The line that makes `out` was right as you found it.") if found else NOTHING
        return Feedback("wrong value", _off(mine, theirs), why, kept)
    if all(mine == 0.0 for _, _, mine, _ in wrong):
        why = say("Nothing arrived there: the gradient is still the zero it started with.")
        return Feedback("not implemented", headline, why, say("Which line should push to it?"), (), money)
    if money and money.replaced:
        why = say("Each contribution replaced the one before.")
        if len(money.parts) == 2:
            why = say("The second contribution replaced the first.")
        return Feedback("overwritten", headline, why, say("Is there an `=` that should be `+=`?"), (), money)
    if money:
        lost = next(part for part in money.parts if part["state"] == "lost")
        why = say(
            "The {amount} that comes from `{name}` never arrived.", amount=shown(lost["value"]), name=lost["source"]
        )
        return Feedback("a part is missing", headline, why, say("Which push is missing?"), (), money)
    _, name, mine, theirs = wrong[0]
    if all(same(mine, -theirs) for _, _, mine, theirs in wrong):
        why, ask = say("The size is right and the sign is not."), say("Where does the minus come from?")
    else:
        said = say("`{name}` came out as {got}; nudging says {right}.", name=name, got=shown(mine), right=shown(theirs))
        if theirs:
            said = say(
                "`{name}` came out as {got}, {times} times the {right} that nudging gives.",
                name=name,
                got=shown(mine),
                right=shown(theirs),
                times=shown(mine / theirs),
            )
        why = joined(said, say("The local slope is not right there."))
        ask = say("What is the slope of this operation, in each operand?")
    return Feedback("wrong local derivative", headline, why, ask, _only_push(text))


# --- lines ---------------------------------------------------------------------------------------------------------


def _writing(text: str, *targets: str) -> tuple[int, ...]:
    """The lines of the learner's text that write to one of these."""
    return tuple(sorted({line for line, target, _ in _writes(text) if target.endswith(targets)}))


def _only_push(text: str) -> tuple[int, ...]:
    """The line that writes to a `grad`, where there is one only."""
    lines = _writing(text, ".grad")
    return lines if len(lines) == 1 else ()


def _writes(text: str) -> Iterator[tuple[int, str, bool]]:
    """Every assignment to an attribute: its line, its target, and whether it is a plain `=`."""
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            plain = isinstance(node, ast.Assign)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((t.lineno, ast.unparse(t), plain) for t in targets if isinstance(t, ast.Attribute))
