"""The nodes of a graph in order, and what flows between them: the quick way, for gradwalk's own nodes only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradwalk.engine import Value


def ordered(root: Value) -> list[Value]:
    """Every node that gradient flows to from `root`, operands first, as quickly as it can be had.

    >>> [v.data for v in ordered(Value(2.0) * 3 + Value(1.0))]
    [2.0, 6.0, 1.0, 7.0]
    """
    order: list[Value] = []
    seen: set[int] = set()
    stack: list[Any] = [root]
    pop, push, done, see = stack.pop, stack.append, order.append, seen.add
    while stack:
        v = pop()
        if v is None:  # everything the next node depends on is in the order
            done(pop())
            continue
        if id(v) in seen:
            continue
        see(id(v))
        slopes = v.slopes
        if not slopes:
            done(v)
            continue
        push(v)
        push(None)
        if len(slopes) == 2 and slopes != (None, None):  # nearly all, spelt out for speed
            (a, b), (da, db) = v.inputs, slopes
            if db is not None and id(b) not in seen:
                push(b)
            if da is not None and id(a) not in seen:
                push(a)
        else:
            stack.extend([x for x, _ in edges(v) if id(x) not in seen][::-1])
    return order


def edges(v: Value) -> Iterator[tuple[Value, float | None]]:
    """The operands that gradient flows to, each with its slope; None from a `_backward` of the user's own.

    >>> [(x.data, slope) for x, slope in edges(Value(3.0) * 2.0)]
    [(3.0, 2.0)]
    """
    by_hand = v.closure is not None or v.primitive is None
    for x, slope in zip(v.inputs, v.slopes, strict=True):
        if slope is not None or (by_hand and isinstance(x, Value)):
            yield x, None if by_hand else slope


def first_operand(v: Value) -> Value:
    """The first operand that is no constant; the node itself, if there is none.

    >>> first_operand(1.0 - Value(4.0)).data
    4.0
    """
    return next((x for x in v.inputs if isinstance(x, Value)), v)
