"""The one layout: columns, orders and places on random graphs as on tidy ones, and what the page makes of them."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from cases import GRADWALK, Program, programs
from hypothesis import given, settings
from hypothesis import strategies as st
from learn.in_node import in_node

from gradwalk import Value, draw, nn, walk
from gradwalk.drawing.arrangement import Arrangement
from gradwalk.drawing.by_node import scene_by_node
from gradwalk.layout import Columns, Layout, in_columns, layout_of, ordering
from gradwalk.layout.ordering import Web, ordered
from gradwalk.layout.placing import placed
from gradwalk.layout.ranks import ranks
from gradwalk.presets import PRESETS

Edges = list[tuple[int, int]]

TANGLES = {30: 66, 33: 113, 36: 90, 39: 128, 42: 124, 45: 172, 48: 116, 51: 122, 54: 177, 57: 189}


def edges_of(root: Value) -> tuple[int, Edges]:
    scene = scene_by_node([root])
    return len(scene.boxes), [(line.source, line.target) for line in scene.lines]


def mlp_loss(samples: int = 1, sizes: tuple[int, ...] = (4, 4, 1)) -> Value:
    random.seed(7)
    model = nn.MLP(3, list(sizes), activation="tanh")
    inputs = [[Value(random.random()) for _ in range(3)] for _ in range(samples)]
    return nn.mse([model(x) for x in inputs], [1.0] * samples)


def tangle(n: int) -> Value:
    draw_one = random.Random(n)
    values = [Value(draw_one.random()) for _ in range(6)]
    for _ in range(n):
        values.append(draw_one.choice(values[-40:]) * draw_one.choice(values))
    return sum(values[-20:], Value(0.0))


dags = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] < e[1]), max_size=60),
    )
)


# --- columns ---------------------------------------------------------------------------------------------------------


@given(dags)
def test_every_box_stands_after_all_of_its_operands(graph: tuple[int, Edges]) -> None:
    n, edges = graph
    rank = ranks(n, edges)
    assert all(rank[u] < rank[v] for u, v in edges)
    assert min(rank) == 0


def length(rank: list[int], edges: Edges) -> int:
    return sum(rank[v] - rank[u] for u, v in edges)


@pytest.mark.parametrize(
    ("root", "least", "allowed"),
    [(mlp_loss(), 154, 1.0), (mlp_loss(4), 619, 1.12), (tangle(100), 451, 1.25), (tangle(300), 1450, 1.25)],
    ids=["a sample", "four samples", "tangle", "larger tangle"],
)
def test_lines_are_nearly_as_short_as_network_simplex_makes_them(root: Value, least: int, allowed: float) -> None:
    """`least` is what fast-sugiyama's network simplex gives, which takes minutes where this takes milliseconds."""
    n, edges = edges_of(root)
    assert least <= length(ranks(n, edges), edges) <= allowed * least


# --- the order in a column -------------------------------------------------------------------------------------------


def crossings(columns: list[list[int]], edges: Edges) -> int:
    """Counted the slow way: every pair of edges between the same two columns."""
    place = {v: (c, i) for c, column in enumerate(columns) for i, v in enumerate(column)}
    total = 0
    for i, (a, b) in enumerate(edges):
        for c, d in edges[:i]:
            if place[a][0] == place[c][0]:
                total += (place[a][1] - place[c][1]) * (place[b][1] - place[d][1]) < 0
    return total


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(6, 11)), max_size=20, unique=True))
def test_crossings_are_counted_right_and_never_grow(edges: Edges) -> None:
    rank = [0] * 6 + [1] * 6
    web = Web(rank, edges)
    start = web.searched()
    place = [0] * 12
    for column in start:
        for i, v in enumerate(column):
            place[v] = i
    before = web.crossings(start, place)
    assert before == crossings(start, edges)
    found = ordered(rank, edges)
    assert crossings(found, edges) <= before
    assert [sorted(column) for column in found] == [list(range(6)), list(range(6, 12))]


def test_a_tree_has_no_crossings() -> None:
    values = [Value(float(i)) for i in range(32)]
    while len(values) > 1:
        values = [a * b for a, b in zip(values[::2], values[1::2], strict=True)]
    n, edges = edges_of(values[0])
    assert crossings(ordered(ranks(n, edges), edges), edges) == 0


def in_order(found: Columns) -> int:
    return crossings(found.order, found.edges)


def drawn(root: Value) -> Columns:
    n, edges = edges_of(root)
    return in_columns(n, edges, [u for u, _ in edges])


def test_there_are_no_more_crossings_than_a_library_leaves() -> None:
    """Held to what was there when fast-sugiyama's order was tried too, with bends for every line of its own."""
    found = [crossings(a.columns, a.edges) for a in (Arrangement(draw(tangle(n)).scene, True) for n in TANGLES)]
    assert sum(found) <= sum(TANGLES.values())
    assert all(n <= 1.1 * was for n, was in zip(found, TANGLES.values(), strict=True))


def test_other_beginnings_are_taken_where_they_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [drawn(tangle(n)) for n in TANGLES]
    monkeypatch.setattr(ordering, "LARGEST", 0)
    one = [drawn(tangle(n)) for n in TANGLES]
    assert sum(map(in_order, some)) < sum(map(in_order, one))


# --- places ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.data())
def test_neighbours_keep_their_order_and_distance(heights: list[int], data: st.DataObject) -> None:
    columns, n = [], 0
    for many in heights:
        columns.append(list(range(n, n + many)))
        n += many
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for left, right in pairwise(columns):
        for v in right:
            for u in data.draw(st.lists(st.sampled_from(left), unique=True)):
                before[v].append(u)
                after[u].append(v)
    size = data.draw(st.lists(st.floats(1, 100), min_size=n, max_size=n))
    half = [x / 2 for x in size]
    at = placed(columns, before, after, half, half, [10.0] * n, n)
    assert min(x - s / 2 for x, s in zip(at, size, strict=True)) == pytest.approx(0.0, abs=1e-6)
    for column in columns:
        for v, w in pairwise(column):
            assert at[w] - at[v] >= (size[v] + size[w]) / 2 + 10.0 - 1e-6


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.data())
def test_nothing_leaves_a_room_that_the_tallest_column_fits(heights: list[int], data: st.DataObject) -> None:
    first = [sum(heights[:i]) for i in range(len(heights))]
    columns = [list(range(start, start + many)) for start, many in zip(first, heights, strict=True)]
    n = sum(heights)
    before: list[list[int]] = [[] for _ in range(n)]
    after: list[list[int]] = [[] for _ in range(n)]
    for left, right in pairwise(columns):
        for v in right:
            for u in data.draw(st.lists(st.sampled_from(left), unique=True)):
                before[v].append(u)
                after[u].append(v)
    at = placed(columns, before, after, [1.0] * n, [2.0] * n, [0.0] * n, n, 3.0 * max(heights))
    for column in columns:
        assert at[column[0]] - 1.0 >= -1e-9
        assert at[column[-1]] + 2.0 <= 3.0 * max(heights) + 1e-9
        assert all(at[w] - at[v] >= 3.0 - 1e-9 for v, w in pairwise(column))


# --- ranks and tracks, for the page -----------------------------------------------------------------------------------


def check_the_layout(graph: walk.Graph, layout: Layout) -> None:
    at = {int(node): (int(rank), track) for node, (rank, track) in layout["spots"].items()}
    assert set(at) == {node.id for node in graph.nodes if not node.constant}
    assert min(track for _, track in at.values()) >= 0.0
    bends = {tuple(map(int, ends.split(">"))): way for ends, way in layout["bends"].items()}
    columns: dict[int, list[tuple[float, bool]]] = {}
    for rank, track in at.values():
        columns.setdefault(rank, []).append((track, True))
    for node in graph.nodes:
        for operand in set(node.operands) & set(at):
            way = bends.pop((operand, node.id), [])
            passed = [int(rank) for rank, _ in way]
            assert passed == list(range(at[operand][0] + 1, at[node.id][0]))  # forwards, a bend in each rank it passes
            for passing, track in way:
                columns.setdefault(int(passing), []).append((track, False))
    assert not bends
    for column in columns.values():
        for (a, card), (b, other) in pairwise(sorted(column)):
            least = 0.8 if card and other else 0.4 if card or other else 0.0
            assert b - a >= least + 0.2 - 0.002


@settings(max_examples=60)
@given(programs(max_steps=60))
def test_every_card_has_a_place_of_its_own(program: Program) -> None:
    graph = walk.graph_of(program.run(Value, GRADWALK)[-1])
    check_the_layout(graph, layout_of(graph))


@pytest.mark.browser
def test_the_page_draws_every_preset() -> None:
    """The page's own geometry puts it into pixels, wide and narrow; no two cards overlap."""
    graphs = {name: walk.record(preset.build().root).graph for name, preset in PRESETS.items()}
    for graph in graphs.values():
        check_the_layout(graph, layout_of(graph))
    drawn = in_node(
        """
        import {place} from "./graph/geometry.ts";
        import {drawn} from "./graph/model.ts";
        export default (all) => all.map(({graph, layout}) => [1100, 700, 350].map((width) =>
          [...place(drawn(graph), layout, width).cards.values()].map((card) =>
            [card.x, card.y, card.width, card.height])));
        """,
        [{"graph": graph.to_dict(), "layout": layout_of(graph)} for graph in graphs.values()],
    )
    for (name, graph), drawings in zip(graphs.items(), drawn, strict=True):
        for cards in drawings:
            assert len(cards) == sum(1 for node in graph.nodes if not node.constant), name
            for i, (x, y, width, height) in enumerate(cards):
                for x2, y2, width2, height2 in cards[:i]:
                    apart = x >= x2 + width2 or x2 >= x + width or y >= y2 + height2 or y2 >= y + height
                    assert apart, name
