"""Where cards stand: every graph gets a place for each node, apart from its neighbours, and the page can draw it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from cases import GRADWALK, Program, programs
from hypothesis import given, settings
from learn.in_node import in_node

from gradwalk import Value, nn, walk
from gradwalk.errors import GraphError
from gradwalk.notebook.scene import MOST_NODES, names_of, recorded, scene_of, spots
from gradwalk.presets import PRESETS


def check_the_layout(graph: walk.Graph, layout: dict[str, Any]) -> None:
    at = {int(node): (rank, track) for node, (rank, track) in layout["spots"].items()}
    assert set(at) == {node.id for node in graph.nodes if not node.constant}
    assert min(track for _, track in at.values()) >= 0.0
    bends = {tuple(map(int, ends.split(">"))): way for ends, way in layout["bends"].items()}
    columns: dict[int, list[tuple[float, bool]]] = {}
    for rank, track in at.values():
        columns.setdefault(rank, []).append((track, True))
    for node in graph.nodes:
        for operand in set(node.operands) & set(at):
            way = bends.pop((operand, node.id), [])
            passed = [rank for rank, _ in way]
            assert passed == list(range(at[operand][0] + 1, at[node.id][0]))  # forwards, a bend in each rank it passes
            for rank, track in way:
                columns.setdefault(rank, []).append((track, False))
    assert not bends
    for column in columns.values():
        for (a, card), (b, other) in pairwise(sorted(column)):
            least = 0.8 if card and other else 0.4 if card or other else 0.0
            assert b - a >= least + 0.2 - 0.002


@settings(max_examples=60)
@given(programs(max_steps=60))
def test_every_card_has_a_place_of_its_own(program: Program) -> None:
    graph = walk.graph_of(program.run(Value, GRADWALK)[-1])
    check_the_layout(graph, spots(graph))


@pytest.mark.browser
@pytest.mark.parametrize("name", PRESETS)
def test_the_page_draws_it(name: str) -> None:
    """The page's own geometry puts it into pixels, wide and narrow; no two cards overlap."""
    recording = recorded(PRESETS[name].build().root)
    check_the_layout(recording.graph, spots(recording.graph))
    cards = in_node(
        """
        import {place} from "./graph/geometry.ts";
        import {drawn} from "./graph/model.ts";
        export default ({recording, layout}) => [1100, 700, 350].map((width) =>
          [...place(drawn(recording.graph), layout, width).cards.values()].map((card) =>
            [card.x, card.y, card.width, card.height]));
        """,
        scene_of(recording),
    )
    for drawing in cards:
        assert len(drawing) == sum(1 for node in recording.graph.nodes if not node.constant)
        for i, (x, y, width, height) in enumerate(drawing):
            for x2, y2, width2, height2 in drawing[:i]:
                assert x >= x2 + width2 or x2 >= x + width or y >= y2 + height2 or y2 >= y + height


def test_a_scene_holds_what_the_views_read() -> None:
    root = PRESETS["diamond"].build().root
    root.label = "x" * 500
    scene = scene_of(recorded(root))
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
