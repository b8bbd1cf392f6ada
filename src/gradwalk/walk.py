"""Orders and walks over any graph of nodes, ours or a learner's own.

A walk needs one fact about a node: which nodes it was computed from. `operands` finds that in a gradwalk `Value`
and in the usual home-made classes. Nothing here recurses, so depth costs memory and never the stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gradwalk.errors import GraphError

__all__ = ["Push", "Seed", "Visit", "backward_steps", "describe", "formula", "operands", "short", "topological"]

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


def topological(root: Node, operands: Callable[[Node], Iterable[Node]] = operands) -> Iterator[Node]:
    """Every node that `root` depends on, operands before the nodes that use them, `root` last.

    Reversed, it is the order of the backward walk: each node comes after all of its consumers.

    >>> from gradwalk import Value
    >>> from gradwalk.walk import topological
    >>> a = Value(2.0, label="a"); b = a + 1; c = a * 3; d = b * c
    >>> [node.data for node in topological(d)]
    [2.0, 1.0, 3.0, 3.0, 6.0, 18.0]
    """
    entered, left = {id(root)}, set()
    path = [(root, iter(operands(root)))]
    while path:
        node, ahead = path[-1]
        for operand in ahead:
            if id(operand) not in entered:
                entered.add(id(operand))
                path.append((operand, iter(operands(operand))))
                break
            if id(operand) not in left:
                raise cycle(operand)
        else:
            path.pop()
            left.add(id(node))
            yield node


def cycle(node: Node) -> GraphError:
    """The error for a graph in which `node` depends on itself."""
    return GraphError(
        f"the graph has a cycle: {describe(node)} depends on itself, so no order visits it after all its consumers; "
        "give each result a node of its own instead of pointing an old node at a new one"
    )


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
    if op[:1].isalpha():
        return f"{op}({', '.join(operands)})"
    return f" {op} ".join(operands) if len(operands) > 1 else f"{operands[0]}{op}"


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
    return f"{x:g}" if isinstance(x, (int, float)) else repr(x)


# --- the backward walk, told step by step ------------------------------------------------------------------------


@dataclass(frozen=True)
class Seed:
    """The root's gradient with respect to itself is set.

    >>> from gradwalk import Value, walk
    >>> next(walk.backward_steps(Value(3.0) * 2)).gradient
    1.0
    """

    node: Node
    gradient: float


@dataclass(frozen=True)
class Visit:
    """All consumers of a node have pushed: its gradient is final, and it is its turn.

    >>> from gradwalk import Value, walk
    >>> [step.gradient for step in walk.backward_steps(Value(3.0) * 2) if isinstance(step, walk.Visit)]
    [1.0, 2.0]
    """

    node: Node
    gradient: float


@dataclass(frozen=True)
class Push:
    """A node adds `upstream × local` to one operand's gradient; `before` is None for a first contribution.

    >>> from gradwalk import Value, walk
    >>> a = Value(3.0)
    >>> [(s.before, s.contribution, s.after) for s in walk.backward_steps(a * a) if isinstance(s, walk.Push)]
    [(None, 3.0, 3.0), (3.0, 3.0, 6.0)]
    """

    node: Node
    operand: Node
    upstream: float
    local: float
    contribution: float
    before: float | None
    after: float


def backward_steps(root: Node) -> Iterator[Seed | Visit | Push]:
    """What `root.backward()` does, as events, without touching any `.grad`.

    >>> from gradwalk import Value, walk
    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> for step in walk.backward_steps(a * b):
    ...     if isinstance(step, walk.Push):
    ...         print(f"{step.operand.label}.grad += {step.upstream:g} × {step.local:g}")
    a.grad += 1 × -3
    b.grad += 1 × 2
    """
    gradients: dict[Node, float] = {root: 1.0}
    yield Seed(root, 1.0)
    for node in reversed(list(topological(root))):
        upstream = gradients.get(node)
        if upstream is None:
            continue  # a constant: nothing was pushed to it
        yield Visit(node, upstream)
        for operand, local in zip(node.operands, node.local_derivatives, strict=True):
            if local is None:
                continue
            before = gradients.get(operand)
            contribution = upstream * local
            after = contribution if before is None else before + contribution
            gradients[operand] = after
            yield Push(node, operand, upstream, local, contribution, before, after)
