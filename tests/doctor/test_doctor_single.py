"""doctor(loss) and doctor(model, loss): one graph, looked at once, and nothing changed in it."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, datasets, doctor, errors, nn, optim


def net(activation: Any = "tanh", widths: tuple[int, ...] = (6, 6)) -> tuple[nn.MLP, list[list[float]], list[int]]:
    random.seed(11)
    X, y = datasets.moons(12, seed=11)
    return nn.MLP(2, [*widths, 1], activation=activation, init="xavier"), X, y


def test_a_healthy_graph() -> None:
    model, X, y = net()
    report = doctor(model, nn.mse([model(x) for x in X], y))
    assert (len(report), report.notes, report.remarks) == (0, (), ())
    assert str(report) == "doctor: nothing found\nlooked at MLP: 67 parameters; 1,543 nodes"


def test_nothing_is_changed() -> None:
    model, X, y = net(activation="relu")
    model.layers[0].neurons[0].b.data = -100.0
    loss = nn.mse([model(x) for x in X], y)
    loss.backward()
    before = [(v, v.data, v.grad) for v in gradwalk.walk.topological(loss)]
    optimiser = optim.Adam(model.parameters(), 0.5)
    optimiser.step()
    optimiser.zero_grad()
    state = optimiser.state_dict()
    parameters = [(p.data, p.grad) for p in model.parameters()]
    doctor(model, loss, optimiser=optimiser)
    doctor(loss)
    doctor(model, lambda: nn.mse([model(x) for x in X], y), optimiser=0.1)
    assert [(p.data, p.grad) for p in model.parameters()] == parameters
    assert optimiser.state_dict() == state
    own = {id(p) for p in model.parameters()}
    assert all((v.data, v.grad) == (data, grad) for v, data, grad in before if id(v) not in own)


def test_a_function_shows_lines_and_cuts() -> None:
    model, X, y = net()

    def loss() -> Value:
        hidden = [[Value(v.data) for v in model.layers[0](x)] for x in X]
        return nn.mse([model.layers[2](model.layers[1](h)) for h in hidden], y)

    found = doctor(model, loss)[0]
    assert (found.kind, found.where, found.sure) == ("detached", ("layers[0]",), "certain")
    assert found.line is not None
    assert found.line.source == "hidden = [[Value(v.data) for v in model.layers[0](x)] for x in X]"
    assert found.line.file == __file__

    graph_alone = doctor(model, loss())[0]
    assert graph_alone.kind == "disconnected"
    assert graph_alone.where == ("layers[0]",)
    assert "layers[1] reads nothing but leaves" in graph_alone.why
    assert "(likely)" in graph_alone.remedy[0]


def test_a_graph_alone_shows_copies_of_its_own_numbers() -> None:
    model, X, y = net()

    def loss(copy: Any) -> Value:
        scores = []
        for x in X:
            hidden = model.layers[0](x)
            scores.append(model.layers[2](model.layers[1](hidden)) + copy(hidden[0]))
        return nn.mse(scores, y)

    for copy in (lambda v: Value(v.data), lambda v: v.data):
        (found,) = doctor(model, loss(copy))
        assert (found.kind, found.sure, found.severity) == ("detached", "likely", "warning")
        assert "to the last digit" in found.why
        assert found.where == ("layers[0].neurons[0]",)
    assert not doctor(model, loss(lambda v: v))


def test_a_peak_that_is_subtracted_is_no_copy() -> None:
    random.seed(1)
    model = nn.MLP(2, [4, 3], activation="tanh")
    scores = model([0.3, -0.7])
    peak = max(score.data for score in scores)
    powers = [(score - peak).exp() for score in scores]
    assert not doctor(model, -(powers[1] / sum(powers)).log())


def test_inputs_that_pass_through_are_no_copies() -> None:
    w, x = Value(0.123456789012345, label="w"), Value(0.987654321098765)
    assert not doctor([w], (x * 1.0).relu() * w + x)


def test_a_function_shows_wrong_derivatives_of_any_kind() -> None:
    w, v = Value(0.7, label="w"), Value(-0.4, label="v")

    def loss() -> Value:
        out = Value(w.data**2 * v.data, (w, v), "mystery")

        def push() -> None:
            w.grad += 2 * w.data * v.data * out.grad
            v.grad += 2 * w.data**2 * out.grad  # once too often

        out._backward = push
        return out * 3.0

    found = doctor([w, v], loss)[0]
    assert (found.kind, found.numbers["op"]) == ("wrong-derivative", "mystery")
    assert "building the graph again" in found.why
    assert not doctor([w, v], loss())  # of the graph alone nothing can be said

    def right() -> Value:
        out = Value(w.data**2, (w,), "mystery")

        def push() -> None:
            w.grad += 2 * w.data * out.grad

        out._backward = push
        return out * v

    assert not doctor([w, v], right)
    assert (w.data, v.data) == (0.7, -0.4)


def test_a_bare_graph_is_named_by_labels_and_variables() -> None:
    p = Value(0.0)
    q = Value(2.0, label="the other")
    found = doctor(p * 2 + q.log() + (p * 0.0).log())[0]
    assert found.what == "-inf was born in log(0)"
    assert found.where == ("p: log(0) = -inf",)
    assert doctor(q / p)[0].what == "inf was born in the other=2 / 0"


def test_dead_relu_against_no_path() -> None:
    random.seed(4)
    model = nn.MLP(1, [4, 1])
    for neuron in model.layers[0].neurons:
        neuron.b.data = -30.0
    X = [[i / 10] for i in range(10)]
    dead = doctor(model, nn.mse([model(x) for x in X], [1.0] * 10))[0]
    assert dead.kind == "dead-relu"
    assert "although a path leads there" in dead.why
    cut = doctor(model, nn.mse([model.layers[1]([x[0]] * 4) for x in X], [1.0] * 10))[0]
    assert cut.kind == "disconnected"
    assert "because the loss was computed without them" in cut.why
    assert cut.where == ("layers[0]",)


def test_one_sample_is_not_enough_to_call_a_unit_dead() -> None:
    random.seed(4)
    model = nn.MLP(2, [8, 1])
    report = doctor(model, nn.mse(model([1.0, -1.0]), 1.0))
    assert report.of("dead-relu") is None


@pytest.mark.parametrize("rate", [5.0, "SGD", "Adam"])
def test_a_step_tried_and_taken_back(rate: Any) -> None:
    w = Value(1.0, label="w")
    optimiser = {"SGD": optim.SGD([w], 5.0), "Adam": optim.Adam([w], 5.0)}.get(rate, rate)
    found = doctor([w], w * w, optimiser=optimiser)[0]
    assert found.kind == "overshoot"
    assert "one step raises the loss from 1 to" in found.why
    assert found.numbers["suggested"] < 2.0
    assert not doctor([w], w * w, optimiser=0.1)
    assert w.data == 1.0


def test_clamped_away() -> None:
    model, X, y = net()
    loss = nn.mse([(model(x) * 1e-3 + 7.0).clamp(-1.0, 1.0) for x in X], y)
    found = doctor(model, loss)[0]
    assert found.kind == "zero-gradient"
    assert found.what.startswith("a clamp cuts off every path to layers[0].neurons[0].w[0]")


def test_deep_graphs_are_no_trouble() -> None:
    w = Value(1.0, label="w")
    y = w
    for _ in range(20_000):
        y = y * 1.0001
    assert not doctor([w], y)


WRONG: list[tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ((3.0,), {}, errors.GraphError, r"doctor takes a loss, one Value, or a function that computes it; .* float: 3.0"),
    ((lambda: 3.0,), {}, errors.GraphError, "the function gave float: 3.0"),
    ((nn.Neuron(2),), {}, errors.GraphError, "a model alone shows nothing: give doctor the Neuron and a loss"),
    ((Value(1.0), nn.Neuron(2)), {}, errors.SettingError, r"the model comes first: doctor\(model, loss\)"),
    (("model", Value(1.0)), {}, errors.SettingError, "a model holds Values"),
    (([Value(1.0)], Value(1.0)), {"optimiser": -1.0}, errors.SettingError, "a learning rate above 0, not -1.0"),
    (([Value(1.0)], Value(1.0)), {"optimiser": math.inf}, errors.SettingError, "a learning rate above 0, not inf"),
    (([Value(1.0)], Value(1.0)), {"optimiser": "SGD"}, errors.NotANumberError, "SGD"),
]


@pytest.mark.parametrize(("given", "options", "error", "message"), WRONG)
def test_what_it_refuses(given: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        doctor(*given, **options)


def test_a_backward_that_fails_says_so() -> None:
    x = Value(1.0, label="x")
    out = Value(2.0, (x,), "broken")

    def push() -> None:
        x.grad += 1 / 0

    out._backward = push
    with pytest.raises(errors.BackwardError, match="broken"):
        doctor([x], out)
    assert (x.grad, out.grad) == (0.0, 0.0)


def test_the_module_can_be_called_and_has_names() -> None:
    import gradwalk.doctor as module

    assert gradwalk.doctor is module
    assert callable(gradwalk.doctor)
    assert gradwalk.doctor.watch is module.watch
    assert isinstance(gradwalk.doctor(Value(1.0, label="x") * 2), gradwalk.doctor.Report)


def test_parameters_without_a_model_have_no_name_of_one() -> None:
    (found,) = doctor([Value(1.0, label="w")], Value(3.0) * 2)
    assert found.what == "no path leads from the loss to any of the parameters"
