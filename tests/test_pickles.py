"""Graphs, models in training and optimisers travel in pickles: any depth, the same numbers, the same sharing."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import random
import weakref
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, errors, nn, ops, optim, walk


@gradwalk.op(lambda x, out: 3 * x * x)
def cubed(x: float) -> float:
    return x * x * x


def halve(gradient: float) -> float:
    return gradient / 2


PUSHED: list[str] = []


def pushes() -> None:
    PUSHED.append("pushed")


class Named(Value):  # a class of the user's own, with attributes
    pass


class Slotted(Value):
    __slots__ = ("extra", "other")


def travelled(thing: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(thing, protocol))


def facts(root: Any) -> list[Any]:
    order = list(walk.topological(root))
    place = {v: i for i, v in enumerate(order)}
    return [
        (v.data, v.grad, v._op, v.label, v.local_derivatives, [place.get(x, x) for x in v.inputs], v.primitive)
        for v in order
    ]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_graph_is_the_same_graph_afterwards(protocol: int) -> None:
    a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    d = a * b + a**2
    d.label = "d"
    y = gradwalk.where(d, a, b) + cubed(a) * 2 - ops.maximum(d, 0.5).tanh() / b
    y.backward()
    again = travelled(y, protocol)
    assert facts(again) == facts(y)
    again.backward()
    y.backward()
    assert facts(again) == facts(y)
    assert pickle.dumps(again) == pickle.dumps(travelled(again))


def test_every_op_of_the_table_is_pickled_by_its_name() -> None:
    for op in ops.TABLE.values():
        assert travelled(op) is op
        y = op(*map(Value, (0.25, 0.5, 0.75)[: op.arity]))
        assert facts(travelled(y)) == facts(y)
    assert travelled(cubed) is cubed


def test_any_depth_travels_and_so_does_it_in_lists() -> None:
    x = y = Value(1.0)
    for _ in range(30_000):
        y = y * 1.0001
    again, leaf = travelled([y, x])
    again.backward()
    y.backward()
    assert (again.data, leaf.grad) == (y.data, x.grad)


def test_what_was_shared_is_shared() -> None:
    a = Value(2.0)
    b = a * 3
    first, second, leaf, listed = travelled((b + 1, b * b, a, [b, b]))
    first.backward()
    second.backward()
    assert leaf.grad == 39.0
    assert listed[0] is listed[1] is first.operands[0]


def test_gradients_that_are_graphs_travel_too() -> None:
    x = Value(0.5)
    y = (x.tanh() * x).exp()
    y.backward(create_graph=True)
    again, leaf = travelled((y, x))
    for root, at in ((y, x), (again, leaf)):
        gradient = at.grad
        gradwalk.zero_grad(root)
        gradient.backward()
    assert leaf.grad == x.grad != 0.0


def test_a_leaf_takes_the_graph_of_its_gradient_along() -> None:
    x = Value(0.5)
    (x.tanh() * x).exp().backward(create_graph=True)
    again = travelled(x)
    for leaf in (x, again):
        gradient = leaf.grad
        gradwalk.zero_grad(gradient)
        gradient.backward()
    assert again.grad == x.grad != 0.0


def test_functions_of_the_users_travel_by_name_or_are_refused_by_name() -> None:
    a = Value(2.0, label="a")
    a.register_hook(halve)
    made = Value(5.0, (a,), "made", label="made")
    made._backward = pushes
    leaf, hand = travelled((a, made))
    (leaf * 4).backward()
    assert leaf.grad == 2.0
    PUSHED.clear()
    hand.backward()
    assert PUSHED == ["pushed"]
    made._backward = lambda: None
    with pytest.raises(
        errors.GraphError, match=r"^made = made\(a=2\) has a _backward .*<lambda>, that only .*@gradwalk"
    ):
        pickle.dumps(made * 2 + 1)
    b = Value(1.0, label="b")
    b.register_hook(lambda gradient: None)
    with pytest.raises(errors.GraphError, match=r"^b=1 has .* a hook"):
        pickle.dumps([b])
    assert travelled(a * 2).data == 4.0  # a pickle that failed leaves nothing behind
    assert gradwalk.flat._planned.nodes == {}


def test_ops_that_have_no_name_are_refused_by_name() -> None:
    local = gradwalk.op(lambda x, out: 2 * x)(lambda x: x * x)
    with pytest.raises(
        errors.OpError, match=r"op <lambda> cannot be pickled: .* test_pickles has none .* top of a module"
    ):
        pickle.dumps(local(Value(3.0)))
    text = pickle.dumps(ops.tanh).replace(b"tanh", b"tanx")
    with pytest.raises(errors.OpError, match="needs the op tanx, which this gradwalk does not have"):
        pickle.loads(text)
    with pytest.raises(errors.OpError, match=r"needs the op test_pickles\.pushes, which is no longer there"):
        pickle.loads(pickle.dumps(cubed).replace(b"\x05cubed", b"\x06pushes"))


def test_classes_of_the_users_keep_what_they_add() -> None:
    named, slotted = Named(2.0), Slotted(3.0)
    named.colour, slotted.extra = "red", [named]  # type: ignore[attr-defined]
    again: Any
    for again in (travelled(slotted), copy.copy(slotted), copy.deepcopy(slotted)):
        assert (type(again), again.data, again.extra[0].colour) == (Slotted, 3.0, "red")
        assert not hasattr(again, "other")
    again = copy.copy(slotted)
    assert again.extra[0] is named
    named.colour = slotted
    twin: Any = copy.deepcopy(slotted * 2).inputs[0]
    assert twin.extra[0] is not named
    assert twin.extra[0].colour is twin


def test_a_copy_points_at_the_same_operands() -> None:
    a = Value(2.0, label="a")
    y = a * 3
    y.backward()
    again = copy.copy(y)
    assert again.operands[0] is a
    assert (again.data, again.grad, again.label) == (6.0, 1.0, "")
    again.label = "again"
    assert y.label == ""
    closed = Value(1.0, (a,), "closed")
    closed._backward = lambda: None
    assert copy.copy(closed).closure is closed.closure


def test_a_model_in_training_goes_on_as_it_would_have() -> None:
    random.seed(3)
    model: Any = nn.MLP(2, [4, 1], activation="tanh")
    optimizer = optim.Adam(model.parameters(), lr=0.1)

    def step(model: Any, optimizer: Any) -> float:
        optimizer.zero_grad()
        loss = (model([0.5, -1.0]) - 1.0) ** 2
        loss.backward()
        optimizer.step()
        model.latest = loss
        return float(loss.data)

    step(model, optimizer)
    step(model, optimizer)
    model2, optimizer2 = travelled((model, optimizer))
    assert facts(model2.latest) == facts(model.latest)
    assert [step(model2, optimizer2) for _ in range(3)] == [step(model, optimizer) for _ in range(3)]
    assert model2.state_dict() == model.state_dict()


def test_recordings_and_graphs_as_data_travel() -> None:
    a = Value(2.0, label="a")
    recording = walk.record(a * a + 1)
    assert travelled(recording).to_json() == recording.to_json()
    assert travelled(walk.graph_of(a * a)) == walk.graph_of(a * a)


def squared_in_another_process(v: Any) -> Any:
    return v * v


def test_values_go_to_processes_that_were_not_forked() -> None:
    """As on macOS and Windows, where a new process knows nothing but what it is sent."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (y,) = pool.map(squared_in_another_process, [Value(3.0, label="v")])
    y.backward()
    assert (y.data, y.operands[0].grad, y.operands[0].label) == (9.0, 6.0, "v")


def test_a_value_cannot_be_weakly_referenced_and_the_documents_say_so() -> None:
    with pytest.raises(TypeError, match="weak reference"):
        weakref.ref(Value(1.0))  # a place for it would cost every node eight bytes
    weakref.ref(Named(1.0))  # a class of one's own has it
