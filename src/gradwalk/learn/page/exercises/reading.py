"""What is wrong with a text can sometimes be seen in it, without running anything: why, a question, and the line."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator
from difflib import get_close_matches

from gradwalk.learn.page.exercises.errors import FIELDS
from gradwalk.learn.page.exercises.model import Exercise, Kind, Tab
from gradwalk.messages import Message, say

__all__ = ["Seen", "cut_off", "seen_in", "writes_in"]

Seen = tuple[Message, Message, int]

#: Methods of arrays whose result is all that comes of them.
_OF_ARRAYS = {"sum", "mean", "max", "unsqueeze", "reshape", "view", "expand", "exp", "log"}


def misspelt(text: str) -> Seen | None:
    """A field that no Value has, spelt almost like one that it has.

    >>> misspelt("def exp(self):\\n    self.gard = 1")[1]
    'Do you mean `grad`?'
    """
    tree = ast.parse(textwrap.dedent(text))
    values = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    values |= {n.value.id for n in ast.walk(tree) if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr not in FIELDS and ast.unparse(node.value) in values:
            for close in get_close_matches(node.attr, FIELDS, 1, 0.6):
                why = say("On line {line}, no Value has a `{name}`.", line=node.lineno, name=node.attr)
                return why, say("Do you mean `{name}`?", name=close), node.lineno
    return None


def thrown_away(text: str) -> Seen | None:
    """A line that computes a number and does nothing with it.

    >>> print(thrown_away("self.grad + out.grad")[0])
    Line 1 computes `self.grad + out.grad` and throws it away: nothing is changed by it.
    """
    tree = ast.parse(textwrap.dedent(text))
    ask = say("Where should the number be kept?")
    writes = any(target.endswith(".grad") for _, target, _ in writes_in(text))
    inner = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    inner = [f for f in inner if f is not tree.body[-1] and ".grad" in ast.unparse(f)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and _gives_only(node.value):
            if isinstance(node.value, ast.Attribute) and node.value.attr in ("backward", "_backward"):
                why = say("Line {line} names `{code}` and does not call it.", line=node.lineno,
                          code=ast.unparse(node.value))  # fmt: skip
                return why, say("Are the brackets there?"), node.lineno
            if isinstance(node.value, ast.Attribute) and node.value.attr != "grad":
                continue
            why = say(
                "Line {line} computes `{code}` and throws it away: nothing is changed by it.",
                line=node.lineno,
                code=ast.unparse(node.value),
            )
            compared = isinstance(node.value, ast.Compare) and isinstance(node.value.ops[0], ast.Eq)
            return why, say("`==` compares. Should something be written there?") if compared else ask, node.lineno
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


def _gives_only(value: ast.expr) -> bool:
    """Whether an expression does nothing but give a number, or an array: the methods of arrays change none."""
    called = value.func if isinstance(value, ast.Call) else None
    of_array = isinstance(called, ast.Attribute) and called.attr in _OF_ARRAYS
    return of_array or isinstance(value, (ast.BinOp, ast.Compare, ast.Attribute))


def _result_of(tree: ast.Module) -> str:
    returned = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)]
    return returned[-1].id if returned else "out"


def pushes_to_result(text: str) -> Seen | None:
    """A push that adds to the gradient of the result, and to no other.

    >>> print(pushes_to_result("def f(x):\\n    def push():\\n        out.grad += x.grad\\n    return out")[0])
    Line 3 adds to `out.grad`. Gradients go from the result to its operands.
    """
    tree = ast.parse(textwrap.dedent(text))
    target = f"{_result_of(tree)}.grad"
    writes = [(line, name) for line, name, _ in writes_in(text) if name.endswith(".grad")]
    if not writes or any(name != target for _, name in writes):
        return None
    why = say(
        "Line {line} adds to `{target}`. Gradients go from the result to its operands.",
        line=writes[0][0],
        target=target,
    )
    return why, say("Which of them receives here, and which gives?"), writes[0][0]


def visits_operands(text: str) -> Seen | None:
    """A push that goes on to visit the operands, which the walk visits too.

    >>> text = "def f(x):\\n    def push():\\n        x._backward()\\n    return out"
    >>> print(visits_operands(text)[0])
    Line 3 visits an operand. The walk visits it as well, and each visit pushes all it holds.
    """
    methods = ast.parse(textwrap.dedent(text)).body
    inside = [f for method in methods for f in ast.walk(method) if isinstance(f, ast.FunctionDef) and f is not method]
    for push in inside:
        for node in ast.walk(push):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "_backward":
                why = say(
                    "Line {line} visits an operand. The walk visits it as well, and each visit pushes all it holds.",
                    line=node.lineno,
                )
                return why, say("Who decides which node is visited, and when?"), node.lineno
    return None


def changes_a_copy(text: str) -> Seen | None:
    """A name for a gradient that is changed, where the gradient itself was meant.

    >>> print(changes_a_copy("def f(x):\\n    g = x.grad\\n    g += 1")[0])
    Line 3 changes what `g` means. `x.grad` itself stays as it is.
    """
    tree = ast.parse(textwrap.dedent(text))
    held: dict[str, str] = {}
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for node in sorted((n for n in ast.walk(tree) if isinstance(n, ast.stmt)), key=lambda n: n.lineno):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            held.pop(node.targets[0].id, None)
            if ast.unparse(node.value).partition("[")[0].endswith(".grad"):
                held[node.targets[0].id] = ast.unparse(node.value)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in held:
            name = node.target.id
            if name in read or held[name].startswith(_result_of(tree) + "."):
                continue
            why = say(
                "Line {line} changes what `{name}` means. `{target}` itself stays as it is.",
                line=node.lineno,
                name=name,
                target=held[name],
            )
            return why, say("Where should the sum be kept?"), node.lineno
    return None


def scales_all(text: str) -> Seen | None:
    """A gradient that is multiplied as a whole, with what had arrived there before.

    >>> print(scales_all("self.grad *= out.grad")[0])
    Line 1 changes all of `self.grad`, also what had arrived there before.
    """
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Mult, ast.Div)):
            target = ast.unparse(node.target)
            if target.endswith(".grad"):
                why = say(
                    "Line {line} changes all of `{target}`, also what had arrived there before.",
                    line=node.lineno,
                    target=target,
                )
                return why, say("What should be multiplied before it is added?"), node.lineno
    return None


def sets_data_too(text: str) -> Seen | None:
    """A comparison with one `=`: it sets the data of an operand, and another name with it.

    >>> print(sets_data_too("largest = self.data = out.data")[0])
    Line 1 sets `self.data`, and `largest` to the same.
    """
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        targets = [ast.unparse(t) for t in node.targets] if isinstance(node, ast.Assign) else []
        data = next((target for target in targets if target.endswith(".data")), "")
        if data and len(targets) > 1:
            other = next(target for target in targets if target != data)
            line: int = node.lineno  # type: ignore[attr-defined]
            why = say("Line {line} sets `{data}`, and `{other}` to the same.", line=line, data=data, other=other)
            return why, say("`=` sets, and `==` compares. Which is meant?"), line
    return None


def cut_off(text: str) -> Seen | None:
    """A new Value out of a bare number: it has no history.

    >>> print(cut_off("def f(self, other):\\n    return self * Value(other.data ** -1)")[0])
    Line 2 makes a new Value out of `other.data ** -1`. It has no history, so nothing goes back through it.
    """
    text = textwrap.dedent(text)
    tree = ast.parse(text)
    if "_backward" in text:
        return None
    for node in [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "Value"]:
        if any(isinstance(n, ast.Attribute) and n.attr == "data" for each in node.args[:1] for n in ast.walk(each)):
            why = say(
                "Line {line} makes a new Value out of `{code}`. It has no history, so nothing goes back through it.",
                line=node.lineno,
                code=ast.get_source_segment(text, node.args[0]),
            )
            return why, say("Can it be computed with the Values themselves?"), node.lineno
    return None


def read_too_early(text: str) -> Seen | None:
    """The gradient of the result, read while the result is being made: it is zero then, and nothing arrives later.

    >>> print(read_too_early("def exp(self):\\n    out = Value(1.0)\\n    g = out.grad\\n    return out")[0])
    Line 3 reads `out.grad` while `out` is being made. Nothing has walked back yet, so it is zero.
    """
    for function in ast.parse(textwrap.dedent(text)).body:
        statements = function.body if isinstance(function, ast.FunctionDef) else []
        out = next((ast.unparse(s.value) for s in statements if isinstance(s, ast.Return) and s.value), "out")
        for statement in statements:
            if not isinstance(statement, ast.Assign) or isinstance(statement.value, ast.Lambda):
                continue
            if f"{out}.grad" in map(ast.unparse, ast.walk(statement.value)):
                why = say(
                    "Line {line} reads `{name}` while `{out}` is being made. Nothing has walked back yet, so it is "
                    "zero.",
                    line=statement.lineno,
                    name=f"{out}.grad",
                    out=out,
                )
                ask = say("When should it be read: now, or when `_backward` is called?")
                return why, ask, statement.lineno
    return None


def writes_in(text: str) -> Iterator[tuple[int, str, bool]]:
    """Every assignment to an attribute: its line, its target, and whether it is a plain `=`.

    >>> list(writes_in("self.grad += 1"))
    [(1, 'self.grad', False)]
    """
    for node in ast.walk(ast.parse(textwrap.dedent(text))):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            plain = isinstance(node, ast.Assign)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((t.lineno, ast.unparse(t), plain) for t in targets if isinstance(t, ast.Attribute))


#: What is looked for, in this order: what it is called, and whether it is a mistake in methods alone.
_LOOKED_FOR: tuple[tuple[Kind, Callable[[str], Seen | None], bool], ...] = (
    ("slip", misspelt, True),
    ("thrown away", thrown_away, False),
    ("wrong order", read_too_early, True),
    ("wrong direction", pushes_to_result, True),
    ("visited twice", visits_operands, True),
    ("thrown away", changes_a_copy, False),
    ("changed the wrong thing", sets_data_too, False),
    ("wrong local derivative", scales_all, True),
)


def seen_in(exercise: Exercise, tab: Tab, text: str) -> tuple[Kind, Seen] | None:
    """The first thing that can be seen in a text, and its kind.

    >>> exercise = EXERCISES["slopes"]
    >>> seen_in(exercise, exercise.tabs["exp"], "def exp(self):\\n    self.gard = 1")[1][2]
    2
    """
    for kind, look, in_methods in _LOOKED_FOR:
        if (exercise.kind == "methods" or not in_methods) and not (look is visits_operands and tab.name == "backward"):
            seen = look(text)
            if seen:
                return kind, seen
    return None
