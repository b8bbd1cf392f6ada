"""What a walk asks of a node: which nodes it was computed from, and how to name it in a message.

`operands` finds the first in a gradwalk `Value` and in the usual home-made classes.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gradwalk.errors import TraceError

__all__ = ["OPERAND_FIELDS", "describe", "formula", "operands", "short", "stable_operands"]

Node = Any

#: Where home-made engines keep what a node was computed from, most specific first.
OPERAND_FIELDS = ("operands", "_prev", "_children", "prev", "children", "_parents", "parents")


def operands(node: Node) -> tuple[Node, ...]:
    """What `node` was computed from, in order where the node keeps an order.

    >>> a = Value(3.0)
    >>> operands(a * a) == (a, a)
    True
    """
    return tuple(_kept(node))


def _kept(node: Node) -> Collection[Node]:
    for field in OPERAND_FIELDS:
        found = getattr(node, field, None)
        if found is not None:
            kept: Collection[Node] = found() if callable(found) else found
            return kept
    return ()


def stable_operands(node: Node) -> tuple[Node, ...]:
    """The operands in the same order every time, doubles included.

    micrograd keeps operands in a set: their order is put right here, and a + a, which a set knows by one operand, has
    its two again.

    >>> class Stranger:
    ...     def __init__(self, label, prev=(), op=""):
    ...         self.label, self._prev, self._op = label, set(prev), op
    >>> a, b = Stranger("a"), Stranger("b")
    >>> [x.label for x in stable_operands(Stranger("c", (b, a), "*"))]
    ['a', 'b']
    >>> [x.label for x in stable_operands(Stranger("c", (a, a), "+"))]
    ['a', 'a']
    """
    kept = _kept(node)
    if not isinstance(kept, (set, frozenset)):
        return tuple(kept)
    if len(kept) == 1 and getattr(node, "_op", "") in ("+", "*"):
        return tuple(kept) * 2
    return tuple(sorted(kept, key=lambda x: [repr(getattr(x, name, "")) for name in ("label", "_op", "data")]))


def describe(node: Node) -> str:
    """A node in one short line, for messages.

    >>> a = Value(2.0, label="a")
    >>> describe(a), describe(a * 3.0), describe(a.exp())
    ('a=2', 'a=2 * 3 = 6', 'exp(a=2) = 7.38906')
    """
    try:
        before = operands(node)
    except TraceError:  # what compiled code gave, which keeps none
        before = ()
    if not before:
        return short(node)
    label, data = getattr(node, "label", "") or "", getattr(node, "data", None)
    text = formula(getattr(node, "_op", "") or type(node).__name__, [short(operand) for operand in before])
    return f"{label} = {text}" if label else f"{text} = {_number(data)}"


def formula(op: str, operands: list[str]) -> str:
    """An operation as it would be written.

    >>> formula("*", ["a", "b"]), formula("**2", ["a"]), formula("exp", ["a"])
    ('a * b', 'a**2', 'exp(a)')
    >>> formula("**2", ["a", "2"])  # of a tensor, whose exponent is an operand too
    'a**2'
    """
    if op[:2] == "**" and len(op) > 2:
        return operands[0] + op
    if op[:1].isalpha() or op.startswith(("_", "<lambda")):
        return f"{op}({', '.join(operands)})"
    return f" {op} ".join(operands) if len(operands) > 1 else "".join(operands) + op


def short(node: Node) -> str:
    """A node's label and number, or whichever of the two it has; a plain number as itself.

    >>> short(Value(2.0, label="a")), short(Value(0.5)), short(3)
    ('a=2', '0.5', '3')
    """
    label, data = getattr(node, "label", "") or "", getattr(node, "data", node)
    return f"{label}={_number(data)}" if label else _number(data)


def _number(x: Any) -> str:
    shape = getattr(x, "shape", None)
    if shape:  # many numbers: how many along each axis says more than a few of them
        return str(tuple(shape))
    if shape == ():  # an array of one number
        x = x.tolist()
    try:
        return f"{x:g}" if isinstance(x, (int, float)) else repr(x)
    except OverflowError:
        return f"an int of {x.bit_length()} bits"
