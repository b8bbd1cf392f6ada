"""Steps as text for people: what was computed, with parentheses only where they are needed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradwalk.formulas.rules import explore
from gradwalk.formulas.sheet import Sheet, Symbol
from gradwalk.ops import Op

__all__ = ["LATEX", "PYTHON", "UNICODE", "Style", "derivatives_as_text", "rule_as_text", "text"]

#: How tightly each operator binds; what binds less tightly than its surroundings is put in parentheses.
CHOICE, OR, AND, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(9)
BINDING = {
    "choose": CHOICE, "|": OR, "&": AND, **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), COMPARISON),
    "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "neg": SIGN, "**": POWER,
}  # fmt: skip
DIGITS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


#: Characters that mean something else in LaTeX, or would in the HTML around it.
SPELT_OUT = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "$": r"\$", "%": r"\%", "#": r"\#", "&": r"\&",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
}  # fmt: skip


def latex_words(words: str) -> str:
    """Words in a formula."""
    return r"\text{" + "".join(SPELT_OUT.get(c, c) for c in words) + "}"


def latex_name(name: str) -> str:
    """A name in a formula: `w1` and `x_1` are letters with an index."""
    indexed = re.fullmatch(r"([A-Za-z])(?:(\d+)|_([A-Za-z0-9]+))?", name, re.ASCII)
    if not indexed:
        return latex_words(name)
    index = indexed[2] or indexed[3]
    return indexed[1] + (f"_{{{index}}}" if index else "")


@dataclass(frozen=True)
class Style:
    """How steps are written for people.

    >>> x, y = Sheet().inputs("x", "y")
    >>> text(x * x / (y - 1), UNICODE), text(x * x / (y - 1), LATEX)
    ('x² / (y − 1)', '\\\\frac{x^{2}}{y - 1}')
    """

    operators: dict[str, str] = field(default_factory=dict)  # those that are not as in Python
    functions: dict[str, str] = field(default_factory=dict)
    name: Callable[[str], str] = str
    fraction: str = ""
    around: dict[str, str] = field(default_factory=dict)  # functions that are written around what they are of
    power: Callable[[str, str], str] | None = None  # of a base and an exponent, where squares are shown as such
    choice: str = "{yes} if {condition} else {no}"


PYTHON = Style({"&": "and", "|": "or", "neg": "-"}, {"fabs": "abs"})
UNICODE = Style(
    {"&": "and", "|": "or", "neg": "−", "-": "−", "*": "·", "<=": "≤", ">=": "≥", "==": "=", "!=": "≠"},
    {"fabs": "abs"},
    power=lambda base, exponent: base + (
        exponent.replace("−", "-").translate(DIGITS) if exponent.strip("−").isdigit() else f"^{exponent}"
    ),
)  # fmt: skip
LATEX = Style(
    {"&": r"\text{ and }", "|": r"\text{ or }", "neg": "-", "*": r"\cdot", "<=": r"\le", ">=": r"\ge", "==": "=",
     "!=": r"\ne"},
    {**{name: rf"\{name}" for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min")},
     "asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "maximum": r"\max", "minimum": r"\min"},
    name=latex_name,
    fraction=r"\frac{%s}{%s}",
    around={"sqrt": r"\sqrt{%s}", **dict.fromkeys(("abs", "fabs"), r"\lvert %s \rvert")},
    power=lambda base, exponent: f"{base}^{{{exponent}}}",
    choice=r"{yes} \text{{ if }} {condition} \text{{ else }} {no}",
)  # fmt: skip


def text(x: Any, style: Style = PYTHON) -> str:
    """A symbol or a number as text; in Python's style it is valid Python.

    >>> x, y = Sheet().inputs("x", "y")
    >>> text(x - (y - 1)), text(2.0), text((-x) ** 2)
    ('x - (y - 1)', '2', '(-x) ** 2')
    """
    return _within(x.sheet if isinstance(x, Symbol) else Sheet(), x, CHOICE, style)


def _within(sheet: Sheet, x: Any, binding: int, style: Style) -> str:
    """`x` as text, in parentheses if it binds less tightly than `binding`."""
    if isinstance(x, float):
        found = repr(int(x)) if x.is_integer() else repr(x)
        return f"({found})" if x < 0 and binding > SIGN else found.replace("-", style.operators["neg"])
    if not isinstance(x, (Symbol, int)):
        return _within(sheet, float(x), binding, style)
    op, *operands = sheet.steps[x.position if isinstance(x, Symbol) else x]
    if op == "input":
        return style.name(operands[0])
    if op == "*" and style.power and operands[0] == operands[1] and isinstance(operands[0], int):
        op, operands = "**", [operands[0], 2.0]

    def part(i: int, binding: int) -> str:
        return _within(sheet, operands[i], binding, style)

    sign = style.operators[op] if op in style.operators else str(op)
    own = BINDING.get(op, ATOM)
    if op == "choose":
        found = style.choice.format(condition=part(0, OR), yes=part(1, OR), no=part(2, CHOICE))
    elif op == "neg":
        found = sign + part(0, SIGN)
    elif op == "/" and style.fraction:
        found, own = style.fraction % (part(0, CHOICE), part(1, CHOICE)), PRODUCT
    elif op == "**" and style.power:
        found = style.power(part(0, ATOM), part(1, CHOICE if style.fraction else SIGN))
    elif op in style.around:
        found = style.around[op] % part(0, CHOICE)
    elif op in BINDING:  # what is on the far side of a non-associative operator must bind more tightly
        left = part(0, own + (op == "**" or own == COMPARISON))
        sign = sign if sign == "·" else f" {sign} "
        found = f"{left}{sign}{part(1, own + (op in '-/' or own == COMPARISON))}"
    else:
        name = style.functions.get(op) or (style.name(op) if style.fraction else op)
        found = f"{name}({', '.join(part(i, CHOICE) for i in range(len(operands)))})"
    return found if own >= binding else f"({found})"


def rule_as_text(rule: Callable[..., Any], operands: Sequence[str | float] = (), style: Style = PYTHON) -> str:
    """What a rule computes, in the names of its operands: its own if none are given. A number stands for itself.

    >>> rule_as_text(lambda x, y: x if x > y else y), rule_as_text(lambda x, y: x**y, ["a", 3.0])
    ('x if x > y else y', 'a ** 3')
    """
    sheet = Sheet(whole_ops=True)
    operands = operands or list(inspect.signature(rule).parameters)
    given = [sheet.inputs(x)[0] if isinstance(x, str) else float(x) for x in operands]
    return text(explore(rule, given), style)


def derivatives_as_text(op: Op, operands: Sequence[str | float] = (), style: Style = PYTHON) -> list[str]:
    """The derivative with respect to each operand, written out in the names of operands and result.

    The names are those of the rules unless others are given, that of the result last.

    >>> derivatives_as_text(ops.tanh), derivatives_as_text(ops.div)
    (['1 - out * out'], ['1 / y', '-out / y'])
    >>> derivatives_as_text(ops.pow, ["a", 3.0, "b"], UNICODE)[0]
    '3·a²'
    """
    return [rule_as_text(rule, operands, style) for rule in op.partials]
