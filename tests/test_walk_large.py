"""Large graphs: recorded, judged and searched without recursion."""

from __future__ import annotations

import pytest
from test_walk_recording import same

from gradwalk import Value, nn, reverse, walk
from gradwalk.walk import record


def test_ten_thousand_nodes_are_no_trouble() -> None:
    leaves = [Value(0.01 * i) for i in range(100)]
    nodes = list(leaves)
    while len(nodes) < 3_500:  # three nodes each
        nodes.append((nodes[-1] + nodes[-50] * leaves[len(nodes) % 100]).tanh())
    recording = record(nodes[-1])
    assert len(recording.graph.nodes) > 10_000
    assert recording.verdict.right


def test_the_engines_visits_over_ten_thousand_nodes() -> None:
    model = nn.MLP(2, [16, 16, 1])
    loss = sum((model([x / 50, x / 25]) - 1) ** 2 for x in range(10))
    places = {node: place for place, node in enumerate(walk.topological(loss))}
    recording = record(loss)
    order = [node for node in reverse.order(loss) if not node.is_leaf]
    assert recording.order == tuple(places[node] for node in reversed(order))
    loss.backward()
    for node, place in places.items():
        assert same(node.grad, recording.grads[place])


@pytest.mark.slow
def test_no_recursion_in_a_deep_graph() -> None:
    v = Value(1.0)
    for _ in range(20_000):
        v = v + 1
    recording = record(v)
    assert recording.grads[0] == 1.0
    assert len(walk.search_steps(v)) == 2 * len(recording.graph.nodes)


@pytest.mark.slow
def test_a_long_wrong_order_is_judged() -> None:
    nodes = [Value(0.001 * i) for i in range(20)]
    while len(nodes) < 10_000:
        nodes.append(nodes[-1] * 0.5 + nodes[-17])
    recording = record(nodes[-1])
    wrong = record(nodes[-1], tuple(reversed(recording.order)))
    assert not wrong.verdict.right
    assert wrong.verdict.sentence
