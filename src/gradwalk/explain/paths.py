"""Counting the paths from a root to its leaves, and finding them where they are few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwalk import walk
from gradwalk.errors import GraphError
from gradwalk.explain.explanation import ENDLESS, Explanation, LeafGradient, Path, Share

if TYPE_CHECKING:
    from gradwalk.walk import Graph

__all__ = ["explain"]

MOST_PATHS = 64  # of one leaf: more are counted, and grouped by the nodes that use the leaf
MOST_LEAVES = 24  # of one explanation

Uses = list[list[tuple[int, int, float]]]  # for each node: who uses it, as which operand, with which slope


def explain(root: Any, leaf: Any = None, index: Any = None) -> Explanation:
    """Why the gradient of each leaf (or of one node, given as a Value or by its label) is what it is.

    Each number of a tensor has its own gradient; `index` says which is meant: `explain(loss, W, index=(0, 3))`.

    >>> values = gradwalk.program("b = a + 1; c = a*3; d = b*c", a=2)
    >>> print(gradwalk.explain(values.root))
    a.grad = 15: through b 6 + through c 9 = 15
      d → b → a: 6 × 1 = 6
      d → c → a: 3 × 3 = 9
    """
    if not hasattr(root, "data") or not hasattr(root, "backward"):
        raise GraphError(f"explain takes the Value at the end of a graph, not {type(root).__name__}: {root!r:.60}")
    if getattr(root, "many", False) is True:
        return root.explain(leaf, index)  # type: ignore[no-any-return]
    if index is not None:
        raise GraphError("an index is for the numbers of a tensor, and this graph is of Values")
    nodes = list(walk.topological(root))
    graph = walk.measured_graph(nodes)
    for node in graph.nodes:
        if node.handmade and None in node.slopes:
            raise GraphError(
                f"{node.name} has a _backward of its own that does not tell its slopes, so its paths have no product; "
                "define the operation with @gradwalk.op"
            )
    uses: Uses = [[] for _ in graph.nodes]
    for node in graph.nodes:
        for position, (operand, slope) in enumerate(zip(node.operands, node.slopes, strict=True)):
            if slope is not None:
                uses[operand].append((node.id, position, slope))
    gradients, counts = _from_the_root(graph)
    if leaf is None:
        wanted = [node.id for node in graph.nodes if node.leaf and counts[node.id]] or [graph.root]
    else:
        wanted = [_found(leaf, nodes, graph)]
    told = []
    for i in wanted[:MOST_LEAVES]:
        shares = tuple(
            Share(graph.nodes[c], position, gradients[c], slope) for c, position, slope in uses[i] if counts[c]
        )
        paths = _paths(graph, uses, i) if counts[i] <= MOST_PATHS else ()
        told.append(LeafGradient(graph, graph.nodes[i], gradients[i], counts[i], paths, shares))
    hooked = any(getattr(node, "hooks", ()) for node in nodes)
    return Explanation(tuple(told), len(wanted) - len(told), hooked, root)


def _from_the_root(graph: Graph) -> tuple[list[float], list[int]]:
    """The gradient of every node, and how many paths lead to it: one walk for both."""
    gradients, counts = [0.0] * len(graph.nodes), [0] * len(graph.nodes)
    gradients[graph.root], counts[graph.root] = 1.0, 1
    for node in reversed(graph.nodes):
        for operand, slope in zip(node.operands, node.slopes, strict=True):
            if slope is not None and counts[node.id]:
                gradients[operand] += gradients[node.id] * slope
                counts[operand] = min(counts[operand] + counts[node.id], ENDLESS)
    return gradients, counts


def _paths(graph: Graph, uses: Uses, leaf: int) -> tuple[Path, ...]:
    """All paths to a leaf, in the order of the operands; found upwards, where every step leads to the root."""
    found: list[tuple[tuple[int, int], ...]] = []
    ahead: list[tuple[int, Any]] = [(leaf, None)]  # a node, and the way from there as a linked list
    while ahead:
        node, way = ahead.pop()
        if node == graph.root:
            edges = []
            while way is not None:
                edge, way = way
                edges.append(edge)
            found.append(tuple(edges))
        else:
            ahead += [(above, ((above, position), way)) for above, position, _ in uses[node]]
    return tuple(Path(graph, edges) for edges in sorted(found, key=lambda edges: [position for _, position in edges]))


def _found(leaf: Any, nodes: Sequence[Any], graph: Graph) -> int:
    if isinstance(leaf, str):
        ids = [node.id for node in graph.nodes if node.label == leaf]
        if len(ids) > 1:
            raise GraphError(f"{len(ids)} nodes are labelled {leaf!r}; give the Value itself")
        what = f"no node is labelled {leaf!r}"
    else:
        ids = [i for i, node in enumerate(nodes) if node is leaf]
        what = f"{walk.short(leaf)} is not part of the graph"
    if not ids:
        labels = sorted({node.label for node in graph.nodes if node.label})
        some = ", ".join(labels[:8]) + (" …" if len(labels) > 8 else "")
        raise GraphError(f"{what}, so nothing flows to it" + (f"; there are {some}" if labels else ""))
    if graph.nodes[ids[0]].constant:
        raise GraphError(f"{walk.readable(graph.nodes[ids[0]].data)} is a constant: no gradient flows to it")
    return ids[0]
