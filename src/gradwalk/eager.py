"""What an op means where no mode is on: it is computed, and remembered. The bottom of the stack of interpreters."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from gradwalk import modes
from gradwalk.node import Node, Recipe, number_of
from gradwalk.ops import CUT, Op, number

if TYPE_CHECKING:
    from gradwalk.engine import Value


def apply(op: Op, *operands: Any) -> Value:
    """Any op on any operands: nodes, numbers, or things that take ops in a way of their own."""
    interpreter = modes.top() if modes.active else modes.bottom
    return interpreter.apply(op, operands)  # type: ignore[no-any-return]


class Eager(modes.Bottom):
    """Computes ops, and makes nodes of them with `make(op, data, a, da, b, db)`."""

    def __init__(self, make: Callable[..., Node]) -> None:
        self._make = make

    def apply(self, op: Op, operands: tuple[Any, ...]) -> Any:  # noqa: D102
        inputs = []
        for x in operands:
            if not isinstance(x, Node):
                if hasattr(x, "__gradwalk_op__") and not isinstance(x, (float, type)):
                    return x.__gradwalk_op__(op, operands)
                if hasattr(x, "dtype"):  # an array may stand on either side of a tensor
                    for tensor in operands:
                        if isinstance(tensor, Node) and tensor.many:
                            return tensor.computed(op, operands)  # type: ignore[attr-defined]
                x = number(x)
            elif x.many:
                return x.computed(op, operands)  # type: ignore[attr-defined]
            inputs.append(x)
        point = [x if x.__class__ is float else number_of(x) for x in inputs]
        data = op.forward(*point)
        if modes.active and not modes.recording():
            return self._leaf(data)
        if op.at_once is None:
            slopes = [None if x.__class__ is float else op.slope(i, *point, data) for i, x in enumerate(inputs)]
        else:
            local = op.at_once(*point, data)
            slopes = [None if x.__class__ is float else slope for x, slope in zip(inputs, local, strict=True)]
        if len(inputs) == 1:
            return self._make(op, data, *inputs, *slopes, None, None)
        if len(inputs) == 2 and slopes[0] is not CUT and slopes[1] is not CUT:
            return self._make(op, data, inputs[0], slopes[0], inputs[1], slopes[1])
        out = self._leaf(data)
        out._kind = Recipe(op, tuple(map(out._as_node, inputs)), tuple(slopes))
        return out

    def leaf(self, v: Node, data: Any) -> None:  # noqa: D102
        if v.many:
            v.filled(data)  # type: ignore[attr-defined]
        else:
            v._data = number(data)

    def detach(self, v: Node) -> Node:  # noqa: D102
        return v.detached() if v.many else self._leaf(number_of(v))  # type: ignore[attr-defined]

    def _leaf(self, data: float) -> Node:
        return self._make(None, data, None, None, None, None)


# --- the quick road --------------------------------------------------------------------------------------------------


def spelt_out(op: Op, *, reflected: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Value]]:
    """Marks a method that spells out an op, for what it can do: None and an AttributeError mean the general road."""

    def mark(quick: Callable[..., Any]) -> Callable[..., Value]:
        def of_one(self: Value) -> Value:
            if not modes.active:
                try:
                    return quick(self)  # type: ignore[no-any-return]
                except AttributeError:
                    pass
            return apply(op, self)

        def of_two(self: Value, other: Any) -> Value:
            if not modes.active:
                try:
                    out: Value | None = quick(self, other)
                    if out is not None:
                        return out
                except AttributeError:
                    pass
            return apply(op, other, self) if reflected else apply(op, self, other)

        return wraps(quick)(of_one if op.arity == 1 else of_two)

    return mark


def plain(x: Any) -> Any:
    """A constant as a float, if nothing about it or the mode we are in needs the general road."""
    if modes.active:
        return None
    if x.__class__ is float:
        return x
    return number(x) if x.__class__ is int else None
