"""What an error means, in a learner's words: why Python stopped, and what may have been meant."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from difflib import get_close_matches

from gradwalk.learn.page.exercises.feedback import Feedback
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.sandbox import LearnerError

__all__ = ["FIELDS", "of_error"]

#: What a Value has, as a learner may write it.
FIELDS = ("data", "grad", "_prev", "_op", "_backward", "backward", "tanh", "exp", "relu", "log", "sigmoid")
_REFLECTED = {"__radd__": "+", "__rmul__": "*", "__rsub__": "-", "__rtruediv__": "/"}
_LATER = {"-": "subtraction", "/": "division", "-=": "subtraction", "/=": "division"}
_UNSUPPORTED = re.compile(r"unsupported operand type\(s\) for (\S+?)(?: or pow\(\))?: '(\w+)' and '(\w+)'")


def of_error(exercise: Exercise, tab: Tab, text: str, error: LearnerError) -> Feedback:
    """What went wrong, in which line of the learner's, and a question.

    >>> from gradwalk.learn.page.exercises import EXERCISES
    >>> exercise = EXERCISES["slopes"]
    >>> error = LearnerError("NameError", "name 'ot' is not defined", 2, "exp")
    >>> told = of_error(exercise, exercise.tabs["exp"], "def exp(self):\\n    out = ot", error)
    >>> told.headline, told.ask
    ('NameError in line 2', 'Do you mean `out`?')
    """
    said = str(error)
    where = (error.line,) if error.line and error.where == tab.name else ()
    kind, headline = "error", f"{error.kind} in line {error.line}" if where else error.kind
    why, ask = said, ""
    if error.kind == "NotDefined":
        headline = f"`{tab.name}` is not there"
    elif error.kind == "OutOfSteps":
        headline = "It does not come to an end"
    elif error.kind == "RecursionError":
        headline, why, ask = _circle(tab, said)
    elif error.kind == "NotANumber":
        tensor = " is a Tensor, " in said
        kind = "changed the wrong thing"
        headline = "A gradient is a Tensor, not an array" if tensor else "A gradient is a Value, not a number"
        why, ask = f"{said[0].upper()}{said[1:]}.", "Is there an operand that should be its `.data`?"
    elif "'NoneType' object is not callable" in said:
        kind, headline = "changed the wrong thing", "`_backward` is `None`"
        why = "A node was visited, and its `_backward` is `None`."
        ask = "`out._backward = _backward()` calls the function at once. Is there a pair of brackets too many?"
    elif "NoneType" in said and not where:
        kind, headline = "not implemented", f"`{tab.name}` gives back nothing"
        why, ask = "The result is `None`, so nothing can be done with it.", "Is a `return` missing?"
    elif error.kind in ("NameError", "AttributeError", "UnboundLocalError"):
        ask = _meant(text, error)
    elif re.search(r"operand type\(s\) for \^", said):
        kind, ask = "slip", "`^` is no power in Python: a power is written `**`. Is that what you mean?"
    else:
        why, ask = _operator(exercise, said)
    return Feedback(kind, headline, why, ask, where, error=error)


def _circle(tab: Tab, said: str) -> tuple[str, str, str]:
    headline, _, names = said.partition(": ")
    sign = _REFLECTED.get(tab.name)
    why = f"{names}."
    if sign:
        why += (
            f" Python calls `{tab.name}` to find out what `other {sign} self` is. If your line asks for "
            f"`other {sign} self`, Python calls `{tab.name}` again."
        )
    return headline[0].upper() + headline[1:], why, "Can you write it so that it does not lead back here?"


def _meant(text: str, error: LearnerError) -> str:
    """Which name may have been meant, where one is spelt almost like it."""
    words = re.findall(r"'([^']+)'", str(error))
    if not words:
        return ""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return ""
    if error.kind == "AttributeError":
        known = set(FIELDS)
    else:
        known = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        known |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} | {"Value", "math", "random", *dir(builtins)}
        known |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    close = get_close_matches(words[-1], sorted(known - {words[-1]}), 1, 0.6)
    return f"Do you mean `{close[0]}`?" if close else ""


def _operator(exercise: Exercise, said: str) -> tuple[str, str]:
    """An operator that the operands do not know."""
    found = _UNSUPPORTED.search(said)
    if not found:
        return said, ""
    sign, left, right = found.groups()
    if exercise.kind == "program" and "Value" in (left, right):
        if left != "Value":
            return (
                f"`{sign}` has a plain number on its left. Your engine learns that only in lesson eight, with "
                "reflected operators.",
                "Can you put the Value on the left?",
            )
        if sign in _LATER:
            return f"Your engine has no {_LATER[sign]} yet. It comes in lesson eight.", "Can you do without it here?"
    if {left, right} & {"list", "tuple", "NoneType", "str"}:
        return said, f"A {left} and a {right} meet there. Which of the two should be a number?"
    return said, ""
