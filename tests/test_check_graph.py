"""`check_graph`: a graph that exists already, without the function that made it."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import micrograd.engine
import pytest
from cases import GRADWALK, Program, programs
from hypothesis import given, settings

import gradwalk
from gradwalk import Value, nn, ops
from gradwalk.check import check_graph
from gradwalk.errors import GradientCheckError, GraphError, SettingError


def loss_of(model: Any, samples: int = 2) -> Any:
    dice = random.Random(3)
    rows = [[dice.uniform(-1, 1), dice.uniform(-1, 1)] for _ in range(samples)]
    return sum((model(row) - 0.5) ** 2 for row in rows)


def small_model() -> Any:
    random.seed(5)
    return nn.MLP(2, [3, 1], activation="tanh")


@settings(max_examples=60, deadline=None)
@given(programs(max_steps=40))
def test_random_graphs_pass_and_are_not_disturbed(program: Program) -> None:
    nodes = program.run(Value, GRADWALK)
    for i, v in enumerate(nodes):
        v.grad = float(i)
    data = [v.data for v in nodes]
    report = check_graph(nodes[-1])
    assert {entry.status for entry in report.inputs} <= {"ok"}
    assert [v.data for v in nodes] == data
    assert [v.grad for v in nodes] == [float(i) for i in range(len(nodes))]


def test_a_loss_over_the_parameters_of_a_model() -> None:
    model = small_model()
    loss = loss_of(model)
    for i, parameter in enumerate(model.parameters()):
        parameter.label = f"p{i}"
        parameter.grad = 100.0
    report = check_graph(loss)
    named = {entry.name: entry for entry in report.inputs}
    loss.backward()
    for i, parameter in enumerate(model.parameters()):
        assert named[f"p{i}"].got + 100.0 == pytest.approx(parameter.grad)
    assert len(report.inputs) == 13  # and no constant among them


def test_leaves_without_a_label_are_numbered_and_constants_are_no_leaves() -> None:
    a, b = Value(2.0), Value(3.0)
    report = check_graph((a * 5 + b**2).clamp(0, 100) + gradwalk.where(True, a, 7.0))
    assert [entry.name for entry in report.inputs] == ["leaf 0 (2)", "leaf 1 (3)"]
    assert [entry.got for entry in report.inputs] == [6.0, 6.0]


def test_a_leaf_is_a_graph() -> None:
    assert check_graph(Value(3.0)).inputs[0].got == 1.0


def test_the_gradient_is_that_of_one_backward_whatever_the_nodes_hold() -> None:
    x = Value(3.0)
    root = x * x
    for _ in range(3):
        root.backward()
    assert x.grad == 18.0
    assert check_graph(root).inputs[0].got == 6.0
    assert x.grad == 18.0


def test_a_wrong_op_is_named_with_the_leaf_that_it_spoils() -> None:
    wrong = replace(ops.exp, partials=(lambda x, out: out * 1.001,))
    a, b = Value(0.5, label="a"), Value(2.0, label="b")
    root = wrong(a) * b + b
    with pytest.raises(GradientCheckError, match="check_graph failed: 1 of 2 gradients is wrong") as caught:
        check_graph(root)
    assert "at fault: exp, at exp(a=0.5) = 1.64872" in str(caught.value)
    report = check_graph(root, raise_error=False)
    assert [entry.status for entry in report.inputs] == ["wrong", "ok"]


def test_a_gradient_that_a_hook_changes_is_told() -> None:
    a = Value(0.5, label="a")
    b = a * 3
    b.register_hook(lambda g: 2 * g)
    report = check_graph(b.tanh() + b, raise_error=False)
    assert report.suspects == ()
    assert "every op is right on its own" in report.problems[0]
    assert "a=0.5 * 3 = 1.5 should get" in report.problems[0]
    assert "2 times too much" in report.problems[0]


def test_a_kink_is_named() -> None:
    report = check_graph((Value(2.0) - 2).relu() * 3)
    assert report.inputs[0].status == "kink"
    assert "any slope between 0 and 3 is right; ReLU(0) = 0 is at its kink" in report.inputs[0].note


def test_data_that_was_changed_since_is_told() -> None:
    a = Value(2.0, label="a")
    root = (a * a).exp()
    a.data = 1.5
    report = check_graph(root, raise_error=False)
    assert not report
    assert report.inputs == ()
    assert "a=1.5 * a=1.5 = 4 does not hold what its operands give now (2.25)" in report.problems[0]
    assert "build the graph again" in report.problems[0]


def test_data_that_was_changed_to_what_has_no_value_is_told() -> None:
    a = Value(2.0, label="a")
    root = a.log()
    a.data = -1.0
    assert "does not hold what its operands give now (nan)" in check_graph(root, raise_error=False).problems[0]


def test_a_value_that_is_not_finite_is_told() -> None:
    report = check_graph(Value(-1.0).log() + 1, raise_error=False)
    (problem,) = report.problems
    assert problem.startswith("the value is nan, so there is no derivative to check here")
    assert "It first stopped being finite at log(-1) = nan" in problem


def test_only_the_leaves_that_are_asked_for_are_nudged() -> None:
    model = small_model()
    loss = loss_of(model)
    chosen = model.parameters()[2:5]
    assert len(check_graph(loss, leaves=chosen).inputs) == 3
    with pytest.raises(GraphError, match="leaves= takes leaves of the graph, and 9 is none"):
        check_graph(loss, leaves=[Value(9.0)])
    with pytest.raises(GraphError, match="and 'w' is none"):
        check_graph(loss, leaves=["w"])
    with pytest.raises(GraphError, match="is none"):
        check_graph(loss, leaves=[loss])


def test_a_large_graph_is_checked_along_directions_and_node_by_node() -> None:
    random.seed(5)
    model = nn.MLP(2, [16, 16, 1], activation="tanh")
    loss = loss_of(model, samples=1)
    report = check_graph(loss)
    names = [entry.name for entry in report.inputs]
    assert names == [f"all 337 leaves, along random direction {i}" for i in (1, 2, 3, 4)]
    assert len({entry.got for entry in report.inputs}) == 4
    assert [entry.got for entry in check_graph(loss).inputs] == [entry.got for entry in report.inputs]
    assert [entry.got for entry in check_graph(loss, seed=1).inputs] != [entry.got for entry in report.inputs]

    wrong = replace(ops.tanh, partials=(lambda x, out: 1.0 - x * x,))
    model.layers[0].neurons[0].w[0].register_hook(lambda g: g + 0.01)
    report = check_graph(wrong(loss), raise_error=False)
    assert {entry.status for entry in report.inputs} == {"wrong"}
    assert [suspect.op for suspect in report.suspects] == ["tanh"]


def test_up_to_the_limit_every_leaf_is_nudged(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Value(2.0, label="a") * Value(3.0, label="b") + 1  # two leaves, and four nodes: the leaves, *, +
    assert check_graph(root).nodes == 4
    monkeypatch.setattr("gradwalk.check.graph.AFFORDABLE", 8)
    assert [entry.name for entry in check_graph(root).inputs] == ["a", "b"]
    monkeypatch.setattr("gradwalk.check.graph.AFFORDABLE", 7)
    names = [entry.name for entry in check_graph(root).inputs]
    assert names == [f"all 2 leaves, along random direction {i}" for i in (1, 2, 3, 4)]
    assert check_graph(root) == check_graph(root, seed=0)
    assert check_graph(root) != check_graph(root, seed=1)


def test_along_a_direction_kinks_and_rounding_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradwalk.check.graph.AFFORDABLE", 0)
    a, b = Value(2.0, label="a"), Value(2.0, label="b")
    report = check_graph(abs(a - 2) + b)
    assert {entry.status for entry in report.inputs} == {"kink"}
    assert "abs(0) = 0 is at its kink" in report.inputs[0].note
    a.register_hook(lambda g: g + 1e-3)
    assert {entry.status for entry in check_graph(a * b, raise_error=False).inputs} == {"wrong"}


def test_beside_a_kink_that_does_not_matter_no_kink_is_named() -> None:
    (entry,) = check_graph((Value(3.0 + 1e-7) - 3).relu()).inputs
    assert (entry.status, entry.note) == ("ok", "")


def test_a_deep_chain_is_checked_in_linear_time() -> None:
    x = Value(1.0)
    y = x
    for _ in range(5000):
        y = y * 1.0001
    report = check_graph(y)
    assert report.nodes == 5001
    assert report.inputs[0].got == pytest.approx(1.0001**5000)


def test_graphs_of_micrograd_are_checked_where_every_op_is_known() -> None:
    a, b = micrograd.engine.Value(2.0), micrograd.engine.Value(-3.0)
    a.grad = 4
    report = check_graph((a * b + b**3 - 7).relu() + a / b)
    assert report.ok
    assert a.grad == 4
    with pytest.raises(GraphError, match="cannot be computed again: its function is not known"):
        check_graph(a * a)  # its set of operands does not say whether it was a times a, or a times a number


def test_a_node_that_holds_nan_still_holds_what_its_operands_give() -> None:
    x = Value(2.0)
    report = check_graph(gradwalk.where(True, x, (x - 5).sqrt()), raise_error=False)
    assert report.value == 2.0
    assert [entry.status for entry in report.inputs] == ["ok"]  # nothing comes from what was not taken
    assert "was changed after" not in str(report)


def test_a_node_made_by_hand_cannot_be_computed_again() -> None:
    a = Value(2.0, label="a")
    out = Value(8.0, (a,), "cube")
    out._backward = lambda: None
    with pytest.raises(GraphError, match=r"cube\(a=2\) = 8 cannot be computed again.*@gradwalk.op, or .* gradcheck"):
        check_graph(out + 1)


@pytest.mark.parametrize("root", [3.0, None, "loss", [Value(1.0)], math.pi, SimpleNamespace(data=1.0, grad=0.0)])
def test_what_is_no_graph_is_refused(root: Any) -> None:
    with pytest.raises(GraphError, match=r"check_graph takes the result of a computation.*gradcheck\(f, inputs\)"):
        check_graph(root)


def test_bad_tolerances_are_refused() -> None:
    with pytest.raises(SettingError, match="atol"):
        check_graph(Value(1.0), atol=-1.0)
