"""The doctor on tensors: each finding with a training where it must speak, and one where it must be silent."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import gradwalk
from gradwalk import Tensor, doctor, nn, optim
from gradwalk.errors import BackwardError, GraphError, SettingError


class Net(nn.Module):
    """Layers with an activation between them, and one number out."""

    def __init__(self, sizes: list[int], activation: str) -> None:
        self.layers = [nn.Linear(a, b) for a, b in pairwise(sizes)]
        self.activation = activation

    def __call__(self, x: Any) -> Any:
        for layer in self.layers[:-1]:
            x = getattr(layer(x), self.activation)()
        return self.layers[-1](x)


def data(n: int = 32) -> tuple[Any, Any]:
    generator = gradwalk.manual_seed(3)
    X = gradwalk.randn(n, 2, generator=generator)
    X.requires_grad = False
    return X, Tensor([1.0 if a * b > 0 else -1.0 for a, b in X.tolist()], requires_grad=False)


def trained(model: Any, steps: int = 12, *, lr: float = 0.05, clear: bool = True,
            loss_of: Callable[[Any, Any], Any] | None = None, step: bool = True) -> Any:  # fmt: skip
    X, Y = data()
    descent = optim.SGD(model.parameters(), lr=lr)
    with doctor.watch(model) as visit:
        for _ in range(steps):
            out = model(X)
            loss = loss_of(out, Y) if loss_of else ((out.reshape(-1) - Y) ** 2).mean()
            if clear:
                descent.zero_grad()
            loss.backward()
            if step:
                descent.step()
    return visit.report()


def kinds(report: Any) -> list[str]:
    return [finding.kind for finding in report]


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_healthy_training_has_no_findings(activation: str) -> None:
    report = trained(Net([2, 16, 16, 1], activation))
    assert kinds(report) == [], str(report)
    assert "12 steps" in str(report)
    assert "6 parameters" in str(report)


def test_dead_units_are_found_and_named() -> None:
    model = Net([2, 8, 8, 1], "relu")
    model.layers[0].bias.data[:] = -100.0
    report = trained(model)
    assert kinds(report)[0] == "dead-relu", str(report)
    assert "all 8 of layers[0]" in report[0].what
    some = Net([2, 8, 1], "relu")
    some.layers[0].bias.data[2:] = -100.0
    found = trained(some)
    assert "6 of 8 of layers[0]" in found[0].what
    assert "layers[0] unit 2" in found[0].where


def test_saturated_layers_are_found() -> None:
    model = Net([2, 8, 1], "tanh")
    model.layers[0].weight.data *= 500.0
    report = trained(model, lr=1e-6)
    assert "saturated" in kinds(report), str(report)
    finding = report.of("saturated")
    assert finding.where == ("layers[0]",)


def test_vanishing_gradients_are_found() -> None:
    deep = Net([2, *[6] * 9, 1], "sigmoid")
    report = trained(deep, lr=1e-3)
    assert kinds(report) == ["vanishing"], str(report)
    assert report[0].where == ("layers[0]",)
    assert "vanishing" not in kinds(trained(Net([2, *[16] * 3, 1], "tanh")))


def test_a_forgotten_zero_grad_is_found() -> None:
    report = trained(Net([2, 8, 1], "tanh"), clear=False)
    assert kinds(report)[0] == "no-zero-grad", str(report)
    assert report[0].sure == "certain"
    assert report[0].line is not None


def test_gradients_that_are_added_up_on_purpose_are_no_finding() -> None:
    model, (X, Y) = Net([2, 8, 1], "tanh"), data()
    descent = optim.SGD(model.parameters(), lr=0.05)
    with doctor.watch(model) as visit:
        for _ in range(8):
            descent.zero_grad()
            for part in (slice(0, 16), slice(16, 32)):
                ((model(X[part]).reshape(-1) - Y[part]) ** 2).mean().backward()
            descent.step()
    assert kinds(visit.report()) == [], str(visit)


def test_a_wrong_broadcast_is_found() -> None:
    report = trained(Net([2, 8, 1], "tanh"), loss_of=lambda out, Y: ((out - Y) ** 2).mean())
    assert kinds(report) == ["wrong-broadcast"], str(report)
    assert "(32, 1) and (32,) became (32, 32)" in report[0].what
    assert report[0].sure == "likely"
    assert report[0].line is not None
    assert "out - Y" in report[0].line.source


@pytest.mark.parametrize(
    "loss_of",
    [
        lambda out, Y: ((out - Y.reshape(-1, 1)) ** 2).mean(),
        lambda out, Y: ((out.reshape(-1) - Y) ** 2).mean(),
        lambda out, Y: (out - out.reshape(-1)).abs().mean(),  # all pairs, on purpose
        lambda out, Y: (out.reshape(-1, 1) - Y.reshape(1, -1)).abs().mean(),  # spelt out
        lambda out, Y: (out - Y[:4]).abs().mean(),
    ],
)
def test_broadcasts_that_are_meant_are_no_finding(loss_of: Any) -> None:
    assert "wrong-broadcast" not in kinds(trained(Net([2, 8, 1], "tanh"), 3, loss_of=loss_of))


def test_parameters_that_never_move_and_parts_that_are_not_reached() -> None:
    assert "no-step" in kinds(trained(Net([2, 8, 1], "tanh"), step=False))
    model, (X, Y) = Net([2, 8, 1], "tanh"), data()
    vars(model)["spare"] = nn.Linear(2, 2)
    with doctor.watch(model) as visit:
        for _ in range(6):
            model.zero_grad()
            ((model(X).reshape(-1) - Y) ** 2).mean().backward()
            for p in model.parameters():
                p.data = p.data - 0.05 * p.grad.numpy()
    told = str(visit.report())
    assert "spare" in told


def test_the_same_graph_walked_again_is_refused_by_the_tensors_themselves() -> None:
    w = Tensor([2.0], label="w")
    loss = (w * w).sum()
    with doctor.watch([w]):
        loss.backward()
        w.data = w.data - 0.1 * w.grad.numpy()
        with pytest.raises(BackwardError, match="out of date"):
            loss.backward()


def test_births_of_nan_are_named_with_their_place() -> None:
    x = Tensor([[1.0, 2.0], [0.0, 3.0]], label="x")
    (found,) = doctor(x.log().sum())
    assert (found.kind, found.what) == ("birth", "-inf was born in log(x=(2, 2))")
    assert "number [1, 0]" in found.where[0]
    assert "1 of 4 numbers" in found.why
    masked = gradwalk.where(x > 1.0, x, -math.inf).softmax(dim=1)  # meant
    assert kinds(doctor(masked[:, 1].sum())) == []


def test_one_graph_is_looked_at_and_left_as_it_is() -> None:
    model, (X, Y) = Net([2, 4, 1], "relu"), data()
    model.layers[0].bias.data[:] = -100.0
    loss = ((model(X).reshape(-1) - Y) ** 2).mean()
    report = doctor(model, loss)
    assert kinds(report)[0] == "dead-relu", str(report)
    assert model.layers[1].bias.grad.tolist() == [0.0]
    again = doctor(model, lambda: ((model(X).reshape(-1) - Y) ** 2).mean())
    assert kinds(again) == kinds(report)
    with pytest.raises(SettingError, match="graphs of Values only"):
        doctor(model, loss, optimiser=0.1)
    with pytest.raises(GraphError, match="one number"):
        doctor(model, model(X))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor(2.0, label="s") * 3.0,
        lambda: gradwalk.zeros(0, 3).relu().sum(),
        lambda: (Tensor([1e300, -1e-300], label="x") * 2.0).tanh().sum(),
        lambda: Tensor.of([gradwalk.Value(2.0, label="v")]).relu().sum(),
        lambda: (gradwalk.randn(3, 3, 3) @ gradwalk.randn(3, 4)).relu().sum(),
        lambda: gradwalk.conv2d(gradwalk.randn(1, 1, 5, 5), gradwalk.randn(2, 1, 3, 3)).relu().sum(),
    ],
)
def test_odd_graphs_do_not_break_him(make: Callable[[], Any]) -> None:
    assert isinstance(str(doctor(make())), str)


def test_a_training_in_float32_without_a_model_given() -> None:
    X, Y = (x.float() for x in data())
    W, b = Tensor([[0.5], [0.25]], dtype="float32", label="W"), Tensor([0.0], dtype="float32", label="b")
    with doctor.watch() as visit:
        for _ in range(5):
            for p in (W, b):
                p.grad = None
            (((X @ W + b).tanh().reshape(-1) - Y) ** 2).mean().backward()
            for p in (W, b):
                p.data = p.data - 0.1 * p.grad.numpy()
    assert kinds(visit.report()) == [], str(visit)
    assert "5 steps" in str(visit)


def test_a_power_that_overflows_is_written_once() -> None:
    x = Tensor([1e200, 1.0], label="x")
    with doctor.watch([x]) as visit:
        (x**2).sum().backward()
    (found,) = [finding for finding in visit.report().findings if finding.kind == "birth"]
    assert found.what.startswith("inf was born in x=(2,)**2 at step 1")
    assert found.where == ("x=(2,) ** 2 = (2,), number [0]",)
