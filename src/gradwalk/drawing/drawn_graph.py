"""What a drawing is of: walk's graph, and beside it the nodes it was taken from, gradwalk's own or anyone's.

Nothing is asked of a node but its operands; data, gradient, label, op and local derivatives are taken where they are
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gradwalk import walk
from gradwalk.drawing.text import clean, cut, shown
from gradwalk.errors import BackwardError, GraphError
from gradwalk.walk import Graph, stable_operands

__all__ = ["DrawnGraph", "checked_roots", "count", "drawn_graph", "nodes_below"]

_LONGEST_NAME = 40  # characters of an operand's label in the words about another node


@dataclass(frozen=True)
class DrawnGraph:
    """A graph below some roots, the Values it was taken from, by id, and names for those that have no label.

    >>> a = Value(3.0, label="a")
    >>> drawn = drawn_graph([a * a + 1])
    >>> [node.operands for node in drawn.graph.nodes], drawn.roots, drawn.values[0] is a
    ([(), (0, 0), (), (1, 2)], [3], True)
    """

    graph: Graph
    values: list[Any]
    roots: list[int]
    names: Mapping[int, str] = field(default_factory=dict)
    walked: bool = False  # whether a backward pass has left any gradient

    @cached_property
    def operands(self) -> list[tuple[int, ...]]:
        """The ids of each node's operands."""
        return [node.operands for node in self.graph.nodes]

    def label(self, i: int) -> str:
        """A node's own label, or the name it was given here.

        >>> a = Value(3.0)
        >>> drawn_graph([a + 1], {id(a): "w"}).label(0)
        'w'
        """
        return clean(self.graph.nodes[i].label or self.names.get(id(self.values[i]), ""))

    def op(self, i: int) -> str:
        """The op that made a node, or its class if it does not say; nothing for a leaf.

        >>> drawn_graph([Value(3.0).exp()]).op(1)
        'exp'
        """
        node = self.graph.nodes[i]
        return clean(node.op or type(self.values[i]).__name__) if node.operands else ""

    def data(self, i: int) -> Any:
        """What a node holds, be it a number or not.

        >>> drawn_graph([Value(3.0)]).data(0)
        3.0
        """
        v = self.values[i]
        return v.array if getattr(v, "many", False) is True else getattr(v, "data", None)

    def shape(self, i: int) -> str:
        """The shape of a tensor, as its lines carry it; nothing for one number.

        >>> drawn_graph([gradwalk.Tensor([[1.0, 2.0]])]).shape(0)
        '(1, 2)'
        """
        shape = getattr(self.values[i], "shape", ())
        return str(shape) if shape else ""

    def grad(self, i: int) -> Any:
        """A node's gradient; None where none can be or none has arrived, which is not the same as 0.

        >>> root = Value(3.0) * 2
        >>> drawn_graph([root]).grad(0)
        >>> root.backward()
        >>> drawn_graph([root]).grad(0)
        2.0
        """
        return gradient_of(self.values[i]) if self.walked and not self.graph.nodes[i].constant else None

    def name(self, i: int) -> str:
        """What to call a node in words: its label, or else its number.

        >>> drawn = drawn_graph([Value(3.0, label="a") * 2])
        >>> drawn.name(0), drawn.name(2)
        ('a', '6')
        """
        return cut(self.label(i), _LONGEST_NAME) or shown(self.data(i))


def drawn_graph(roots: Sequence[Any], names: Mapping[int, str] | None = None, *, measured: bool = False) -> DrawnGraph:
    """The graph below `roots`; `names` gives names, by id, to nodes that have no label.

    With `measured`, slopes that only a `_backward` made by hand knows are there too, where it lets itself be measured.

    >>> a = Value(3.0)
    >>> len(drawn_graph([a + 1, a * 2]).graph.nodes)
    5
    """
    values = nodes_below(roots)
    graph = walk.graph_from_nodes(values, roots, to_walk=False)
    if measured and len(roots) == 1 and any(node.handmade for node in graph.nodes):
        try:
            graph = walk.measured_graph(values)
        except GraphError:
            pass  # it can be looked at all the same
    places = {id(value): i for i, value in enumerate(values)}
    walked = any(_not_zero(gradient_of(value)) for value in values)
    return DrawnGraph(graph, values, [places[id(root)] for root in roots], names or {}, walked)


def gradient_of(value: Any) -> Any:
    """A node's gradient; None if it has none, or let it go on the way back through a large graph."""
    try:
        return getattr(value, "grad", None)
    except BackwardError:
        return None


def _not_zero(gradient: Any) -> bool:
    if getattr(gradient, "many", False) is True:
        return bool((gradient != 0.0).any().item())
    gradient = getattr(gradient, "data", gradient)
    try:
        return gradient is not None and bool(gradient != 0)
    except Exception:  # a class of someone's own whose comparison raises or gives no truth
        return True


def nodes_below(roots: Sequence[Any]) -> list[Any]:
    """Every node below `roots`, operands first and in the same order every time.

    >>> a = Value(2.0)
    >>> [node.data for node in nodes_below([a + 1, a * 5])]
    [2.0, 1.0, 3.0, 5.0, 10.0]
    """
    if len(roots) == 1:
        return list(walk.topological(roots[0], stable_operands))
    above = object()  # stands for a node that reads all the roots
    return list(walk.topological(above, lambda node: roots if node is above else stable_operands(node)))[:-1]


def count(roots: Sequence[Any], enough: int) -> int:
    """How many nodes there are below `roots`; counting stops at `enough`.

    >>> a = Value(2.0)
    >>> count([a * a + 1], 1000), count([a * a + 1], 2)
    (4, 2)
    """
    seen = {id(root): root for root in roots}  # holds what it has seen, so that no id is used again
    ahead = list(seen.values())
    while ahead and len(seen) < enough:
        for x in walk.operands(ahead.pop()):
            if id(x) not in seen:
                seen[id(x)] = x
                ahead.append(x)
    return min(len(seen), enough)


def checked_roots(thing: Any) -> list[Any]:
    """One node, or the nodes of a list or tuple, as a list; anything else is an error.

    >>> checked_roots(3.0)
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: a drawing is of a Value, a list of Values or a model, not of float: 3.0
    """
    things = list(thing) if isinstance(thing, (list, tuple)) else [thing]
    for node in things:
        if not any(hasattr(node, field) for field in walk.OPERAND_FIELDS):
            kind = type(node).__name__
            raise GraphError(f"a drawing is of a Value, a list of Values or a model, not of {kind}: {node!r:.60}")
    if not things:
        raise GraphError("a drawing is of a Value, a list of Values or a model; the list is empty")
    return list({id(node): node for node in things}.values())
