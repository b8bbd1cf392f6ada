"""Plays a backward walk in any visit order, by the engine's own arithmetic, one event at a time.

A node pushes what it has when its turn comes. What arrives later stays with it: that is how an order goes wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gradwalk.errors import GraphError
from gradwalk.walk.events import Event, Push, Seed, Visit, Words
from gradwalk.walk.graph import Graph, NodeInfo, graph_of
from gradwalk.walk.handmade import Borrowed, Share
from gradwalk.walk.many import Many, kept
from gradwalk.walk.nodes import Node, describe
from gradwalk.walk.orders import topological

__all__ = ["naive_recursion_order"]

Hooks = Mapping[int, list[Callable[[float], Any]]]


# --- playing an order ----------------------------------------------------------------------------------------------


def engine_order(graph: Graph, hooks: Hooks) -> tuple[int, ...]:
    """The nodes as `backward()` visits them: those that were computed, and leaves only where a hook waits.

    What the ops did not take is passed over.
    """
    nodes = graph.nodes

    def flowing(v: NodeInfo) -> list[NodeInfo]:
        return [nodes[x] for x, slope in zip(v.operands, v.slopes, strict=True) if slope is not None or v.handmade]

    order: Iterable[NodeInfo] = nodes
    if any(sum(not nodes[x].constant for x in node.operands) > len(flowing(node)) for node in nodes):
        order = topological(nodes[graph.root], flowing)
    return tuple(node.id for node in reversed(list(order)) if node.operands or node.id in hooks)


def play(
    graph: Graph, order: Iterable[int], seed: float, words: Words, hooks: Hooks, borrowed: Borrowed | None
) -> Iterator[Event]:
    """Seed the root, then visit: each node in its turn pushes to its operands."""
    gradients: list[float | None] = [None] * len(graph.nodes)
    turns = [0] * len(graph.nodes)
    awaited = [dict.fromkeys(consumers) for consumers in graph.consumers]  # those that have not pushed yet, in order
    gradients[graph.root] = seed
    yield Seed(graph.root, seed, words=words)
    for place in order:
        node = graph.nodes[place]
        waiting = tuple(awaited[place])
        for operand in node.operands:
            awaited[operand].pop(place, None)
        turns[place] += 1
        arrived = gradients[place]
        hooked = _through(hooks.get(place, ()), _held(arrived))
        gradients[place] = arrived if hooked is None else hooked
        before_hook = None if hooked is None else _held(arrived)
        many = isinstance(node.data, Many)
        held = (gradients[place], before_hook) if not many else (kept(gradients[place]), kept(before_hook))
        yield Visit(place, held[0], waiting, turns[place], held[1], words=words)
        upstream = _held(gradients[place])
        if gradients[place] is None and many:
            continue  # nothing to push
        for position, operand, share, after in _shares(node, upstream, gradients, borrowed):
            if gradients[place] is None and (share == 0.0 or place not in graph.reached):
                continue  # it has nothing to push; but 0 × inf is nan, and an engine that comes too early pushes that
            local = None if many else node.slopes[position]
            if node.handmade and borrowed is not None:
                local = share / upstream if upstream and math.isfinite(upstream) else None
            numbers: tuple[Any, ...] = (upstream, local, share, gradients[operand], after)
            if many:
                numbers = tuple(map(kept, numbers))
            yield Push(place, operand, position, *numbers, words=words)
            gradients[operand] = after


def _held(gradient: float | None) -> float:
    """What the engine's .grad holds: 0.0 where nothing has arrived."""
    return 0.0 if gradient is None else gradient


def _through(hooks: Iterable[Callable[[float], Any]], gradient: float) -> float | None:
    """What hooks make of a gradient; None if they leave it as it is."""
    replaced = None
    for hook in hooks:
        now = hook(gradient)
        if now is not None:
            replaced = gradient = now if hasattr(now, "shape") else float(now)
    return replaced


def _shares(
    node: NodeInfo, upstream: float, gradients: list[float | None], borrowed: Borrowed | None
) -> Iterator[Share]:
    """What a node pushes where; the sum begins at 0.0, as the engine's does."""
    if node.handmade and borrowed is not None:
        yield from borrowed.run(node.id, upstream, gradients)
        return
    for position, operand in enumerate(node.operands):
        slope = node.slopes[position]
        if slope is not None:
            share: Any = slope * upstream
            held = gradients[operand]
            if hasattr(share, "shape"):  # of a tensor: slopes are maps, which know how to add as well
                yield position, operand, share, share if held is None else slope.plus(held, share)  # type: ignore
            else:
                yield position, operand, share, _held(held) + share


# --- reading an order ----------------------------------------------------------------------------------------------


def resolve(order: Iterable[Any], graph: Graph, nodes: Iterable[Node], *, allow_repeats: bool) -> tuple[int, ...]:
    """The ids of an order given as ids, labels or Values; an error names what it misses, repeats or cannot find."""
    if isinstance(order, (str, bytes)) or not hasattr(order, "__iter__"):
        raise GraphError(f"an order is a list of ids, labels or Values, not {order!r}")
    by_identity = {id(node): place for place, node in enumerate(nodes)}
    by_name: dict[str, list[int]] = {}
    for node in graph.nodes:
        if not node.constant:
            by_name.setdefault(node.name, []).append(node.id)
    found = tuple(_find(key, graph, by_identity, by_name) for key in order)
    for place in found:
        if graph.nodes[place].constant:
            raise GraphError(f"{called(graph.nodes[place])} is a constant: no gradient flows to it; leave it out")
    repeated = [graph.nodes[place] for place, count in Counter(found).items() if count > 1]
    if repeated and not allow_repeats:
        raise GraphError(
            f"the order lists {_several(repeated)} more than once; list each node once "
            "(in Python, allow_repeats=True shows what a second visit does)"
        )
    listed = set(found)
    missing = [graph.nodes[place] for place in reversed(graph.interior) if place not in listed]
    if missing:
        raise GraphError(f"the order misses {_several(missing)}; only leaves may be left out")
    return found


def _find(key: Any, graph: Graph, by_identity: dict[int, int], by_name: dict[str, list[int]]) -> int:
    if isinstance(key, str):
        match by_name.get(key):
            case None:
                there = _several([node for node in graph.nodes if not node.constant])
                raise GraphError(f"no node is called {key!r}; there are {there}")
            case [place]:
                return place
            case places:
                bearers = _several([graph.nodes[place] for place in places])
                raise GraphError(f"the label {key!r} is ambiguous: {bearers} bear it; use ids instead")
    if id(key) in by_identity:
        return by_identity[id(key)]
    if isinstance(key, bool) or not hasattr(key, "__index__"):
        text = describe(key) if hasattr(key, "data") else repr(key)
        raise GraphError(f"{text} is not a node of this graph; an order lists its ids, labels or Values")
    place = key.__index__()
    if not 0 <= place < len(graph.nodes):
        raise GraphError(f"the graph has no node {place}: ids go from 0 to {len(graph.nodes) - 1}")
    return int(place)


def called(node: NodeInfo) -> str:
    return f"{node.name} (id {node.id})"


def _several(nodes: list[NodeInfo], most: int = 8) -> str:
    more = f" and {len(nodes) - most} more" if len(nodes) > most else ""
    return ", ".join(map(called, nodes[:most])) + more


# --- what naive recursion visits -------------------------------------------------------------------------------------


def naive_recursion_order(root: Node, limit: int = 100_000) -> tuple[int, ...]:
    """The visits of a backward that pushes and then calls itself on each operand: every path, not every node.

    It grows with the number of paths, so beyond `limit` visits it is refused.

    >>> a = Value(3.0, label="a")
    >>> b = a * 2
    >>> c = b * b + b
    >>> order = walk.naive_recursion_order(c)
    >>> order
    (4, 3, 2, 0, 2, 0, 2, 0)
    >>> walk.record(c, order, allow_repeats=True).grads[0]  # 26 would be right
    78.0
    """
    graph = root if isinstance(root, Graph) else graph_of(root)
    order: list[int] = []
    ahead = [graph.root]
    while ahead:
        place = ahead.pop()
        order.append(place)
        if len(order) > limit:
            raise GraphError(
                f"naive recursion walks every path of this graph of {len(graph.nodes)} nodes: more than {limit} "
                "visits; take a smaller graph, or raise limit="
            )
        ahead.extend(x for x in reversed(graph.nodes[place].operands) if not graph.nodes[x].constant)
    return tuple(order)
