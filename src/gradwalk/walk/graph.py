"""A graph as plain data: every node a row of ids, texts and numbers, free of the Values it was taken from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gradwalk.errors import GraphError
from gradwalk.ops import CUT, Op
from gradwalk.walk import json_fields
from gradwalk.walk.formatting import readable
from gradwalk.walk.many import MAP, Numbers, checked_size, kept
from gradwalk.walk.nodes import Node, describe, stable_operands
from gradwalk.walk.orders import topological

__all__ = ["Graph", "NodeInfo", "graph_from_nodes", "graph_of"]


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """One node of a recorded graph. Operands are ids, repeats kept; slopes are the local derivatives beside them.

    A slope is None towards a constant, and towards an operand that the op did not take (`ops.CUT`). A node is a leaf if
    it was given rather than computed, and a constant if it was given as a bare number, so that no gradient flows to it.
    `handmade` marks a node with a `_backward` of its own: its
    slopes are as measured on the way, None where that was not possible. Of a tensor, `data` is `Many` numbers, and the
    slope of its op is a map (`MAP`).

    >>> a = Value(3.0, label="a")
    >>> graph = walk.graph_of(a * 2)
    >>> [(node.id, node.name, node.leaf, node.constant) for node in graph.nodes]
    [(0, 'a', True, False), (1, '2', False, True), (2, 'n2', False, False)]
    >>> graph.nodes[2].op, graph.nodes[2].operands, graph.nodes[2].slopes
    ('*', (0, 1), (2.0, None))
    """

    id: int
    label: str
    name: str  # the label, or a name made up for a node without one; the number of a constant
    op: str
    operands: tuple[int, ...]
    slopes: tuple[float | None, ...]
    constant: bool
    leaf: bool
    handmade: bool
    data: Numbers

    def to_dict(self) -> dict[str, Any]:
        """The node as JSON takes it.

        >>> walk.graph_of(Value(float("inf"), label="a")).nodes[0].to_dict()["data"]
        'inf'
        """
        return {name: json_fields.encoded(getattr(self, name)) for name in _NODE_FIELDS}


_NODE_FIELDS = {
    "id": json_fields.whole,
    "label": json_fields.text,
    "name": json_fields.text,
    "op": json_fields.text,
    "operands": json_fields.many(json_fields.whole),
    "slopes": json_fields.many(json_fields.slope),
    "constant": json_fields.truth,
    "leaf": json_fields.truth,
    "handmade": json_fields.truth,
    "data": json_fields.number,
}


@dataclass(frozen=True)
class Graph:
    """All nodes that a root depends on, operands before the nodes that use them; a node's id is its place.

    >>> a = Value(3.0, label="a")
    >>> graph = walk.graph_of(a * a + 1)
    >>> len(graph.nodes), graph.root, graph.consumers[0], graph.interior
    (4, 3, (1,), (1, 3))
    """

    nodes: tuple[NodeInfo, ...]
    root: int

    @cached_property
    def interior(self) -> tuple[int, ...]:
        """The ids of the nodes that were computed, operands first.

        >>> walk.graph_of(Value(3.0) * 2).interior
        (2,)
        """
        return tuple(node.id for node in self.nodes if node.operands)

    @cached_property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """For each node the ids of those that push to it, each once, in order.

        >>> a = Value(3.0)
        >>> walk.graph_of((a + a) * a).consumers
        ((1, 2), (2,), ())
        """
        found: list[dict[int, None]] = [{} for _ in self.nodes]
        for node in reversed(self.nodes):
            if node.id == self.root or found[node.id]:  # else no gradient comes to it, and it pushes none
                for operand, slope in zip(node.operands, node.slopes, strict=True):
                    if slope is not None or node.handmade:
                        found[operand][node.id] = None
        return tuple(tuple(reversed(ids)) for ids in found)

    @cached_property
    def reached(self) -> frozenset[int]:
        """The ids of the nodes that a gradient can come to from the root: not of constants, nor of what was not taken.

        >>> a, b = Value(3.0), Value(4.0)
        >>> graph = walk.graph_of(gradwalk.where(1.0, a * 2, b * 3))
        >>> [node.name for node in graph.nodes if not node.constant and node.id not in graph.reached]
        ['n4', 'n6']
        """
        return frozenset([self.root, *(i for i, users in enumerate(self.consumers) if users)])

    def plain(self) -> Graph:
        """The graph as data alone: in place of the maps that take gradients back through tensors, `MAP`.

        >>> walk.graph_of(gradwalk.Tensor([2.0]).exp()).plain().nodes[1].slopes
        (MAP,)
        """
        if all(slope is None or isinstance(slope, (int, float)) for node in self.nodes for slope in node.slopes):
            return self
        rows = (
            replace(node, slopes=tuple(x if x is None or isinstance(x, (int, float)) else MAP for x in node.slopes))
            for node in self.nodes
        )
        return Graph(tuple(rows), self.root)

    def to_dict(self) -> dict[str, Any]:
        """The graph as JSON takes it.

        >>> walk.graph_of(Value(3.0) * 2).to_dict()["root"]
        2
        """
        return {"root": self.root, "nodes": [node.to_dict() for node in self.nodes]}


def graph_of(root: Node) -> Graph:
    """The graph below `root` as plain data; ids are places in `topological(root)`.

    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> [node.name for node in walk.graph_of(a * b).nodes]
    ['a', 'b', 'n2']
    """
    return graph_from_nodes(list(topological(root)))


def graph_from_nodes(nodes: Sequence[Node], roots: Sequence[Node] = (), *, to_walk: bool = True) -> Graph:
    """The graph of nodes that are already in topological order; `roots` if there are more than the last of them.

    A graph that is only looked at, not walked, may hold anything as data (nan here) and nodes without a slope.

    >>> a = Value(2.0)
    >>> [node.constant for node in walk.graph_from_nodes([a, a * a]).nodes]
    [False, False]
    """
    if to_walk:
        checked_size([node.shape for node in nodes if getattr(node, "many", False) is True])
    places = {id(node): place for place, node in enumerate(nodes)}
    below = [tuple(places[id(x)] for x in stable_operands(node)) for node in nodes]
    slopes = [known_slopes(node, len(ids), to_walk) for node, ids in zip(nodes, below, strict=True)]
    reached = {len(nodes) - 1, *(places[id(root)] for root in roots)}  # where a gradient may arrive: not at constants
    for ids, known in zip(below, slopes, strict=True):
        reached.update(ids if known is None else (x for x, slope in zip(ids, known, strict=True) if slope is not None))
    labels = [str(getattr(node, "label", "") or "") for node in nodes]
    taken = set(labels)
    rows = []
    for place, node in enumerate(nodes):
        ids, known, data = below[place], slopes[place], _data(node, to_walk)
        constant = not ids and place not in reached
        made_up = f"n{place}"
        while made_up in taken:
            made_up += "_"
        rows.append(
            NodeInfo(
                id=place,
                label=labels[place],
                name=labels[place] or (readable(data) if constant else made_up),
                op=str(getattr(node, "_op", "") or "") if ids else "",
                operands=ids,
                slopes=(None,) * len(ids) if known is None else tuple(None if x is CUT else x for x in known),
                constant=constant,
                leaf=not ids and not constant,
                handmade=known is None,
                data=data,
            )
        )
    return Graph(tuple(rows), len(nodes) - 1)


def known_slopes(node: Node, count: int, to_walk: bool = True) -> tuple[float | None, ...] | None:
    """The local derivatives towards `count` operands; None for a node whose own `_backward` alone knows them."""
    if not count:
        return ()
    if getattr(node, "many", False) is True:
        return tuple(node.slopes)
    if isinstance(getattr(node, "primitive", None), Op) and node.closure is None:
        # data that was set to a float32 of NumPy's has slopes of that kind, which look like a tensor's
        return tuple(x if x is None or isinstance(x, (int, float)) else float(x) for x in node.local_derivatives)
    if not to_walk or callable(getattr(node, "_backward", None)):
        return None
    raise GraphError(
        f"{describe(node)} cannot be stepped: it knows neither its local derivatives nor a _backward() that pushes "
        "gradients; build it from gradwalk's operations, or give it a _backward"
    )


def _data(node: Node, to_walk: bool) -> Any:
    if getattr(node, "many", False) is True:
        return kept(node.array) if to_walk else math.nan
    data = getattr(node, "data", None)
    try:
        return float(data)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        if not to_walk:
            return math.nan
        kind = type(data).__name__
        raise GraphError(f"a walk is over nodes that hold one number as .data, not {kind}: {describe(node)}") from None


# --- back from JSON ------------------------------------------------------------------------------------------------


def graph_from_dict(record: Any) -> Graph:
    found = json_fields.decoded(
        record, {"root": json_fields.whole, "nodes": json_fields.many(lambda node: node)}, "the graph"
    )
    nodes = []
    for place, row in enumerate(found["nodes"]):
        node = NodeInfo(**json_fields.decoded(row, _NODE_FIELDS, f"node {place}"))
        if node.id != place:
            raise GraphError(f"node {place} has the id {node.id}: ids count nodes from 0")
        if any(operand >= place for operand in node.operands):
            raise GraphError(f"node {place} has the operands {list(node.operands)}: operands come before their node")
        if len(node.slopes) != len(node.operands):
            raise GraphError(f"node {place} has {len(node.operands)} operands and {len(node.slopes)} slopes")
        if (node.constant or node.leaf) == bool(node.operands) or (node.constant and node.leaf):
            raise GraphError(f"node {place} must have operands, or be a leaf, or a constant: exactly one of the three")
        nodes.append(node)
    if found["root"] >= len(nodes):
        raise GraphError(f"the graph has {len(nodes)} nodes and no node {found['root']}, which should be its root")
    return Graph(tuple(nodes), found["root"])
