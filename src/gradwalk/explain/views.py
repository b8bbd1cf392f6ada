"""A graph as the views take it: its recording, and where its cards stand, in ranks and tracks.

In a walk over tensors, numbers that stand together travel as heat maps: colours, numbers and words for them are made
here, once for each array, and the events point at them.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypedDict

from gradwalk import walk
from gradwalk.errors import GraphError
from gradwalk.layout import Layout, layout_of
from gradwalk.walk.heat_maps import heat_map, short, spread_of
from gradwalk.walk.json_fields import encoded
from gradwalk.walk.many import MAP, Many

if TYPE_CHECKING:
    from gradwalk.walk import Graph, Recording

__all__ = ["MOST_NODES", "HeatMap", "TensorView", "map_of", "names_of", "recorded", "tensor_view", "view_of"]

MOST_NODES = 100  # cards that can still be found on a screen
LONGEST_NAME = 80  # characters of a label that travel; a card shows fewer
MOST_EXACT = 1024  # numbers of an array that travel with every digit; of larger ones the colours alone


def recorded(root: Any, what: str = "a walk", *, tensors: bool = True) -> Recording:
    """The recording of a graph that is small enough to be looked at, card by card; of Values alone without `tensors`.

    >>> len(recorded(Value(2.0) * 3).events)
    4
    >>> chain = Value(1.0)
    >>> for _ in range(100):
    ...     chain = chain.tanh()
    >>> recorded(chain)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradwalk.errors.GraphError: the graph has 101 nodes, and a walk shows up to 100; take a part of it ...
    """
    if not hasattr(root, "data") or not hasattr(root, "backward"):
        raise GraphError(
            f"{what} is over the Value at the end of a graph, not over {type(root).__name__}: {root!r:.60}"
        )
    if not tensors and getattr(root, "many", False) is True:
        raise GraphError(
            f"{what} is for Values, and this is a tensor; give it one of its numbers, "
            "gradwalk.explain(loss, W, index=(0, 3)).root, or walk the tensors in their own order: "
            "gradwalk.walk_widget(loss)"
        )
    count = sum(1 for node in walk.graph_of(root).nodes if not node.constant)
    if count > MOST_NODES:
        raise GraphError(
            f"the graph has {count:,} nodes, and {what} shows up to {MOST_NODES}; take a part of it (a node nearer "
            "to the leaves, or fewer samples), or draw it whole: "
            'gradwalk.draw(root).save("graph.html"), gradwalk.spy(root)'
        )
    return walk.record(root)


def view_of(recording: Recording) -> dict[str, Any]:
    """The recording as plain data, less what no view reads, and the layout of its graph.

    >>> scene = view_of(recorded(Value(2.0, label="a") * 3))
    >>> sorted(scene), scene["layout"]["spots"]
    (['layout', 'recording'], {'0': [0, 0.0], '2': [1, 0.0]})
    """
    if any(isinstance(node.data, Many) for node in recording.graph.nodes):
        return {**tensor_view(recording)}
    whole = json.loads(recording.to_json())
    for node in whole["graph"]["nodes"]:
        node.update(label=node["label"][:LONGEST_NAME], name=node["name"][:LONGEST_NAME])
    events = [{key: x for key, x in event.items() if key not in ("formula", "latex")} for event in whole["events"]]
    return {"recording": {"graph": whole["graph"], "events": events}, "layout": layout_of(recording.graph)}


def names_of(graph: Graph) -> dict[str, int]:
    """The ids of all nodes but constants by a name that no other has: of two labelled alike, one gets its id behind it.

    >>> names_of(walk.graph_of(Value(1.0, label="a") + Value(2.0, label="a")))
    {'a': 0, 'a (id 1)': 1, 'n2': 2}
    """
    found: dict[str, int] = {}
    for node in graph.nodes:
        if not node.constant:
            name = node.name
            while name in found:
                name = f"{name} (id {node.id})"
            found[name] = node.id
    return found


# --- tensors ---------------------------------------------------------------------------------------------------------


class HeatMap(TypedDict):
    """An array as a view draws it: a step of the scale for each cell, and numbers where there are few of them.

    >>> x = gradwalk.Tensor([[1.0, -2.0], [0.0, 4.0]], label="x")
    >>> found = view_of(recorded(x.sum()))["maps"][0]
    >>> found["steps"], found["texts"], found["least"], found["least_at"]
    ([[2, -3], [0, 5]], [['1', '−2'], ['0', '4']], -2.0, [0, 1])
    """

    shape: list[int]
    every: list[int]  # of how many rows, and of how many columns, one is shown
    block: int  # rows, where blocks stand below each other; else 0
    steps: list[list[int]]
    texts: list[list[str]]  # none where there are too many to be read
    numbers: list[list[Any]]  # none where there are too many to travel
    reach: str  # how far the scale goes on both sides of 0
    least: Any  # of the finite numbers, if there are any
    least_at: list[int]
    greatest: Any
    greatest_at: list[int]
    below: int  # how many are below 0
    zeros: int
    odd: dict[str, int]  # how many are nan, inf, −inf


class TensorView(TypedDict):
    """A walk over tensors: in place of arrays, {"map": i} points at one of `maps`.

    `spreads` names the edges, by "node:position", that repeat numbers ("fan") or make many into few ("funnel").

    >>> x = gradwalk.Tensor([1.0, 2.0], label="x")
    >>> scene = tensor_view(recorded((x * 3.0).sum()))
    >>> scene["recording"]["graph"]["nodes"][0]["data"], scene["spreads"]
    ({'map': 0}, {'3:0': 'funnel'})
    """

    recording: dict[str, Any]
    layout: Layout
    maps: list[HeatMap]
    spreads: dict[str, str]


def tensor_view(recording: Recording) -> TensorView:
    """A recording of tensors as plain data.

    >>> x = gradwalk.Tensor([1.0, 2.0], label="x")
    >>> events = tensor_view(recorded((x * x).sum()))["recording"]["events"]
    >>> [event["kind"] for event in events].count("push")
    3
    """
    maps: dict[Many, int] = {}

    def sent(x: Any) -> Any:
        if isinstance(x, Many) and x.shape:
            return {"map": maps.setdefault(x, len(maps))}
        if isinstance(x, Many):
            return encoded(x.numbers[0])
        return [sent(part) for part in x] if isinstance(x, tuple) else None if x is MAP else encoded(x)

    def row(thing: Any) -> dict[str, Any]:
        return {entry.name: sent(getattr(thing, entry.name)) for entry in fields(thing) if entry.name != "words"}

    nodes = [row(node) for node in recording.graph.nodes]
    for node in nodes:
        node.update(label=node["label"][:LONGEST_NAME], name=node["name"][:LONGEST_NAME])
    events = [
        {"kind": event.kind, **row(event), "formula": event.formula, "sentence": event.sentence, "latex": event.latex}
        for event in recording.events
    ]
    graph = {"root": recording.graph.root, "nodes": nodes}
    return TensorView(
        recording={"graph": graph, "events": events},
        layout=layout_of(recording.graph),
        maps=[map_of(x) for x in maps],
        spreads=_spreads(recording.graph),
    )


def map_of(x: Many) -> HeatMap:
    """An array as a view gets it.

    >>> map_of(Many((2,), (1.0, -1.0)))["steps"]
    [[5, -5]]
    """
    found = heat_map(x)
    if found is None:
        return HeatMap(shape=[*x.shape], every=[1, 1], block=0, steps=[], texts=[], numbers=[], reach="0", least=None,
                       least_at=[], greatest=None, greatest_at=[], below=0, zeros=0, odd={})  # fmt: skip
    (least, least_at), (greatest, greatest_at) = found.ends or ((None, ()), (None, ()))
    few = found.every == (1, 1) and len(x.numbers) <= MOST_EXACT
    return HeatMap(
        shape=[*x.shape],
        every=[*found.every],
        block=found.block,
        steps=[[found.step(number) for number in cells] for cells in found.cells],
        texts=[[short(number) for number in cells] for cells in found.cells] if found.written else [],
        numbers=encoded(found.cells) if few else [],
        reach=found.reach,
        least=least,
        least_at=[*least_at],
        greatest=greatest,
        greatest_at=[*greatest_at],
        below=found.counts[0],
        zeros=found.counts[1],
        odd=found.odd,
    )


def _spreads(graph: Graph) -> dict[str, str]:
    found = {}
    for node in graph.nodes:
        for position, operand in enumerate(node.operands):
            below = graph.nodes[operand]
            before, after = (getattr(x.data, "shape", None) for x in (below, node))
            if before is None or after is None or (below.constant and not before):
                continue  # a plain number needs no sign to be used many times
            if sign := spread_of(node.op, before, after):
                found[f"{node.id}:{position}"] = sign
    return found
