"""The order of a walk over any graph of nodes, ours or a learner's own.

Nothing here recurses, so depth costs memory and never the stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gradwalk.errors import GraphError
from gradwalk.walk.nodes import Node, describe, operands

__all__ = ["cycle", "topological"]


def topological(root: Node, operands: Callable[[Node], Iterable[Node]] = operands) -> Iterator[Node]:
    """Every node that `root` depends on, operands before the nodes that use them, `root` last.

    Reversed, it is the order of the backward walk: each node comes after all of its consumers.

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
    """The error for a graph in which `node` depends on itself.

    >>> str(cycle(Value(2.0, label="a")))[:44]
    'the graph has a cycle: a=2 depends on itself'
    """
    return GraphError(
        f"the graph has a cycle: {describe(node)} depends on itself, so no order visits it after all its consumers; "
        "give each result a node of its own instead of pointing an old node at a new one"
    )
