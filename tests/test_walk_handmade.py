"""Graphs with a `_backward` made by hand, and whole engines of others: stepped without a trace, or refused clearly."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from micrograd.engine import Value as Micro

from gradwalk import Value, errors, ops, walk
from gradwalk.walk import Push, Recording, record, visits


def doubled(a: Value) -> Value:
    out = Value(2 * a.data, (a,), "double", label="out")

    def push() -> None:
        a.grad += 2 * out.grad

    out._backward = push
    return out


def state(root: Any) -> list[tuple[Any, Any]]:
    return [(node.data, node.grad) for node in walk.topological(root)]


def pushes(recording: Recording) -> list[Push]:
    return [event for event in recording.events if isinstance(event, Push)]


def test_a_closure_is_run_and_leaves_no_trace() -> None:
    a = Value(3.0, label="a")
    loss = doubled(a) * 5
    a.grad, loss.grad = 7.0, 8.0
    before = state(loss)
    recording = record(loss)
    assert state(loss) == before
    assert type(a.grad) is float
    assert recording.grads[0] == 10.0
    push = pushes(recording)[-1]
    assert (push.position, push.upstream, push.local, push.contribution) == (0, 5.0, 2.0, 10.0)
    assert push.sentence == (
        "The _backward of `out` turns out.grad, 5, into 10 for `a`. Before it had nothing; now a.grad = 10."
    )
    out = recording.graph.nodes[1]
    assert (out.handmade, out.slopes, out.op) == (True, (2.0,), "double")
    a.grad = 0.0
    loss.backward()
    assert a.grad == recording.grads[0]


def test_a_walk_in_any_order_runs_the_closures() -> None:
    a = Value(3.0, label="a")
    out = doubled(a)
    loss = out * out
    loss.label = "loss"
    assert record(loss).grads[0] == 24.0
    recording = record(loss, ["out", "loss"])
    assert recording.grads[0] is None
    assert recording.verdict.lost[0].amount == 24.0
    assert state(loss) == [(3.0, 0.0), (6.0, 0.0), (36.0, 0.0)]
    again = record(Recording.from_json(record(loss).to_json()), ["loss", "out"])
    assert again.grads[0] == 24.0, "without the closures, by the slopes that they showed"
    assert pushes(again)[-1].local == 2.0


def test_operands_used_twice_in_a_closure() -> None:
    a = Value(3.0, label="a")
    out = Value(9.0, (a, a), "times", label="out")

    def push() -> None:
        a.grad += a.data * out.grad
        a.grad = a.data * out.grad + a.grad

    out._backward = push
    told = [(p.position, p.before, p.contribution, p.after) for p in pushes(record(out))]
    assert told == [(0, None, 3.0, 3.0), (1, 3.0, 3.0, 6.0)]


def test_a_closure_that_reads_the_gradient_it_adds_to() -> None:
    a = Value(3.0, label="a")
    out = Value(12.0, (a, a), "fourfold", label="out")

    def push() -> None:
        a.grad += 2 * out.grad
        a.grad += a.grad  # all that is there by now

    out._backward = push
    told = [(p.position, p.before, p.contribution, p.after) for p in pushes(record(out))]
    assert told == [(0, None, 2.0, 2.0), (1, 2.0, 2.0, 4.0)]
    out.backward()
    assert a.grad == 4.0
    once = Value(12.0, (a,), "fourfold")
    once._backward = push
    out = once  # whose gradient the closure reads
    told = [(p.position, p.before, p.contribution, p.after) for p in pushes(record(once))]
    assert told == [(0, None, 2.0, 2.0), (0, 2.0, 2.0, 4.0)]


@pytest.mark.parametrize("leak", [0.0, 5e-10])
def test_what_a_closure_pushes_out_of_nothing_is_not_right_however_little_it_is(leak: float) -> None:
    a, b = Value(3.0, label="a"), Value(-1.0).relu()
    out = Value(6.0, (a,), "leak", label="out")

    def push() -> None:
        a.grad += leak  # though nothing was passed to it

    out._backward = push
    still, late = out * 0, b * 3
    root = still + late
    recording = record(root, [b, root, still, late, out])
    assert recording.grads[0] == leak
    assert recording.graph.nodes[1].slopes == (None,)
    assert recording.verdict.right == (leak == 0.0)
    assert not recording.verdict.topological


def test_a_closure_that_subtracts() -> None:
    a = Value(3.0, label="a")
    out = Value(-3.0, (a,), "minus")

    def push() -> None:
        a.grad -= out.grad

    out._backward = push
    assert [(p.contribution, p.after) for p in pushes(record(out))] == [(-1.0, -1.0)]


def test_a_closure_that_overwrites_is_told_as_it_is() -> None:
    a = Value(3.0, label="a")
    out = Value(6.0, (a,), "double", label="out")

    def push() -> None:
        a.grad = 2 * out.grad

    out._backward = push
    loss = out * 1 + a * 1  # a gets its 1 from the right first; then out overwrites it
    recording = record(loss)
    assert [p.sentence for p in pushes(recording) if p.before is not None] == [
        "The _backward of `out` turns out.grad, 1, into 2 for `a`. Before it had 1, which is replaced: a.grad = 2, "
        "where += would add up."
    ]
    verdict = recording.verdict
    assert (verdict.right, verdict.topological, verdict.expected[0]) == (False, True, 3.0)
    assert verdict.sentence == (
        "The _backward of `out` replaced the 1 that `a` had, where += would add up; a.grad = 2, right is 3"
    )
    loss.backward()
    assert recording.grads[0] == a.grad == 2.0


def test_a_closure_that_overwrites_nothing_is_right() -> None:
    a = Value(3.0, label="a")
    out = Value(6.0, (a,), "double")

    def push() -> None:
        a.grad = 2 * out.grad

    out._backward = push
    assert record(out * 3).verdict.sentence == "Each node came after all that use it: every gradient is right."


def test_a_closure_that_does_nothing() -> None:
    a = Value(3.0, label="a")
    b = a.exp()
    out = Value(6.0, (b,), "idle", label="out")
    recording = record(out)
    assert [event.kind for event in recording.events] == ["compute", "compute", "seed", "visit", "visit"]
    assert recording.events[-1].sentence == "Nothing was pushed to `n1`, so it has nothing to pass on."
    assert recording.grads == {0: None, 1: None, 2: 1.0}


def test_a_closure_of_ones_own_on_a_node_of_the_table() -> None:
    a = Value(3.0, label="a")
    b = a * 2

    def push() -> None:
        a.grad += 100 * b.grad

    b._backward = push
    recording = record(b)
    assert recording.grads[0] == 100.0
    b.backward()
    assert a.grad == 100.0


def test_a_local_derivative_that_cannot_be_seen_is_absent() -> None:
    a = Value(3.0, label="a")
    out = Value(6.0, (a,), "plus one", label="out")

    def push() -> None:
        a.grad += 1.0  # forgets its own gradient

    out._backward = push
    loss = out * 0.0
    (_, push_to_a) = pushes(record(loss))
    assert (push_to_a.upstream, push_to_a.local, push_to_a.contribution) == (0.0, None, 1.0)
    assert push_to_a.formula == "a.grad += out.grad × ∂out/∂a = 1"
    assert push_to_a.latex.endswith(r"\frac{\partial \text{out}}{\partial a} = 1")
    assert Recording.from_json(record(loss).to_json()).grads == record(loss).grads
    wrong = record(loss, [out, loss])
    assert wrong.grads[0] == 1.0, "it pushes its 1 even when it has nothing"
    assert wrong.verdict.sentence


def test_a_closure_that_raises_leaves_all_as_it_was() -> None:
    a = Value(3.0, label="a")
    out = Value(6.0, (a,), "double", label="out")

    def push() -> None:
        a.grad += 2 * upstream  # type: ignore[name-defined]  # noqa: F821

    out._backward = push
    loss = out * 3
    a.grad = 7.0
    before = state(loss)
    with pytest.raises(errors.BackwardError) as caught:
        record(loss)
    assert "the walk cannot be told beyond out = double(a=3): its _backward raised NameError" in str(caught.value)
    assert "data and gradients are as they were" in str(caught.value)
    assert state(loss) == before


@pytest.mark.parametrize("what", ["gradient", "data", "its own"])
def test_a_closure_that_reaches_elsewhere_is_refused(what: str) -> None:
    a, b = Value(3.0, label="a"), Value(1.0, label="b")
    out = Value(6.0, (a,), "double", label="out")

    def push() -> None:
        if what == "gradient":
            b.grad += 1.0
        elif what == "data":
            a.data -= 0.1
        else:
            out.grad += 1.0

    out._backward = push
    loss = out * b
    before = state(loss)
    with pytest.raises(errors.GraphError, match="this graph cannot be stepped: a _backward changed the") as caught:
        record(loss)
    assert {"gradient": "gradient of b=1", "data": "data of a=3", "its own": "gradient of out"}[what] in str(
        caught.value
    )
    assert state(loss) == before


def test_of_several_nodes_that_a_closure_reaches_the_first_is_named() -> None:
    a, b, c = Value(3.0, label="a"), Value(1.0, label="b"), Value(2.0, label="c")
    out = Value(6.0, (a,), "double", label="out")

    def push() -> None:
        b.grad += 1.0
        c.grad += 1.0

    out._backward = push
    with pytest.raises(errors.GraphError, match="changed the gradient of b=1, which"):
        record(out * b * c)


class Bare:
    """A node that knows too little."""

    def __init__(self, data: Any, *children: Any, **fields: Any) -> None:
        self.data, self._prev = data, children
        vars(self).update(fields)


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (Bare(1.0, Bare(2.0)), "cannot be stepped: it knows neither its local derivatives nor a _backward"),
        (Bare(1.0, Bare(2.0), _backward=lambda: None), "it has no .grad for its consumers to add to"),
        (Bare("one"), "a walk is over nodes that hold one number as .data, not str: 'one'"),
        (Bare(None, label="a"), "not NoneType: a=None"),
        (Bare(10**400), "not int: an int of 1329 bits"),
    ],
)
def test_nodes_that_cannot_be_stepped(root: Any, message: str) -> None:
    with pytest.raises(errors.GraphError) as caught:
        record(root)
    assert message in str(caught.value)


def test_a_gradient_that_is_no_number_is_refused() -> None:
    a: Any = Bare(2.0, grad=0.0, label="a")
    out: Any = Bare(4.0, a, grad=0.0, _op="double")

    def push() -> None:
        a.grad = "much"

    out._backward = push
    with pytest.raises(errors.BackwardError, match="could not convert string to float"):
        record(out)
    assert (a.grad, out.grad) == (0.0, 0.0)


# --- another engine --------------------------------------------------------------------------------------------------


def random_expression(leaf: Any, seed: int) -> Any:
    chance = random.Random(seed)
    nodes = [leaf(chance.uniform(0.5, 2.0)) for _ in range(4)]
    for _ in range(30):
        x, y = chance.choice(nodes[-12:]), chance.choice(nodes[-12:])
        kind = chance.randrange(5)
        nodes.append([x + y, x * 0.3 + y, (x * y) ** 0.5, x.relu(), x / (y * y + 1.0)][kind])
    return nodes[-1]


@pytest.mark.parametrize("seed", range(10))
def test_micrograd_is_stepped_bit_for_bit(seed: int) -> None:
    root = random_expression(Micro, seed)
    recording = record(root)
    nodes = list(walk.topological(root))
    assert all(node.grad == 0 for node in nodes)
    root.backward()
    for place, node in enumerate(nodes):
        assert (recording.grads[place] or 0.0) == node.grad
        assert recording.data[place] == node.data
    assert recording.verdict.topological
    ours = record(random_expression(Value, seed))
    assert math.isclose(ours.data[ours.graph.root] or 0.0, root.data, rel_tol=1e-12)


def test_micrograd_in_words() -> None:
    a = Micro(3)
    root = a * a
    recording = record(root)
    assert recording.events[0].formula == "n1.data = 3 × 3 = 9"
    assert [(p.position, p.contribution, p.after) for p in pushes(recording)] == [(0, 3.0, 3.0), (1, 3.0, 6.0)]
    assert recording.graph.nodes[1].slopes == (3.0, 3.0)
    assert (a.grad, root.grad) == (0, 0)


@pytest.mark.parametrize("times", [1, 2], ids=["in one go", "one by one"])
def test_each_use_of_a_node_in_a_set_has_its_part(times: int) -> None:
    a: Any = Bare(3.0, grad=0.0, label="a")
    out: Any = Bare(6.0, grad=0.0, _op="+", label="out")
    out._prev = {a}  # a + a, as an engine keeps it that puts operands into a set

    def push() -> None:
        for _ in range(times):
            a.grad += 2 / times * out.grad

    out._backward = push
    recording = record(out)
    assert recording.graph.nodes[1].operands == (0, 0)
    assert recording.graph.nodes[1].slopes == (1.0, 1.0)
    assert recording.grads[0] == 2.0
    assert walk.measured_graph([a, out]) == recording.graph


def test_operands_from_a_set_have_the_same_order_every_time() -> None:
    leaves: list[Any] = [Bare(float(i % 3), grad=0.0, label=label) for i, label in enumerate("dacb")]
    out: Any = Bare(0.0, grad=0.0, _op="sum", _backward=lambda: None)
    out._prev = set(leaves)
    assert [x.label for x in walk.stable_operands(out)] == ["a", "b", "c", "d"]


def test_ops_of_three_operands_need_no_closure() -> None:
    x = Value(0.5, label="x")
    recording = record(ops.where(x, x * 2, x))
    assert not any(node.handmade for node in recording.graph.nodes)
    assert recording.grads[0] == 2.0


def test_an_engine_that_keeps_operands_in_sets_is_walked_in_its_own_order() -> None:
    root = Micro(2.0).relu() * Micro(3.0).relu()
    for label, operand in zip("ba", root._prev, strict=True):  # in a sentence, b comes after a
        operand.label = label
    graph = walk.graph_of(root)
    assert [node.name for node in graph.nodes if node.operands] == ["b", "a", "n4"]
    assert visits.engine_order(graph, {}) == (4, 3, 1)
