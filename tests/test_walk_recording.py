"""Recordings: what happens, that it is what the engine does, at any moment, and in JSON."""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import GRADWALK, Program, programs
from hypothesis import HealthCheck, given, settings

from gradwalk import Value, errors, ops, reverse, walk
from gradwalk.walk import Compute, Push, Recording, Seed, Visit, record, replay, state_after

inf, nan = math.inf, math.nan
lazily = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def labelled(**nodes: Value) -> None:
    for label, node in nodes.items():
        node.label = label


def diamond() -> Value:
    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    d = b * c
    labelled(b=b, c=c, d=d)
    return d


def neuron() -> Value:
    x1, x2, w1, w2, b = (
        Value(x, label=name)
        for name, x in (("x1", 2.0), ("x2", 0.0), ("w1", -3.0), ("w2", 1.0), ("b", 6.8813735870195432))
    )
    x1w1, x2w2 = x1 * w1, x2 * w2
    both = x1w1 + x2w2
    n = both + b
    o = n.tanh()
    labelled(x1w1=x1w1, x2w2=x2w2, both=both, n=n, o=o)
    return o


def same(x: float | None, y: float | None) -> bool:
    """Bit for bit, nan included; None is what the engine writes as 0.0."""
    x, y = 0.0 if x is None else x, 0.0 if y is None else y
    return (math.isnan(x) and math.isnan(y)) or (x == y and math.copysign(1.0, x) == math.copysign(1.0, y))


# --- what is recorded ------------------------------------------------------------------------------------------------


def test_the_graph_as_data() -> None:
    graph = record(diamond()).graph
    rows = [(n.id, n.label, n.name, n.op, n.operands, n.slopes, n.constant, n.leaf, n.data) for n in graph.nodes]
    assert rows == [
        (0, "a", "a", "", (), (), False, True, 2.0),
        (1, "", "1", "", (), (), True, False, 1.0),
        (2, "b", "b", "+", (0, 1), (1.0, None), False, False, 3.0),
        (3, "", "3", "", (), (), True, False, 3.0),
        (4, "c", "c", "*", (0, 3), (3.0, None), False, False, 6.0),
        (5, "d", "d", "*", (2, 4), (6.0, 3.0), False, False, 18.0),
    ]
    assert graph.root == 5
    assert graph.interior == (2, 4, 5)
    assert graph.consumers == ((2, 4), (), (5,), (), (5,), ())


def test_names_are_made_up_around_labels() -> None:
    a = Value(1.0, label="n2")
    b = a + Value(2.0)
    assert [node.name for node in record(b).graph.nodes] == ["n2", "n1", "n2_"]
    twins = Value(1.0, label="x") * Value(2.0, label="x")
    assert [node.name for node in record(twins).graph.nodes] == ["x", "x", "n2"]


def test_the_events_of_the_diamond() -> None:
    events = record(diamond()).events
    told: list[tuple[Any, ...]] = []
    for event in events:
        match event:
            case Compute(node, value, operands, values, recomputed):
                told.append(("compute", node, value, operands, values))
                assert recomputed is None
            case Seed(node, gradient):
                told.append(("seed", node, gradient))
            case Visit(node, gradient, waiting, turn, arrived):
                told.append(("visit", node, gradient))
                assert (waiting, turn, arrived) == ((), 1, None)
            case Push(node, operand, position, upstream, local, contribution, before, after):
                told.append(("push", node, operand, position, upstream, local, contribution, before, after))
    assert told == [
        ("compute", 2, 3.0, (0, 1), (2.0, 1.0)),
        ("compute", 4, 6.0, (0, 3), (2.0, 3.0)),
        ("compute", 5, 18.0, (2, 4), (3.0, 6.0)),
        ("seed", 5, 1.0),
        ("visit", 5, 1.0),
        ("push", 5, 2, 0, 1.0, 6.0, 6.0, None, 6.0),
        ("push", 5, 4, 1, 1.0, 3.0, 3.0, None, 3.0),
        ("visit", 4, 3.0),
        ("push", 4, 0, 0, 3.0, 3.0, 9.0, None, 9.0),
        ("visit", 2, 6.0),
        ("push", 2, 0, 0, 6.0, 1.0, 6.0, 9.0, 15.0),
    ]
    assert [event.kind for event in events] == [row[0] for row in told]


def test_the_neuron_has_twenty_steps() -> None:
    recording = record(neuron())
    kinds = [event.kind for event in recording.events]
    assert [kinds.count(kind) for kind in ("compute", "seed", "visit", "push")] == [5, 1, 5, 9]
    found = {node.name: recording.grads[node.id] for node in recording.graph.nodes}
    right = {"n": 0.5, "x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0, "b": 0.5}
    for name, gradient in right.items():
        assert found[name] == pytest.approx(gradient, abs=1e-9)


def test_a_leaf_as_root_is_seeded_and_no_more() -> None:
    recording = record(Value(3.0, label="a"))
    assert [event.kind for event in recording.events] == ["seed"]
    assert recording.grads == {0: 1.0}
    assert recording.verdict.right
    assert recording.verdict.topological


def test_a_seed_of_ones_own() -> None:
    a = Value(3.0)
    assert record(a * a, seed=2).grads[0] == 12.0
    with pytest.raises(errors.NotANumberError):
        record(a * a, seed="2")  # type: ignore[arg-type]


def test_operands_used_twice_push_twice() -> None:
    a = Value(3.0)
    pushes = [event for event in record(a + a).events if isinstance(event, Push)]
    assert [(p.position, p.operand, p.before, p.after) for p in pushes] == [(0, 0, None, 1.0), (1, 0, 1.0, 2.0)]


def test_constants_are_neither_visited_nor_pushed_to() -> None:
    recording = record((2 - Value(5.0)).clamp(0, 1))
    constants = {node.id for node in recording.graph.nodes if node.constant}
    assert len(constants) == 3
    for event in recording.events:
        if not isinstance(event, Compute):
            assert event.node not in constants
            assert getattr(event, "operand", None) not in constants
    assert all(recording.grads[place] is None for place in constants)


def test_a_value_used_beside_a_constant_of_the_same_number_is_no_constant() -> None:
    x = Value(2.0)
    assert [node.constant for node in record(x * 2.0).graph.nodes] == [False, True, False]
    assert [node.constant for node in record(x**x).graph.nodes] == [False, False]


def test_recording_touches_nothing() -> None:
    root = diamond()
    nodes = list(walk.topological(root))
    for i, node in enumerate(nodes):
        node.grad = float(i)
    record(root)
    record(root, order=["b", "c", "d"])
    assert [(node.data, node.grad) for node in nodes] == [(n.data, float(i)) for i, n in enumerate(nodes)]


def test_events_cannot_be_changed() -> None:
    for event in record(diamond()).events:
        with pytest.raises(dataclasses.FrozenInstanceError):
            event.node = 0  # type: ignore[misc]


def test_data_changed_after_the_forward_pass_is_said() -> None:
    a = Value(2.0, label="a")
    b = a * 3
    b.label = "b"
    a.data = 5.0
    step = record(b).events[0]
    assert isinstance(step, Compute)
    assert (step.value, step.recomputed) == (6.0, 15.0)
    assert step.formula == "b.data = 6, though 5 × 3 = 15 now"
    assert step.sentence.endswith("an operand was changed after it was computed.")
    assert step.latex == r"b = 6 \ne 5 \times 3 = 15"


def test_an_op_that_no_longer_computes_is_left_as_it_was() -> None:
    @ops.op(lambda x, out: 1.0)
    def picky(x: float) -> float:
        if x > 3:
            raise ValueError("too much")
        return x

    a = Value(2.0)
    b = picky(a)
    a.data = 5.0
    step = record(b).events[0]
    assert isinstance(step, Compute)
    assert step.recomputed is None


def test_a_last_digit_is_no_change_and_nan_is_one() -> None:
    a = Value(2.0, label="a")
    b = a.log()
    b.label = "b"
    b.data = math.nextafter(b.data, inf)
    step = record(b).events[0]
    assert isinstance(step, Compute)
    assert step.recomputed is None
    a.data = -1.0
    assert record(b).events[0].formula == "b.data = 0.6931, though log(−1) = nan now"
    c = a.log()
    a.data = 1.0
    assert record(c).events[0].formula == "n1.data = nan, though log(1) = 0 now"


def test_infinity_is_no_change() -> None:
    step = record(Value(0.0).log()).events[0]
    assert isinstance(step, Compute)
    assert (step.value, step.recomputed) == (-inf, None)


def test_nan_is_no_change() -> None:
    a = Value(-1.0)
    for event in record(a.log() * nan).events:
        if isinstance(event, Compute):
            assert event.recomputed is None
        if isinstance(event, Visit):
            assert event.arrived is None


@pytest.mark.parametrize("wrong", [None, 3.0, "a", [1]])
def test_what_is_no_node_is_refused(wrong: Any) -> None:
    with pytest.raises(errors.GraphError, match="record takes a Value, or a recording to walk again, not"):
        record(wrong)


def test_a_cycle_is_refused() -> None:
    a = Value(1.0, label="a")
    b = a + 1
    a._prev = {b}
    for function in (record, walk.search_steps, walk.graph_of):
        with pytest.raises(errors.GraphError, match="cycle"):
            function(b)


def test_the_same_graph_gives_the_same_text() -> None:
    assert record(neuron()).to_json() == record(neuron()).to_json()


# --- the engine's own walk -------------------------------------------------------------------------------------------


@given(programs(max_steps=60))
@lazily
def test_replaying_gives_the_engines_data_and_gradients_bit_for_bit(program: Program) -> None:
    nodes = program.run(Value, GRADWALK)
    root = nodes[-1]
    recording = record(root)
    assert all(node.grad == 0.0 for node in nodes)
    state = replay(recording.events, recording.graph)
    root.backward()
    for place, node in enumerate(walk.topological(root)):
        assert same(state.data[place], node.data)
        assert same(state.grads[place], node.grad), (place, state.grads[place], node.grad)
        assert (recording.data[place], recording.grads[place]) == (state.data[place], state.grads[place])


@given(programs(max_steps=60))
@lazily
def test_the_visits_are_the_engines(program: Program) -> None:
    root = program.run(Value, GRADWALK)[-1]
    places = {node: place for place, node in enumerate(walk.topological(root))}
    recording = record(root)
    order = [node for node in reverse.order(root) if not node.is_leaf]
    assert recording.order == tuple(places[node] for node in reversed(order))
    assert recording.verdict.topological


def test_what_an_op_did_not_take_has_no_say_in_the_order_though_another_op_takes_it() -> None:
    a = Value(3.0)
    b = a * a
    root = b.clamp(0.0, 0.5) + b
    nodes = list(walk.topological(root))
    order = tuple(nodes.index(node) for node in reversed(reverse.order(root)) if not node.is_leaf)
    assert record(root).order == order == (5, 1, 4)


@given(programs(max_steps=40))
@lazily
def test_events_agree_with_each_other(program: Program) -> None:
    recording = record(program.run(Value, GRADWALK)[-1])
    grads: dict[int, float | None] = dict.fromkeys(range(len(recording.graph.nodes)))
    for event in recording.events:
        match event:
            case Seed(node, gradient):
                grads[node] = gradient
            case Visit(node, gradient):
                assert grads[node] == gradient
            case Push(node, operand, position, upstream, local, contribution, before, after):
                assert local is not None
                assert recording.graph.nodes[node].operands[position] == operand
                assert recording.graph.nodes[node].slopes[position] == local
                assert (grads[node], grads[operand]) == (upstream, before)
                assert contribution == upstream * local
                assert after == (before or 0.0) + contribution
                grads[operand] = after


def test_hooks_run_as_they_do_in_backward() -> None:
    a = Value(3.0, label="a")
    b = a * 2
    c = b * b
    seen: list[float] = []
    b.register_hook(seen.append)
    b.register_hook(lambda gradient: gradient / 2)
    a.register_hook(lambda gradient: gradient + 1)
    recording = record(c)
    assert seen == [12.0]
    assert (a.grad, b.grad) == (0.0, 0.0)
    c.backward()
    assert [recording.grads[place] for place, node in enumerate(walk.topological(c)) if node is a] == [a.grad] == [13.0]
    visits = {event.node: event for event in recording.events if isinstance(event, Visit)}
    assert visits[2].gradient == 6.0
    assert visits[2].arrived == 12.0
    assert visits[2].sentence.endswith("n2.grad = 6 is final. A hook turned 12 into that.")
    assert visits[0].arrived == 12.0, "a leaf with a hook is visited, so that its hook runs"
    assert Recording.from_json(recording.to_json()).grads == recording.grads
    for source, which in ((c, r"a \(id 0\)"), (recording, r"n2 \(id 2\)")):  # the first below, the first visited
        with pytest.raises(errors.GraphError, match=f"^{which} has a hook, which may only run as in backward"):
            record(source, order=[3, 2])


def test_a_hook_that_leaves_the_gradient_alone() -> None:
    a = Value(3.0)
    a.register_hook(lambda gradient: None)
    recording = record(a * 2)
    visit = recording.events[-1]
    assert isinstance(visit, Visit)
    assert (visit.node, visit.gradient, visit.arrived) == (0, 2.0, None)
    assert record(recording).grads == recording.grads, "a recording that no hook changed can be walked again"


# --- any moment ------------------------------------------------------------------------------------------------------


def test_the_state_at_every_step() -> None:
    recording = record(diamond())
    for k in range(len(recording.events) + 1):
        state, slow = state_after(recording, k), replay(recording.events[:k], recording.graph)
        assert state.data == slow.data
        assert state.grads == slow.grads
        assert state.visited == slow.visited
        assert len(state.data) == 6
        assert repr(state.visited) == repr(set(slow.visited))
        assert repr(state.grads) == repr(slow.grads)
        assert len(state.visited) == len(slow.visited)
    blank = state_after(recording, 0)
    assert blank.data == {0: 2.0, 1: 1.0, 2: None, 3: 3.0, 4: None, 5: None}
    assert set(blank.grads.values()) == {None}
    assert 5 not in blank.visited
    for place in (-1, 6):
        with pytest.raises(KeyError):
            _ = blank.data[place]


def test_an_earlier_state_stays_as_it_was() -> None:
    recording = record(diamond())
    early = state_after(recording, 9)
    before = dict(early.grads)
    assert state_after(recording, 11).grads[0] == 15.0
    assert early.grads == before
    assert early.grads[0] == 9.0


@pytest.mark.parametrize("k", [-1, 12])
def test_there_is_no_state_before_the_first_or_after_the_last(k: int) -> None:
    with pytest.raises(errors.SettingError, match=f"the recording has 11 events: there is no state after {k} of them"):
        state_after(record(diamond()), k)


# --- JSON ------------------------------------------------------------------------------------------------------------


@given(programs(max_steps=30))
@lazily
def test_json_there_and_back_is_exact(program: Program) -> None:
    recording = record(program.run(Value, GRADWALK)[-1])
    text = recording.to_json()
    back = Recording.from_json(text)
    assert back.to_json() == text
    assert back == recording
    assert [(e.sentence, e.latex, e.formula) for e in back.events] == [
        (e.sentence, e.latex, e.formula) for e in recording.events
    ]
    assert back.verdict.to_dict() == recording.verdict.to_dict()


def test_nan_and_inf_survive_json() -> None:
    a = Value(0.0, label="a")
    recording = record((a.log() * a + nan) * inf)
    text = recording.to_json()
    assert json.loads(text, parse_constant=pytest.fail)["format"] == "gradwalk recording"
    back = Recording.from_json(text)
    assert back.to_json() == text
    assert all(same(back.grads[place], gradient) for place, gradient in recording.grads.items())
    assert all(same(back.data[place], data) for place, data in recording.data.items())
    assert {"nan", "inf", "-inf"} <= {row["data"] for row in json.loads(text)["graph"]["nodes"] if row["data"]}


@pytest.mark.parametrize("label", ["<b>", 'say "hi"', "a|b", "\\", "😀", "line\nbreak", "x" * 1000, "\x00"])
def test_any_label_survives_json(label: str) -> None:
    recording = record(Value(1.0, label=label) * 2)
    back = Recording.from_json(recording.to_json())
    assert back.graph.nodes[0].label == label
    assert back == recording


def test_words_stand_in_json_as_they_are_read() -> None:
    text = record(Value(2.0, label="größe") * 3).to_json()
    assert '"label": "größe"' in text
    assert "`größe` × 3" in text


def test_events_alone_go_to_json_and_back() -> None:
    root = diamond()
    for event in (*record(root).events, *walk.search_steps(root)):
        text = json.dumps(event.to_dict(), allow_nan=False)
        back = walk.event_from_dict(json.loads(text))
        assert back == event
        assert type(back) is type(event)
        assert (back.sentence, back.latex, back.formula) == (event.sentence, event.latex, event.formula)


def test_whole_numbers_from_other_writers_are_floats() -> None:
    recording = record(diamond())
    text = recording.to_json().replace(".0,", ",").replace(".0}", "}").replace(".0]", "]")
    back = Recording.from_json(text)
    assert back == recording
    assert back.to_json() == recording.to_json()


def changed(path: str, new: Any) -> str:
    """A good recording with one thing in it replaced (or, if `new` is ..., taken away)."""
    whole = json.loads(record(diamond()).to_json())
    part: Any = whole
    *way, last = (int(step) if step.lstrip("-").isdigit() else step for step in path.split("."))
    for step in way:
        part = part[step]
    if new is ...:
        del part[last]
    else:
        part[last] = new
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a recording, or it is cut short: it cannot be read as JSON"),
        (record(diamond()).to_json()[:-100], "cut short"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("9" * 10_000, "cannot be read as JSON"),
        (None, "cannot be read as JSON"),
        ("[]", 'a recording is a JSON object with "format": "gradwalk recording"'),
        ('{"format": "other"}', "this is not a recording"),
        (changed("version", 2), "is of version 2, and this gradwalk reads version 1"),
        (changed("version", ...), "is of version None"),
        (changed("graph", ...), "the recording has no 'graph'"),
        (changed("graph", []), "the graph is no JSON object"),
        (changed("events", {}), "the recording has 'events' = {}, which is not a list"),
        (changed("graph.root", 6), "the graph has 6 nodes and no node 6"),
        (changed("graph.root", True), "'root' = True, which is not a whole number"),
        (changed("graph.root", -1), "'root' = -1, which is not a whole number"),
        (changed("graph.nodes.2.id", 3), "node 2 has the id 3"),
        (changed("graph.nodes.2.operands", [0, 2]), "operands come before their node"),
        (changed("graph.nodes.2.slopes", [1.0]), "node 2 has 2 operands and 1 slopes"),
        (changed("graph.nodes.2.leaf", True), "exactly one of the three"),
        (changed("graph.nodes.0.leaf", False), "exactly one of the three"),
        (changed("graph.nodes.0.constant", True), "exactly one of the three"),
        (changed("graph.nodes.0.constant", 0), "'constant' = 0, which is neither true nor false"),
        (changed("graph.nodes.0.label", 7), "'label' = 7, which is not a text"),
        (changed("graph.nodes.0.data", "many"), "'data' = 'many', which is not a number"),
        (changed("graph.nodes.0.data", 10**400), "which is too large for a float"),
        (changed("graph.nodes.0.data", True), "which is not a number"),
        (changed("events.0.kind", "jump"), "event 0 is of the kind 'jump', which is none of compute, seed,"),
        (changed("events.0.kind", "leave"), "event 0 has no 'place'"),
        (changed("events.0", {"kind": "leave", "node": 0, "place": 0, "formula": "", "sentence": "", "latex": ""}),
         "event 0 is of the kind 'leave', which is not part of a walk forwards or back"),
        (changed("events.0", 3), "event 0 is no JSON object: 3"),
        (changed("events.3.gradient", None), "event 3 has 'gradient' = None, which is not a number"),
        (changed("events.3.node", 6), "event 3 is about node 6, and the graph has 6 nodes"),
        (changed("events.3.sentence", ...), "event 3 has no 'sentence'"),
        (changed("events.5.node", 6), "event 5 pushes from node 6 to 2, which is not its operand 0"),
        (changed("events.5.operand", 4), "event 5 pushes from node 5 to 4, which is not its operand 0"),
        (changed("events.5.position", 2), "event 5 pushes from node 5 to 2, which is not its operand 2"),
        (changed("events.5.node", 9), "event 5 pushes from node 9"),
        (changed("events.0.operands", [9]), "event 0 is about node 9"),
        (changed("events.4.waiting", [9]), "event 4 is about node 9"),
        (changed("events.5.upstream", "x" * 200), "'upstream' = 'xxx"),
    ],
)  # fmt: skip
def test_text_that_is_no_recording_is_refused(text: str, message: str) -> None:
    with pytest.raises(errors.GraphError) as caught:
        Recording.from_json(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


# --- the picture in the README ----------------------------------------------------------------------------------------


def test_the_picture_in_the_readme_is_drawn_from_a_recording() -> None:
    folder = Path(__file__).parents[1] / "docs"
    sys.path.insert(0, str(folder))
    try:
        make_walk = importlib.import_module("make_walk")
    finally:
        sys.path.remove(str(folder))
    assert (folder / "walk.svg").read_text(encoding="utf-8") == make_walk.picture(), "run python docs/make_walk.py"


@pytest.mark.parametrize("data", [np.float32(0.5), np.int64(2), np.array(2.0)])
def test_data_may_be_set_to_a_number_of_numpys(data: Any) -> None:
    v = Value(1.0, label="v")
    v.data = data
    recording = record(v * v + v)
    assert recording.grads[0] == 2 * data + 1
    assert Recording.from_json(recording.to_json()).grads[0] == 2 * data + 1
