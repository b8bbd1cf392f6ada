"""Any visit order: what it computes, what it loses or counts twice, and how it is given; the search for a right one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from cases import GRADWALK, Program, close, programs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradwalk import Value, errors, ops, walk
from gradwalk.walk import (
    AlreadyVisited,
    Doubled,
    Enter,
    Leave,
    Missing,
    Push,
    Recording,
    Visit,
    contributions,
    naive_recursion_order,
    record,
)
from gradwalk.walk.contributions import linear, paths

inf, nan = math.inf, math.nan
lazily = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def diamond() -> Value:
    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    b.label, c.label = "b", "c"
    d = b * c
    d.label = "d"
    return d


def two_uses_deep() -> Value:
    a = Value(3.0, label="a")
    b = a * 2
    m = b * b
    c = m + b
    b.label, m.label, c.label = "b", "m", "c"
    return c


# --- the diamond -----------------------------------------------------------------------------------------------------


def test_eight_of_the_24_orders_of_the_diamond_are_right_and_two_are_topological() -> None:
    found = {order: record(diamond(), order) for order in itertools.permutations("abcd")}
    assert len(found) == 24
    right = {"".join(order) for order, recording in found.items() if recording.grads[0] == 15.0}
    assert right == {"".join(order) for order, recording in found.items() if recording.verdict.right}
    assert len(right) == 8
    topological = {"".join(order) for order, recording in found.items() if recording.verdict.topological}
    assert topological == {"dbca", "dcba"}
    for letters in right - topological:
        assert found[tuple(letters)].verdict.sentence.startswith("Right, but only by luck: `a` was visited before ")
    for order, recording in found.items():
        lost = sum(entry.amount for entry in recording.verdict.lost)
        assert (recording.grads[0] or 0.0) + lost == 15.0, order
        assert recording.verdict.doubled == ()
        assert recording.verdict.expected == {0: 15.0, 1: None, 2: 6.0, 3: None, 4: 3.0, 5: 1.0}


def test_the_order_of_the_course() -> None:
    recording = record(diamond(), ["c", "d", "b", "a"])
    assert recording.order == (4, 5, 2, 0)
    assert recording.grads == {0: 6.0, 1: None, 2: 6.0, 3: None, 4: 3.0, 5: 1.0}
    verdict = recording.verdict
    assert verdict.sentence == (
        "`c` was visited before `d`: it had nothing to pass on yet, so the 9 that goes through `c` never reached `a`; "
        "a.grad = 6, right is 15"
    )
    (lost,) = verdict.lost
    assert (lost.node, lost.consumers, lost.gradient, lost.leaf, lost.path, lost.amount) == (
        4,
        (5,),
        3.0,
        0,
        (4, 0),
        9.0,
    )
    assert lost.sentence == verdict.sentence


def test_visits_that_come_too_early_say_so() -> None:
    sentences = {e.node: e.sentence for e in record(diamond(), ["c", "a", "d", "b"]).events if isinstance(e, Visit)}
    assert sentences[4] == "`c` has nothing to pass on yet: `d`, which uses it, has not been visited."
    assert sentences[0] == (
        "Nothing has reached `a` yet: `b`, which uses it, has not been visited. A leaf pushes nothing."
    )
    c = two_uses_deep()
    early = next(e for e in record(c, ["c", "b", "m"]).events if isinstance(e, Visit) and e.waiting)
    assert (early.gradient, early.waiting) == (1.0, (3,))
    assert early.sentence == "`b` holds 1 so far: `m`, which uses it, has not pushed yet."


def test_two_losses_are_listed_in_the_order_of_the_visits() -> None:
    verdict = record(diamond(), ["b", "c", "d", "a"]).verdict
    assert [(entry.node, entry.amount) for entry in verdict.lost] == [(2, 6.0), (4, 9.0)]
    assert verdict.sentence == (
        "`b` was visited before `d`: it had nothing to pass on yet, so the 6 that goes through `b` never reached `a`; "
        "a.grad holds nothing, right is 15 (the first of 2 nodes where something went wrong)"
    )
    other = record(diamond(), ["c", "b", "d", "a"]).verdict
    assert [entry.node for entry in other.lost] == [4, 2]


def test_a_node_that_had_something_already() -> None:
    verdict = record(two_uses_deep(), ["c", "b", "m"]).verdict
    assert verdict.sentence == (
        "`b` was visited before `m`: it had only 1 to pass on yet, so another 24 that goes through `b` never reached "
        "`a`; a.grad = 2, right is 26"
    )


def test_a_loss_far_up_reaches_several_leaves_by_several_paths() -> None:
    x, y = Value(2.0, label="x"), Value(5.0, label="y")
    p = x * y
    q = p.exp() + 10 * p  # two paths from q to p
    r = q * 3
    p.label, q.label, r.label = "p", "q", "r"
    nodes = list(walk.topological(r))
    order = [q, *(node for node in reversed(nodes) if node.operands and node is not q)]
    verdict = record(r, order).verdict
    at = {entry.leaf: entry for entry in verdict.lost}
    slope = 3 * (math.exp(10.0) + 10)
    assert at[nodes.index(x)].amount == pytest.approx(5 * slope)
    assert at[nodes.index(y)].amount == pytest.approx(2 * slope)
    path = [nodes[place] for place in at[nodes.index(x)].path]
    assert (path[0], path[-2], path[-1]) == (q, p, x)
    assert path[1]._op == "exp", "the strongest of the paths"


# --- luck ------------------------------------------------------------------------------------------------------------


def test_the_strongest_path_and_of_equals_the_latest() -> None:
    def strongest(*factors: float) -> list[str]:
        a = Value(2.0, label="a")
        b, c = (a * factor for factor in factors)
        b.label, c.label = "b", "c"
        graph = walk.graph_of(b + c)
        (path,) = paths(graph, graph.root).values()
        return [graph.nodes[place].name for place in path][1:]

    assert strongest(3.0, -5.0) == ["c", "a"]
    assert strongest(-5.0, 3.0) == ["b", "a"]
    assert strongest(-3.0, 3.0) == ["c", "a"]
    assert strongest(nan, 3.0) == ["b", "a"]
    assert strongest(0.0, 0.0) == ["c", "a"]


def test_last_digits_are_no_loss_and_what_is_not_finite_must_be_the_same() -> None:
    def close(got: float, right: float) -> bool:
        return contributions.close(got, right, size=0.5)

    assert close(0.1 + 0.2, 0.3)
    assert close(0.3 + 4e-10, 0.3)
    assert not close(0.3 + 6e-10, 0.3)
    for odd in (inf, -inf, nan):
        assert close(odd, odd)
        assert not close(odd, 1.0)
        assert not close(1.0, odd)
    assert not close(inf, -inf)
    assert not close(nan, inf)


def test_a_verdict_does_not_print_its_whole_graph() -> None:
    assert repr(record(diamond()).verdict) == "OrderVerdict()"


def test_right_by_a_slope_of_zero() -> None:
    a = Value(-1.0, label="a")
    b = a.relu()
    c = b * 2
    b.label, c.label = "b", "c"
    verdict = record(c, ["b", "c"]).verdict
    assert verdict.right
    assert not verdict.topological
    assert verdict.lost == ()
    assert verdict.sentence == (
        "Right, but only by luck: `b` was visited before `c`, which pushes to it; what came too late adds up to 0."
    )


def test_of_several_nodes_that_were_lucky_the_first_that_was_computed_is_named() -> None:
    a = Value(2.0, label="a")
    b, c = a + 1, a + 2
    b.label, c.label = "b", "c"
    m, n = b * 0, c * 0
    d = m + n
    verdict = record(d, [a, b, c, d, m, n]).verdict
    assert verdict.right
    assert verdict.lost == ()
    assert verdict.sentence.startswith("Right, but only by luck: `b` was visited before `n")


def test_sums_that_round_otherwise_in_another_order_are_right() -> None:
    a, b = Value(1.0, label="a"), Value(-1.0, label="b").relu()
    up, one, down = a * 1e16, a * 1, a * -1e16
    root = up + one + down + b * 3
    found = {record(root, order).grads[0]: record(root, order) for order in orders_of(root, (up, one, down), b)}
    assert set(found) == {0.0, 1.0}
    for recording in found.values():
        assert recording.verdict.right
        assert not recording.verdict.topological


def orders_of(root: Value, last: tuple[Value, ...], early: Value) -> list[list[Value]]:
    """The right order, but with one node too early, and some others at the end in any order."""
    nodes = [node for node in reversed(list(walk.topological(root))) if node.operands]
    rest = [node for node in nodes if node not in (*last, early)]
    return [[early, *rest, *tail] for tail in itertools.permutations(last)]


def test_a_walk_without_a_seed_should_have_given_nothing() -> None:
    late = record(diamond(), ["c", "d", "b", "a"])
    unseeded = Recording(late.graph, tuple(event for event in late.events if event.kind != "seed"))
    assert unseeded.verdict.expected[0] == 0.0
    assert not unseeded.verdict.right


def test_right_because_two_losses_cancel() -> None:
    a = Value(2.0, label="a")
    b, c = a * 3, a * -3
    d = b + c
    verdict = record(d, [b, c, d]).verdict
    assert verdict.right
    assert [entry.amount for entry in verdict.lost] == [3.0, -3.0]
    assert "adds up to 0" in verdict.sentence


def test_leaves_may_be_left_out() -> None:
    recording = record(diamond(), ["d", "b", "c"])
    assert recording.grads[0] == 15.0
    assert recording.verdict.topological


def test_two_consumers_are_both_named() -> None:
    sentence = record(diamond(), ["a", "d", "b", "c"]).verdict.sentence
    assert sentence == (
        "Right, but only by luck: `a` was visited before `b` and `c`, which push to it; a leaf pushes nothing itself."
    )


# --- visiting again --------------------------------------------------------------------------------------------------


def test_naive_recursion_gives_78() -> None:
    root = two_uses_deep()
    order = naive_recursion_order(root)
    recording = record(root, order, allow_repeats=True)
    names = [recording.graph.nodes[place].name for place in order]
    assert names == ["c", "m", "b", "a", "b", "a", "b", "a"]
    assert recording.grads[0] == 78.0
    verdict = recording.verdict
    assert not verdict.right
    assert not verdict.topological
    assert verdict.lost == ()
    (doubled,) = verdict.doubled
    assert (doubled.node, doubled.visits, doubled.gradient, doubled.leaf) == (2, 3, 26.0, 0)
    assert (doubled.path, doubled.amount) == ((2, 0), 52.0)
    assert verdict.sentence == (
        "`b` was visited 3 times and pushed all it held each time: 52 too much went through `b` to `a`; "
        "a.grad = 78, right is 26"
    )
    again = [event.sentence for event in recording.events if isinstance(event, Visit) and event.turn > 1]
    assert again[:2] == [
        "`b` is visited again, for the 2nd time: it pushes all it holds, 13, once more.",
        "`a` is visited again, for the 2nd time. A leaf pushes nothing.",
    ]


def test_naive_recursion_is_right_on_a_tree() -> None:
    a, b = Value(2.0), Value(3.0)
    root = (a * b).exp()
    recording = record(root, naive_recursion_order(recording_graph(root)), allow_repeats=True)
    assert recording.verdict.topological
    assert recording.grads == record(root).grads


def recording_graph(root: Value) -> walk.Graph:
    return record(root).graph


def test_naive_recursion_on_a_chain_of_diamonds_is_refused() -> None:
    v = Value(1.0)
    for _ in range(40):
        v = v + v
    with pytest.raises(errors.GraphError, match=r"every path of this graph of 41 nodes: more than 100000 visits"):
        naive_recursion_order(v)
    assert len(naive_recursion_order(Value(1.0) + 1, limit=2)) == 2
    with pytest.raises(errors.GraphError, match="more than 1 visits"):
        naive_recursion_order(Value(1.0) + 1, limit=1)


def test_lost_and_doubled_in_one_order() -> None:
    # b first with the 1 from c, then again with all of its 13: the 1 went twice; m's 12 went once
    verdict = record(two_uses_deep(), ["c", "b", "m", "b"], allow_repeats=True).verdict
    assert verdict.lost == ()
    assert [(entry.gradient, entry.amount) for entry in verdict.doubled] == [(1.0, 2.0)]
    early = record(two_uses_deep(), ["c", "b", "b", "m"], allow_repeats=True)
    assert [entry.amount for entry in early.verdict.lost] == [24.0]
    assert [entry.amount for entry in early.verdict.doubled] == [2.0]
    assert early.grads[0] == 26.0 - 24.0 + 2.0
    assert not early.verdict.right
    assert not early.verdict.topological
    assert early.verdict.sentence.endswith(" (the first of 2 nodes where something went wrong)")
    assert "the first of" not in verdict.sentence
    assert not record(Value(2.0) * 3, [2, 2], allow_repeats=True).verdict.topological


def test_a_leaf_visited_twice_does_no_harm() -> None:
    verdict = record(diamond(), ["d", "b", "c", "a", "a"], allow_repeats=True).verdict
    assert verdict.right
    assert not verdict.topological
    assert verdict.sentence == "Right, but only by luck: `a` was visited more than once; a leaf pushes nothing."


def test_a_node_that_pushes_zero_twice_does_no_harm() -> None:
    a = Value(-1.0, label="a")
    b = a.relu()
    b.label = "b"
    verdict = record(b, ["b", "b"], allow_repeats=True).verdict
    assert verdict.right
    assert verdict.sentence == (
        "Right, but only by luck: `b` was visited more than once; what it pushed again adds up to 0."
    )


@pytest.mark.parametrize(
    "text", ["2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th", "112th", "113th", "122nd"]
)
def test_ordinals(text: str) -> None:
    recording = record(Value(1.0) * 2, [2] * int(text[:-2]), allow_repeats=True)
    assert f"for the {text} time" in recording.events[-2].sentence


# --- against a plain engine that visits in that order ----------------------------------------------------------------


def by_hand(recording: Recording, order: tuple[int, ...]) -> list[float]:
    """What += gives, written as plainly as can be."""
    grads = [0.0] * len(recording.graph.nodes)
    grads[recording.graph.root] = 1.0
    for place in order:
        node = recording.graph.nodes[place]
        for operand, slope in zip(node.operands, node.slopes, strict=True):
            if slope is not None:
                grads[operand] += slope * grads[place]
    return grads


@given(programs(max_steps=12), st.randoms(use_true_random=False), st.booleans())
@lazily
def test_any_order_gives_what_it_computes_and_the_verdict_accounts_for_all_of_it(
    program: Program, chance: Any, repeats: bool
) -> None:
    root = program.run(Value, GRADWALK)[-1]
    right = record(root)
    order = [node.id for node in right.graph.nodes if not node.constant]
    chance.shuffle(order)
    if repeats:
        order += chance.choices(order, k=3)
    recording = record(root, order, allow_repeats=True)
    assert recording.order == tuple(order)
    for place, gradient in enumerate(by_hand(recording, recording.order)):
        assert (recording.grads[place] or 0.0) == gradient
    verdict = recording.verdict
    astray: list[Missing | Doubled] = [*verdict.lost, *verdict.doubled]
    sizes = linear(right.graph, right.graph.root, 1.0, size=True)
    leaves = [node.id for node in right.graph.nodes if node.leaf]
    for leaf in leaves:
        lost = sum(entry.amount for entry in verdict.lost if entry.leaf == leaf)
        doubled = sum(entry.amount for entry in verdict.doubled if entry.leaf == leaf)
        scale = sizes.get(leaf, 0.0) + sum(abs(entry.amount) for entry in astray)
        assert close((recording.grads[leaf] or 0.0) + lost - doubled, right.grads[leaf] or 0.0, scale, rel=1e-9)
    agree = all(close(recording.grads[x] or 0.0, right.grads[x] or 0.0, sizes.get(x, 0.0), rel=1e-9) for x in leaves)
    assert verdict.right == agree
    assert verdict.sentence
    for entry in astray:
        assert entry.path[0] == entry.node
        assert entry.path[-1] == entry.leaf
        for upper, lower in itertools.pairwise(entry.path):
            assert lower in right.graph.nodes[upper].operands
    assert Recording.from_json(recording.to_json()).to_json() == recording.to_json()


@given(programs(max_steps=12), st.randoms(use_true_random=False))
@lazily
def test_every_topological_order_is_accepted(program: Program, chance: Any) -> None:
    root = program.run(Value, GRADWALK)[-1]
    right = record(root)
    graph, order = right.graph, list[int]()
    ready = {node.id for node in graph.nodes if not graph.consumers[node.id] and not node.constant}
    while ready:
        place = chance.choice(sorted(ready))
        ready.remove(place)
        order.append(place)
        ready |= {
            x for x in graph.nodes[place].operands
            if not graph.nodes[x].constant and x not in order and set(graph.consumers[x]) <= set(order)
        }  # fmt: skip
    recording = record(root, order)
    assert recording.verdict.topological
    assert recording.verdict.right
    assert recording.verdict.sentence == "Each node came after all that use it: every gradient is right."
    sizes = linear(graph, graph.root, 1.0, size=True)
    for place, gradient in right.grads.items():
        assert close(recording.grads[place] or 0.0, gradient or 0.0, sizes.get(place, 0.0), rel=1e-12)


def test_nothing_times_inf_is_what_the_engine_makes_of_it() -> None:
    a = Value(0.0, label="a")
    b = a.sqrt()
    c = b * 2
    recording = record(c, [b, c])
    (push, *_) = [event for event in recording.events if isinstance(event, Push)]
    assert (push.upstream, push.local) == (0.0, inf)
    assert math.isnan(push.contribution)
    assert math.isnan(recording.grads[0] or 0.0)
    assert not recording.verdict.right, "inf would be right"
    assert "right is inf" in recording.verdict.sentence


def test_a_node_that_has_nothing_pushes_only_what_the_engine_would() -> None:
    """0 to the one operand, which is not told, and 0 × inf to the next."""
    cliff = ops.op(lambda x, y, out: 1.0, lambda x, y, out: inf)(lambda x, y: x + y)
    a, b = Value(1.0, label="a"), Value(2.0, label="b")
    c = cliff(a, b)
    recording = record(c * 2, [c, "n4"])
    first = next(event for event in recording.events if isinstance(event, Push))
    assert (first.operand, first.position) == (1, 1)
    assert math.isnan(first.contribution)
    assert recording.grads[0] is None


def test_nan_on_the_way_is_judged() -> None:
    a = Value(1.0, label="a")
    b = a * nan
    c = b.exp()
    verdict = record(c, [b, c]).verdict
    assert verdict.lost[0].path == (2, 0)
    assert math.isnan(verdict.lost[0].amount)


# --- how an order is given -------------------------------------------------------------------------------------------


def test_ids_labels_and_values_mix() -> None:
    d = diamond()
    b, c = d.operands
    for order in ([5, 4, 2], ["d", "c", "b"], [d, c, b], (x for x in (d, "c", 2))):
        assert record(d, order).order == (5, 4, 2)


def test_names_that_were_made_up_serve_as_labels() -> None:
    root = (Value(1.0) * 2).exp()
    assert record(root, ["n3", "n2"]).order == (3, 2)


def test_a_recording_can_be_walked_again_in_another_order() -> None:
    was = record(diamond())
    again = record(Recording.from_json(was.to_json()), ["c", "d", "b", "a"])
    assert again.events[3:] == record(diamond(), ["c", "d", "b", "a"]).events[3:]
    assert [event.sentence for event in again.events] == [
        event.sentence for event in record(diamond(), ["c", "d", "b", "a"]).events
    ]
    assert record(again).events == was.events
    assert record(was, seed=2.0).grads[0] == 30.0
    with pytest.raises(errors.GraphError, match="is not a node of this graph"):
        record(was, [diamond()])


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["d", "c"], "the order misses b (id 2); only leaves may be left out"),
        ([], "the order misses d (id 5), c (id 4), b (id 2); only leaves may be left out"),
        (
            ["d", "c", "b", "c"],
            "the order lists c (id 4) more than once; list each node once (in Python, allow_repeats=True",
        ),
        (["d", "c", "b", "e"], "no node is called 'e'; there are a (id 0), b (id 2), c (id 4), d (id 5)"),
        (["d", "c", "b", "3"], "no node is called '3'"),
        ([5, 4, 2, 3], "3 (id 3) is a constant: no gradient flows to it; leave it out"),
        ([5, 4, 2, 6], "the graph has no node 6: ids go from 0 to 5"),
        ([5, 4, 2, -1], "the graph has no node -1"),
        ([5, 4, 2, True], "True is not a node of this graph; an order lists its ids, labels or Values"),
        ([5, 4, 2, 0.5], "0.5 is not a node of this graph"),
        ([Value(7.0, label="z")], "z=7 is not a node of this graph"),
        ("dcb", "an order is a list of ids, labels or Values, not 'dcb'"),
        (7, "an order is a list of ids, labels or Values, not 7"),
    ],
)
def test_orders_that_cannot_be_walked(order: Any, message: str) -> None:
    with pytest.raises(errors.GraphError) as caught:
        record(diamond(), order)
    assert message in str(caught.value)


def test_an_ambiguous_label_names_both() -> None:
    x, y = Value(1.0, label="x"), Value(2.0, label="x")
    with pytest.raises(errors.GraphError) as caught:
        record(x * y, ["n2", "x"])
    assert str(caught.value) == "the label 'x' is ambiguous: x (id 0), x (id 1) bear it; use ids instead"
    assert record(x * y, ["n2", 0, 1]).verdict.topological


def test_long_lists_are_cut_short() -> None:
    v = Value(1.0)
    for _ in range(20):
        v = v + 1
    with pytest.raises(errors.GraphError, match=r"misses n40 \(id 40\), .* and 12 more; only"):
        record(v, [])
    eight = [node for node in walk.topological(v) if node.operands][7]
    with pytest.raises(errors.GraphError, match=r"misses n16 \(id 16\), .*, n2 \(id 2\); only"):
        record(eight, [])


def test_what_was_never_visited_is_said() -> None:
    was = record(diamond())
    cut = Recording(was.graph, was.events[:4])
    assert not cut.verdict.topological
    assert cut.verdict.sentence == (
        "`d` was never visited, so the 15 that goes through `d` never reached `a`; a.grad holds nothing, right is 15"
    )
    assert Recording(was.graph, was.events[:3]).verdict.right, "no seed, no gradients: nothing is amiss"


# --- the search ------------------------------------------------------------------------------------------------------


def test_the_search_on_the_diamond() -> None:
    steps = walk.search_steps(diamond())
    told = [(step.kind, step.node, getattr(step, "by", None), getattr(step, "place", None)) for step in steps]
    assert told == [
        ("enter", 5, None, None),
        ("enter", 2, 5, None),
        ("enter", 0, 2, None),
        ("leave", 0, None, 0),
        ("enter", 1, 2, None),
        ("leave", 1, None, 1),
        ("leave", 2, None, 2),
        ("enter", 4, 5, None),
        ("already_visited", 0, 4, None),
        ("enter", 3, 4, None),
        ("leave", 3, None, 3),
        ("leave", 4, None, 4),
        ("leave", 5, None, 5),
    ]
    assert [step.sentence for step in steps[7:9]] == [
        "`d` uses `c`, which is new: go on below it.",
        "`c` also uses `a`, which has been visited: go on.",
    ]
    assert steps == walk.search_steps(record(diamond()).graph)
    assert steps[-1].formula == "order[5] = d"
    assert steps[-1].latex == r"\text{order}_{5} = d"
    assert steps[0].formula == steps[0].latex == ""


@given(programs(max_steps=60))
@lazily
def test_the_search_finds_the_topological_order(program: Program) -> None:
    root = program.run(Value, GRADWALK)[-1]
    steps = walk.search_steps(root)
    count = sum(1 for _ in walk.topological(root))
    assert [(step.node, step.place) for step in steps if isinstance(step, Leave)] == [(i, i) for i in range(count)]
    assert sorted(step.node for step in steps if isinstance(step, Enter)) == list(range(count))
    edges = sum(len(node.operands) for node in walk.topological(root))
    assert sum(isinstance(step, AlreadyVisited) for step in steps) == edges - (count - 1)


def test_the_search_at_a_leaf() -> None:
    assert [step.sentence for step in walk.search_steps(Value(1.0, label="a"))] == [
        "Begin at `a`. It is a leaf: nothing lies below.",
        "`a` uses nothing: append it, as number 1.",
    ]
