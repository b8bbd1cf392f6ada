"""A graph as the views take it: its recording, and where its cards stand, in ranks and tracks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gradwalk import walk
from gradwalk.errors import GraphError
from gradwalk.layout import layout_of

if TYPE_CHECKING:
    from gradwalk.walk import Graph, Recording

__all__ = ["MOST_NODES", "names_of", "recorded", "view_of"]

MOST_NODES = 100  # cards that can still be found on a screen
LONGEST_NAME = 80  # characters of a label that travel; a card shows fewer


def recorded(root: Any, what: str = "a walk") -> Recording:
    """The recording of a graph that is small enough to be looked at, card by card.

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
    if getattr(root, "many", False) is True:
        raise GraphError(
            f"{what} shows Values, and this is a tensor; walk one of its numbers, "
            "gradwalk.explain(loss, W, index=(0, 3)).root, or all of it in a terminal: gradwalk step my_script.py:loss"
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
