"""What a walk asks of a node: which nodes it was computed from, and how to name it in a message.

`operands` finds the first in a gradwalk `Value` and in the usual home-made classes.
"""

from __future__ import annotations

from typing import Any

__all__ = ["OPERAND_FIELDS", "describe", "formula", "operands", "short"]

Node = Any

#: Where home-made engines keep what a node was computed from, most specific first.
OPERAND_FIELDS = ("operands", "_prev", "_children", "prev", "children", "_parents", "parents")


def operands(node: Node) -> tuple[Node, ...]:
    """What `node` was computed from, in order where the node keeps an order.

    >>> from gradwalk import Value
    >>> from gradwalk.walk import operands
    >>> a = Value(3.0)
    >>> operands(a * a) == (a, a)
    True
    """
    for field in OPERAND_FIELDS:
        found = getattr(node, field, None)
        if found is not None:
            return tuple(found() if callable(found) else found)
    return ()


def describe(node: Node) -> str:
    """A node in one short line, for messages.

    >>> from gradwalk import Value
    >>> from gradwalk.walk import describe
    >>> a = Value(2.0, label="a")
    >>> describe(a), describe(a * 3.0), describe(a.exp())
    ('a=2', 'a=2 * 3 = 6', 'exp(a=2) = 7.38906')
    """
    before = operands(node)
    if not before:
        return short(node)
    label, data = getattr(node, "label", "") or "", getattr(node, "data", None)
    text = formula(getattr(node, "_op", "") or type(node).__name__, [short(operand) for operand in before])
    return f"{label} = {text}" if label else f"{text} = {_number(data)}"


def formula(op: str, operands: list[str]) -> str:
    """An operation as it would be written.

    >>> from gradwalk.walk import formula
    >>> formula("*", ["a", "b"]), formula("**2", ["a"]), formula("exp", ["a"])
    ('a * b', 'a**2', 'exp(a)')
    """
    if op[:1].isalpha() or op.startswith(("_", "<lambda")):
        return f"{op}({', '.join(operands)})"
    return f" {op} ".join(operands) if len(operands) > 1 else "".join(operands) + op


def short(node: Node) -> str:
    """A node's label and number, or whichever of the two it has; a plain number as itself.

    >>> from gradwalk import Value
    >>> from gradwalk.walk import short
    >>> short(Value(2.0, label="a")), short(Value(0.5)), short(3)
    ('a=2', '0.5', '3')
    """
    label, data = getattr(node, "label", "") or "", getattr(node, "data", node)
    return f"{label}={_number(data)}" if label else _number(data)


def _number(x: Any) -> str:
    try:
        return f"{x:g}" if isinstance(x, (int, float)) else repr(x)
    except OverflowError:
        return f"an int of {x.bit_length()} bits"
