"""A graph as the views take it: its recording, and where its cards stand, in ranks and tracks."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gradwalk import walk
from gradwalk.drawing.ordering import ordered
from gradwalk.drawing.placing import placed
from gradwalk.drawing.ranks import ranks
from gradwalk.errors import GraphError

if TYPE_CHECKING:
    from gradwalk.walk import Graph, Recording

__all__ = ["MOST_NODES", "names_of", "recorded", "scene_of", "spots"]

MOST_NODES = 100  # cards that can still be found on a screen
LONGEST_NAME = 80  # characters of a label that travel; a card shows fewer
CARD, GAP = 0.8, 0.2  # of a track


def recorded(root: Any, what: str = "a walk") -> Recording:
    """The recording of a graph that is small enough to be looked at, card by card.

    >>> from gradwalk import Value
    >>> from gradwalk.notebook.scene import recorded
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
    count = sum(1 for node in walk.graph_of(root).nodes if not node.constant)
    if count > MOST_NODES:
        raise GraphError(
            f"the graph has {count:,} nodes, and {what} shows up to {MOST_NODES}; take a part of it (a node nearer "
            "to the leaves, or fewer samples), or draw it whole: "
            'gradwalk.draw(root).save("graph.html"), gradwalk.spy(root)'
        )
    return walk.record(root)


def scene_of(recording: Recording) -> dict[str, Any]:
    """The recording as plain data, less what no view reads, and the layout of its graph.

    >>> from gradwalk import Value
    >>> from gradwalk.notebook.scene import recorded, scene_of
    >>> scene = scene_of(recorded(Value(2.0, label="a") * 3))
    >>> sorted(scene), scene["layout"]["spots"]
    (['layout', 'recording'], {'0': [0, 0.0], '2': [1, 0.0]})
    """
    whole = json.loads(recording.to_json())
    for node in whole["graph"]["nodes"]:
        node.update(label=node["label"][:LONGEST_NAME], name=node["name"][:LONGEST_NAME])
    events = [{key: x for key, x in event.items() if key not in ("formula", "latex")} for event in whole["events"]]
    return {"recording": {"graph": whole["graph"], "events": events}, "layout": spots(recording.graph)}


def spots(graph: Graph) -> dict[str, Any]:
    """Where each card stands (rank, track), and where a line that passes ranks bends, by its two ends.

    >>> from gradwalk import Value, walk
    >>> from gradwalk.notebook.scene import spots
    >>> a = Value(2.0)
    >>> found = spots(walk.graph_of((a.exp() + 1).log() * a))
    >>> found["bends"]
    {'0>5': [[1, 0.6], [2, 0.6], [3, 0.6]]}
    """
    ids = [node.id for node in graph.nodes if not node.constant]
    place = {node: i for i, node in enumerate(ids)}
    links = list(
        dict.fromkeys((place[x], place[node]) for node in ids for x in graph.nodes[node].operands if x in place)
    )
    rank = ranks(len(ids), links)
    chains = {}
    for start, end in links:
        between = range(rank[start] + 1, rank[end])
        chains[start, end] = range(len(rank), len(rank) + len(between))
        rank += between
    edges = [edge for (start, end), bends in chains.items() for edge in pairwise((start, *bends, end))]
    columns = ordered(rank, edges)
    before: list[list[int]] = [[] for _ in rank]
    after: list[list[int]] = [[] for _ in rank]
    for u, v in edges:
        after[u].append(v)
        before[v].append(u)
    sizes = [CARD] * len(ids) + [0.0] * (len(rank) - len(ids))
    track = placed(columns, before, after, sizes, [GAP] * len(rank), len(ids))
    first = min(track)

    def spot(vertex: int) -> list[float]:
        return [rank[vertex], round(track[vertex] - first, 3)]

    bends = {f"{ids[u]}>{ids[v]}": [spot(bend) for bend in chain] for (u, v), chain in chains.items() if chain}
    return {"spots": {str(node): spot(i) for i, node in enumerate(ids)}, "bends": bends}


def names_of(graph: Graph) -> dict[str, int]:
    """The ids of all nodes but constants by a name that no other has: of two labelled alike, one gets its id behind it.

    >>> from gradwalk import Value, walk
    >>> from gradwalk.notebook.scene import names_of
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
