"""What an error means, in a learner's words: why Python stopped, and what may have been meant."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from difflib import get_close_matches

from gradwalk.learn.page.answer import NOTHING, Feedback
from gradwalk.learn.page.exercises.arrays import Array
from gradwalk.learn.page.exercises.model import Exercise, Tab
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.messages import Message, joined, say, verbatim

__all__ = ["FIELDS", "of_error"]

#: What a Value has, as a learner may write it.
FIELDS = ("data", "grad", "_prev", "_op", "_backward", "backward", "tanh", "exp", "relu", "log", "sigmoid")
_REFLECTED = {"__radd__": "+", "__rmul__": "*", "__rsub__": "-", "__rtruediv__": "/"}
_LATER = {
    "-": say("Your engine has no subtraction yet. It comes in lesson eight."),
    "/": say("Your engine has no division yet. It comes in lesson eight."),
}
_NOT_HERE = {"np": "NumPy", "numpy": "NumPy", "torch": "PyTorch"}
_UNSUPPORTED = re.compile(r"unsupported operand type\(s\) for (\S+?)(?: or pow\(\))?: '(\w+)' and '(\w+)'")


def of_error(exercise: Exercise, tab: Tab, text: str, error: LearnerError) -> Feedback:
    """What went wrong, in which line of the learner's, and a question.

    >>> exercise = EXERCISES["slopes"]
    >>> error = LearnerError("NameError", "name 'ot' is not defined", 2, "exp")
    >>> told = of_error(exercise, exercise.tabs["exp"], "def exp(self):\\n    out = ot", error)
    >>> told.headline, told.ask
    ('NameError on line 2', 'Do you mean `out`?')
    """
    said = str(error)
    where = (error.line,) if error.line and error.where == tab.name else ()
    kind, headline = "error", verbatim(error.kind)
    if where:
        headline = say("{error} on line {line}", error=error.kind, line=error.line)
    why, ask = verbatim(error.reason), NOTHING
    known = _known_cause(text, error) if where else None
    if known:
        kind, why, ask = "slip", *known
    elif error.kind == "NotDefined":
        headline = say("`{name}` is not there", name=tab.name)
    elif error.kind == "NameError" and exercise.kind == "program" and not where:
        kind, name = "a part is missing", next(iter(re.findall(r"'([^']+)'", said)), "?")
        headline = say("`{name}` is not there", name=name)
        why = say("The test looks at `{name}`, and your program has nothing of that name.", name=name)
        ask = say("Does each node have a name, in a line of its own?")
    elif exercise.kind == "program" and not where and re.search(r"'(float|int)' object has no attribute", said):
        kind, headline = "cut off", say("A plain number where a node belongs")
        why = say("The test looks at nodes, and one of them is a plain number in your program: it has no history.")
        ask = say("Is there a `.data` too many?")
    elif error.kind == "OutOfSteps":
        headline = say("It does not come to an end")
    elif error.kind == "RecursionError":
        headline, why, ask = _circle(tab, text, why)
    elif error.kind == "NotANumber":
        kind = "changed the wrong thing"
        why, ask = say("{said}.", said=why), say("Is there an operand that should be its `.data`?")
        if " is a Tensor, " in said:
            headline = say("A gradient is a Tensor, not an array")
        elif ".grad`" in said:
            headline = say("A gradient is a Value, not a number")
        else:
            headline, ask = say("A Value where a number should be"), say("Is a `.data` missing?")
    elif "'NoneType' object is not callable" in said:
        kind, headline = "changed the wrong thing", say("`_backward` is `None`")
        why = say("A node was visited, and its `_backward` is `None`.")
        ask = say("`out._backward = _backward()` calls the function at once. Is there a pair of brackets too many?")
    elif "NoneType" in said and not where:
        kind, headline = "not implemented", say("`{name}` gives back nothing", name=tab.name)
        why, ask = say("The result is `None`, so nothing can be done with it."), say("Is a `return` missing?")
    elif error.kind in ("NameError", "AttributeError", "UnboundLocalError"):
        ask = _meant(text, error)
    elif re.search(r"operand type\(s\) for \^", said):
        kind, ask = "slip", say("`^` is no power in Python: a power is written `**`. Is that what you mean?")
    else:
        why, ask = _operator(exercise, why)
    return Feedback(kind, headline, why, ask, where, error=error)


def _known_cause(text: str, error: LearnerError) -> tuple[Message, Message] | None:
    """Why, and a question, for errors that come of one thing only."""
    line = text.splitlines()[(error.line or 1) - 1] if error.line and error.line <= len(text.splitlines()) else ""
    plain = re.search(r"'(?:float|int)' object has no attribute '(\w+)'", str(error))
    if plain:
        why = say(
            "Line {line} asks a plain number for its `{name}`. Only a Value has one.", line=error.line, name=plain[1]
        )
        return why, say("Which of the names on that line is a plain number, and where was it made?")
    turned = re.search(r"\bin (\w+)\.reverse\(\)", line)
    if turned and "NoneType" in str(error):
        why = say(
            "`{name}.reverse()` turns the list round where it is, and gives back nothing to go through.", name=turned[1]
        )
        return why, say("Do you mean `reversed({name})`?", name=turned[1])
    return None


def _circle(tab: Tab, text: str, said: Message) -> tuple[Message, Message, Message]:
    match said.parts:  # the names of the functions that lead to each other
        case {"name": name}:
            why = say("`{name}` leads back to `{name}`.", name=name)
        case {"first": first, "second": second}:
            why = say("`{first}` leads to `{second}`, and that leads back to `{first}`.", first=first, second=second)
        case _:
            why = say("What should make it stop?")
    sign = _REFLECTED.get(tab.name)
    if sign:
        asked = say(
            "Python calls `{name}` to find out what `other {sign} self` is. If your line asks for `other {sign} self`, "
            "Python calls `{name}` again.",
            name=tab.name,
            sign=sign,
        )
        why = joined(why, asked)
    ask = say("Can you write it so that it does not lead back here?")
    if tab.name == "backward" and re.search(r"\.backward\(", text):
        ask = say("What should the walk ask of a node: a whole `backward`, or only its `_backward`?")
    return say("A function calls itself over and over"), why, ask


def _meant(text: str, error: LearnerError) -> Message:
    """Which name may have been meant, where one is spelt almost like it."""
    words = re.findall(r"'([^']+)'", str(error))
    if not words:
        return NOTHING
    if error.kind == "NameError" and words[-1] in FIELDS[5:]:
        return say("`{name}` belongs to a Value. Do you mean `x.{name}()`, with your own name for `x`?", name=words[-1])
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return NOTHING
    if words[-1] == "zero_grad":
        return say("There is no `zero_grad` here yet. What would it do to every parameter?")
    if words[0] == "Tensor" and hasattr(Array, words[-1]):
        return say("Arrays have a `{name}`, and the array of a Tensor is its `data`. Is a `.data` missing?",
                   name=words[-1])  # fmt: skip
    if error.kind == "AttributeError":
        known = set(FIELDS) if words[0] in ("Value", "Tensor") else set()
    else:
        known = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        known |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)} | {"Value", "math", "random", *dir(builtins)}
        known |= {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    if words[-1] in _NOT_HERE and error.kind == "NameError":
        return say("There is no {library} here. Does `math` have what you need?", library=_NOT_HERE[words[-1]])
    close = get_close_matches(words[-1], sorted(known - {words[-1]}), 1, 0.6)
    return say("Do you mean `{name}`?", name=close[0]) if close else NOTHING


def _operator(exercise: Exercise, said: Message) -> tuple[Message, Message]:
    """An operator that the operands do not know."""
    found = _UNSUPPORTED.search(said)
    if not found:
        return said, NOTHING
    sign, left, right = found.groups()
    if exercise.kind == "program" and "Value" in (left, right):
        if left != "Value":
            why = say(
                "`{sign}` has a plain number on its left. Your engine learns that only in lesson eight, with reflected "
                "operators.",
                sign=sign,
            )
            return why, say("Can you put the Value on the left?")
        if sign.rstrip("=") in _LATER:
            return _LATER[sign.rstrip("=")], say("Can you do without it here?")
    if {left, right} & {"list", "tuple", "NoneType", "str"}:
        ask = say("A {left} and a {right} meet there. Which of the two should be a number?", left=left, right=right)
        return said, ask
    return said, NOTHING
