"""What the views are handed: a recording that is small enough to be looked at, and names for its nodes."""

from __future__ import annotations

from typing import Any

import pytest

from gradwalk import Value, nn, walk
from gradwalk.errors import GraphError
from gradwalk.explain.views import MOST_NODES, names_of, recorded, view_of
from gradwalk.presets import PRESETS


def test_a_scene_holds_what_the_views_read() -> None:
    root = PRESETS["diamond"].build().root
    root.label = "x" * 500
    scene = view_of(recorded(root))
    nodes, events = scene["recording"]["graph"]["nodes"], scene["recording"]["events"]
    assert len(nodes[-1]["name"]) == 80
    assert {"kind", "node", "sentence"} <= set(events[0])
    assert not {"latex", "formula"} & set(events[0])


def chain(nodes: int) -> Value:
    value = Value(0.5)
    for _ in range(nodes - 1):
        value = value.tanh()
    return value


def test_a_graph_too_large_is_refused_with_its_number_and_a_remedy() -> None:
    assert len(recorded(chain(MOST_NODES)).graph.nodes) == MOST_NODES
    with pytest.raises(GraphError, match=r"101 nodes.*up to 100.*gradwalk\.draw\(root\).*gradwalk\.spy"):
        recorded(chain(MOST_NODES + 1))
    loss = nn.hinge([nn.MLP(2, [8, 1])(x) for x in [(1.0, 2.0)] * 20], [1] * 20)
    with pytest.raises(GraphError, match=r"the graph has [\d,]+ nodes, and a playground shows"):
        recorded(loss, "a playground")


@pytest.mark.parametrize("thing", [3.0, None, [Value(1.0)], nn.MLP(2, [1])])
def test_what_is_no_graph_is_refused(thing: Any) -> None:
    with pytest.raises(GraphError, match="the Value at the end of a graph, not over"):
        recorded(thing)


def test_names_are_unique_whatever_the_labels() -> None:
    a, b, c = Value(1.0, label="a"), Value(2.0, label="a"), Value(3.0, label="a (id 1)")
    found = names_of(walk.graph_of((a + b) * c + 2))
    assert len(found) == 6
    assert sorted(found.values()) == [0, 1, 2, 3, 4, 6]  # all but the constant
    assert found["a"] == 0
