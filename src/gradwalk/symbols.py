"""Symbols: run an op's rules on these instead of on numbers, and out comes the formula as text.

The text is valid Python over the table's names, so it serves documents today and the source of kernels tomorrow.
"""

from __future__ import annotations

import inspect
from typing import Any

from gradwalk.ops import Op

__all__ = ["Symbol", "derivatives_as_text"]

#: How tightly each operator binds; what binds less tightly than its surroundings is put in parentheses.
CHOICE, OR, AND, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(9)
INFIX = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT), "pow": ("**", POWER)}


class Symbol:
    """A piece of a formula: its text, and how tightly its outermost operator binds.

    >>> from gradwalk import tanh
    >>> from gradwalk.symbols import Symbol
    >>> x, y = Symbol("x"), Symbol("y")
    >>> str((x + 1) * tanh(y) / (x - y))
    '(x + 1) * tanh(y) / (x - y)'
    """

    def __init__(self, text: str, binding: int = ATOM) -> None:
        self.text = text
        self.binding = binding

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Symbol({self.text!r})"

    def __add__(self, other: Any) -> Symbol:
        return infix(self, "+", other, SUM)

    def __radd__(self, other: Any) -> Symbol:
        return infix(other, "+", self, SUM)

    def __sub__(self, other: Any) -> Symbol:
        return infix(self, "-", other, SUM)

    def __rsub__(self, other: Any) -> Symbol:
        return infix(other, "-", self, SUM)

    def __mul__(self, other: Any) -> Symbol:
        return infix(self, "*", other, PRODUCT)

    def __rmul__(self, other: Any) -> Symbol:
        return infix(other, "*", self, PRODUCT)

    def __truediv__(self, other: Any) -> Symbol:
        return infix(self, "/", other, PRODUCT)

    def __rtruediv__(self, other: Any) -> Symbol:
        return infix(other, "/", self, PRODUCT)

    def __pow__(self, other: Any) -> Symbol:
        return infix(self, "**", other, POWER)

    def __rpow__(self, other: Any) -> Symbol:
        return infix(other, "**", self, POWER)

    def __neg__(self) -> Symbol:
        return Symbol("-" + within(self, SIGN), SIGN)

    def __lt__(self, other: Any) -> Symbol:
        return infix(self, "<", other, COMPARISON)

    def __le__(self, other: Any) -> Symbol:
        return infix(self, "<=", other, COMPARISON)

    def __gt__(self, other: Any) -> Symbol:
        return infix(self, ">", other, COMPARISON)

    def __ge__(self, other: Any) -> Symbol:
        return infix(self, ">=", other, COMPARISON)

    def __and__(self, other: Any) -> Symbol:
        return infix(self, "and", other, AND)

    def __or__(self, other: Any) -> Symbol:
        return infix(self, "or", other, OR)

    def equals(self, other: Any) -> Symbol:
        """The text of an equality; `==` itself compares symbols as objects.

        >>> from gradwalk.symbols import Symbol
        >>> str(Symbol("x").equals(0.0))
        'x == 0'
        """
        return infix(self, "==", other, COMPARISON)

    def choose(self, yes: Any, no: Any) -> Symbol:
        """The text of a branch on this condition.

        >>> from gradwalk.symbols import Symbol
        >>> str((Symbol("x") > 0).choose(1.0, 0.0))
        '1 if x > 0 else 0'
        """
        return Symbol(f"{within(yes, OR)} if {within(self, OR)} else {within(no, CHOICE)}", CHOICE)

    def __gradwalk_op__(self, op: Op, operands: tuple[Any, ...]) -> Symbol:
        if op.name in INFIX and len(operands) == 2:
            operator, binding = INFIX[op.name]
            return infix(operands[0], operator, operands[1], binding)
        if op.name == "neg":
            return -self
        return Symbol(f"{op.name}({', '.join(within(x, CHOICE) for x in operands)})")


def infix(left: Any, operator: str, right: Any, binding: int) -> Symbol:
    """`left operator right`; what is on the far side of a non-associative operator must bind more tightly."""
    tighter_left = operator == "**" or binding == COMPARISON
    tighter_right = operator in ("-", "/") or binding == COMPARISON
    text = f"{within(left, binding + tighter_left)} {operator} {within(right, binding + tighter_right)}"
    return Symbol(text, binding)


def within(x: Any, binding: int) -> str:
    """`x` as text, in parentheses if it binds less tightly than `binding`."""
    if isinstance(x, Symbol):
        return x.text if x.binding >= binding else f"({x.text})"
    number = float(x)
    text = repr(int(number)) if number.is_integer() else repr(number)
    return f"({text})" if number < 0 and binding > SIGN else text


def derivatives_as_text(op: Op) -> list[str]:
    """The derivative with respect to each operand, written out in the operands' own names.

    >>> from gradwalk import ops
    >>> from gradwalk.symbols import derivatives_as_text
    >>> derivatives_as_text(ops.tanh), derivatives_as_text(ops.div)
    (['1 - out * out'], ['1 / y', '-out / y'])
    """
    texts = []
    for rule in op.partials:
        symbols = [Symbol(name) for name in inspect.signature(rule).parameters]
        texts.append(within(rule(*symbols), CHOICE))
    return texts
