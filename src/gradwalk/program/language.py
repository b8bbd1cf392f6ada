"""What a program may say: operators, functions and methods; and a remedy for what people write beside them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from keyword import iskeyword
from typing import Any

from gradwalk import ops
from gradwalk.engine import Value
from gradwalk.messages import Message, say
from gradwalk.ops import TABLE, Op

__all__ = ["COMPARISONS", "FUNCTIONS", "METHODS", "OPERATORS", "SIGNS", "Function"]


@dataclass(frozen=True)
class Function:
    """Something that takes operands and gives a number or a Value, with the fewest and the most it takes.

    >>> FUNCTIONS["clamp"].takes, FUNCTIONS["max"].takes, FUNCTIONS["leaky_relu"].takes
    ('3 operands', '2 or more operands', '1 or 2 operands')
    """

    name: str
    apply: Callable[..., Any]
    fewest: int
    most: int

    @property
    def takes(self) -> str:
        """How many operands, in words.

        >>> FUNCTIONS["tanh"].takes
        '1 operand'
        """
        if self.most == MANY:
            return say("{count} or more operands", count=self.fewest)
        if self.most > self.fewest:
            return say("{count} or {most} operands", count=self.fewest, most=self.most)
        if self.fewest == 1:
            return say("1 operand")
        return say("{count} operands", count=self.fewest)


MANY = 1000


def _as_python(spelt: Callable[..., Any], op: Op) -> Callable[..., Any]:
    """Python's operator where a Value takes part, so that the graph is the one Python would build; else IEEE's."""

    def apply(*operands: Any) -> Any:
        return spelt(*operands) if any(isinstance(x, Value) for x in operands) else op(*operands)

    return apply


def _folded(op: Op) -> Callable[..., Any]:
    return lambda *operands: reduce(op, operands)


# --- what there is ---------------------------------------------------------------------------------------------------

OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: _as_python(operator.add, ops.add),
    ast.Sub: _as_python(operator.sub, ops.sub),
    ast.Mult: _as_python(operator.mul, ops.mul),
    ast.Div: _as_python(operator.truediv, ops.div),
    ast.Pow: _as_python(operator.pow, ops.pow),
}

SIGNS: dict[type[ast.unaryop], Callable[..., Any]] = {
    ast.USub: _as_python(operator.neg, ops.neg),
    ast.UAdd: operator.pos,
}

COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip

FUNCTIONS: dict[str, Function] = {
    **{name: Function(op.name, op, op.arity, op.arity) for name, op in TABLE.items()},
    "max": Function("max", _folded(ops.maximum), 2, MANY),
    "min": Function("min", _folded(ops.minimum), 2, MANY),
    "leaky_relu": Function("leaky_relu", lambda x, slope=0.01: ops.leaky_relu(x, slope), 1, 2),
    "Value": Function("Value", Value, 1, 1),
}

#: What may stand after a dot: `n.tanh()` is `tanh(n)`.
METHODS = {name: entry for name, entry in FUNCTIONS.items() if hasattr(Value, name)}

LEAF = FUNCTIONS["Value"]
WHERE = FUNCTIONS["where"]


# --- what there is not, and what to write instead --------------------------------------------------------------------

_SHAPE = say("it is made of lines such as d = a*b + c")
_ONE_NUMBER = say("every name is one number; give each its own, as x1, x2, x3")
_CHOICE = say("a choice is written where(a > b, x, y), for x if a > b, else y")
_CONDITION = say("the condition of a choice is one comparison, as in where(a > b, x, y)")
_NO_LOOPS = say("there are no loops; write the steps out, or build the graph with Values in Python")
_NO_TEXT = say("it holds numbers and names, without quotes")

#: What Python can say and a program cannot: what to call it, and the remedy.
REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Import: ("import", say("the functions are there already, as in tanh(x)")),
    ast.ImportFrom: ("from", say("the functions are there already, as in tanh(x)")),
    ast.FunctionDef: ("def", say("write the formula out; ops of your own are made with gradwalk.op in Python")),
    ast.ClassDef: ("class", _SHAPE),
    ast.Delete: ("del", _SHAPE),
    ast.Lambda: ("lambda", say("write the formula out")),
    ast.If: ("if", _CHOICE),
    ast.IfExp: ("if … else", _CHOICE),
    ast.For: ("for", _NO_LOOPS),
    ast.While: ("while", _NO_LOOPS),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), (say("a comprehension"), _NO_LOOPS)),
    ast.Compare: (say("a comparison here"), say("it is only the condition of a choice, as in where(a > b, x, y)")),
    ast.And: ("and", _CONDITION),
    ast.Or: ("or", _CONDITION),
    ast.Not: ("not", say("turn the comparison round, as in where(a <= b, x, y)")),
    ast.Subscript: ("[ ]", _ONE_NUMBER),
    ast.List: (say("a list"), _ONE_NUMBER),
    ast.Tuple: (say("a comma"), say("write one name = expression at a time, and numbers with a point, as 1.5")),
    ast.Set: ("{ }", _ONE_NUMBER),
    ast.Dict: ("{ }", _ONE_NUMBER),
    ast.Attribute: (
        say("a dot here"),
        say("it is for methods, as in n.tanh(); data and gradients are read from the result"),
    ),
    ast.NamedExpr: (":=", say("give it a line of its own, name = expression")),
    ast.JoinedStr: (say("an f-string"), _NO_TEXT),
    ast.Starred: ("*", say("write the operands one by one")),
    ast.AnnAssign: (say("an annotation"), say("write name = expression")),
    ast.Await: ("await", _SHAPE),
    ast.Invert: ("~", say("write -x for the negative")),
    ast.FloorDiv: ("//", say("write / to divide; rounding has no slope")),
    ast.Mod: ("%", say("it has no slope worth following; write / to divide")),
    ast.BitXor: ("^", say("write ** for a power, as in a**2")),
    ast.MatMult: ("@", say("write the products out, as in x1*w1 + x2*w2")),
    ast.BitAnd: ("&", _CONDITION),
    ast.BitOr: ("|", _CONDITION),
    ast.LShift: ("<<", say("write a*2**n")),
    ast.RShift: (">>", say("write a/2**n")),
}

#: The same for literals, by their type.
LITERALS: dict[type, tuple[str, str]] = {
    str: (say("text"), _NO_TEXT),
    bytes: (say("text"), _NO_TEXT),
    bool: (say("True or False"), say("write 1 or 0")),
    complex: (say("a complex number"), say("numbers are real, as 2, 0.5 or 1e-3")),
}

#: Calls that people bring along from Python.
CALLS = {
    "backward": say("it only computes forward; write program(…).root.backward()"),
    "print": say("look at the result instead, as in program(…)['L']"),
    "sum": say("write the sum out, as in a + b + c"),
    "float": say("numbers are floats already"),
    "zero_grad": say("it belongs to the result; write gradwalk.zero_grad(program(…).root)"),
}

#: Where people have functions from in Python: they need no such word here.
MODULES = ("gradwalk", "gw", "jnp", "math", "np", "numpy", "torch")

#: Signs from books and pages, and how a program writes them.
TYPED = {
    "×": "*", "·": "*", "∙": "*", "⋅": "*", "∗": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "—": "-",
    "²": "**2", "³": "**3", "√": "sqrt(…)", "≤": "<=", "≥": ">=", "≠": "!=", "\N{NO-BREAK SPACE}": say("a plain space"),
}  # fmt: skip


def no_part(what: str, remedy: str) -> Message:
    """What is said of something that Python has and a program has not."""
    return say("{what} is no part of a program: {remedy}", what=what, remedy=remedy)


def keyword_refusal(word: str) -> str | None:
    """What to write instead of a word of Python's that is no part of a program; None for other words."""
    remedies = {what: remedy for what, remedy in REFUSED.values() if iskeyword(what)}
    return remedies.get(word, _SHAPE) if iskeyword(word) else None


def refusal(node: ast.AST) -> tuple[str, str]:
    """What to call a piece of Python that is no part of a program, and what to write instead."""
    if isinstance(node, ast.Constant):
        return LITERALS.get(type(node.value), (str(node.value), say("numbers are written as 2, 0.5 or 1e-3")))
    return REFUSED.get(type(node), (type(node).__name__.lower(), _SHAPE))
