"""Trainings as strangers write them: every finding is true of the run, and what is meant is no finding."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from patients import Patient

import gradwalk
from gradwalk import Value, datasets, doctor, nn, op, optim
from gradwalk.doctor import Report

pytestmark = pytest.mark.slow


class Pair(nn.Module):
    """A generator and a discriminator."""

    def __init__(self, generator: Any, discriminator: Any) -> None:
        self.generator, self.discriminator = generator, discriminator


class Net(nn.Module):
    """Two layers of tensors."""

    def __init__(self) -> None:
        self.W = gradwalk.Tensor([[0.3, -0.2, 0.5], [-0.4, 0.1, 0.6]])
        self.V = gradwalk.Tensor([[0.2], [-0.7], [0.4]])

    def __call__(self, x: Any) -> Any:
        return (x @ self.W).tanh() @ self.V


def trained(model: Any, loss: Callable[[], Any], steps: int = 6) -> Report:
    optimiser = optim.SGD(model.parameters(), 0.05)
    with doctor.watch(model, optimiser) as visit:
        for _ in range(steps):
            found = loss()
            optimiser.zero_grad()
            found.backward()
            optimiser.step()
    return visit.report()


def test_what_one_of_two_losses_leaves_out_on_purpose() -> None:
    random.seed(1)
    pair = Pair(nn.MLP(1, [4, 2]), nn.MLP(2, [4, 1]))
    X, _ = datasets.moons(6)
    one, other = (optim.SGD(part.parameters(), 0.01) for part in (pair.discriminator, pair.generator))
    with doctor.watch(pair) as visit:
        for _ in range(12):
            fakes = [pair.generator((random.random(),)) for _ in range(3)]
            pair.zero_grad()
            seen = [[x.detach() for x in fake] for fake in fakes]
            scores = [pair.discriminator(x) for x in (*X[:3], *seen)]
            nn.binary_cross_entropy(scores, [1] * 3 + [0] * 3).backward()
            one.step()
            pair.zero_grad()
            nn.binary_cross_entropy([pair.discriminator(fake) for fake in fakes], [1] * 3).backward()
            other.step()
    assert not visit.report(), str(visit)


def test_an_optimiser_of_another_model_is_not_said_to_have_been_cleared() -> None:
    random.seed(1)
    model, other = nn.MLP(2, [3, 1]), nn.MLP(2, [3, 1])
    optimiser = optim.SGD(other.parameters(), 0.05)
    with doctor.watch(model, optimiser) as visit:
        for _ in range(5):
            model.zero_grad()
            nn.mse(model((0.5, -1.0)), 1.0).backward()
            optimiser.step()
    found = visit.report()[0]
    assert (found.kind, found.what) == ("no-step", "the parameters never change")


def test_small_weights_of_a_tanh_net_are_not_laid_to_a_sigmoid() -> None:
    patient = Patient(widths=(6, 6, 6), steps=5)
    for p in patient.model.parameters():
        p.data *= 0.01
    found = patient.train().report()[0]
    assert found.kind == "vanishing"
    assert not any("sigmoid" in idea for idea in found.remedy)
    assert any("larger first weights" in idea for idea in found.remedy)


def test_a_product_with_a_plain_zero_is_not_laid_to_the_weights() -> None:
    patient = Patient(steps=5, loss=lambda scores, y: nn.mse([score * 0.0 for score in scores], y))
    found = patient.train().report()[0]
    assert (found.kind, "multiplied by 0" in found.what) == ("zero-gradient", True)
    assert not any("random weights" in idea for idea in found.remedy)


def test_a_straight_through_estimator_may_stay() -> None:
    @op(lambda x, out: 1.0)
    def through(x: float) -> float:
        return 1.0 if x > 0 else 0.0

    found = Patient(activation=through, steps=3).train().report()[0]
    assert found.kind == "wrong-derivative"
    assert "a straight-through estimator is meant to be so: leave it" in found.remedy


def test_a_mask_of_infinities_in_front_of_a_softmax() -> None:
    net, x = Net(), gradwalk.Tensor([[1.0, 0.5], [-0.3, 2.0], [0.4, -1.0]])
    mask = gradwalk.Tensor([[0.0 if j <= i else float("-inf") for j in range(3)] for i in range(3)])
    report = trained(net, lambda: (gradwalk.softmax(net(x) @ net(x).T + mask, 1) @ net(x)).square().mean())
    assert not report, str(report)


def test_a_nan_in_the_data_of_tensors_is_told_at_its_step() -> None:
    net, x = Net(), gradwalk.Tensor([[1.0, float("nan")], [0.5, 2.0]])
    found = trained(net, lambda: net(x).square().mean())[0]
    assert (found.kind, found.step) == ("birth", 1)
    assert found.why == "no op made it: it came in with the data"


def test_a_tensor_that_an_update_broke() -> None:
    net, x = Net(), gradwalk.Tensor([[1.0, 0.5]])
    found = trained(net, lambda: ((net(x) - net(x)) ** 2).sum().sqrt())[0]
    assert (found.what, found.step) == ("nan or inf was born in an update: W at step 2", 2)
    assert found.why == "the update after step 1 made it so; its gradient was not finite either"


def test_gradients_that_pile_up_are_counted_among_those_that_could_be_compared() -> None:
    w = Value(2.0)
    with doctor.watch([w]) as visit:
        for _ in range(4):
            (w * w).backward()
            w.data -= 0.01 * w.grad
    assert visit.report()[0].why.startswith("3 of 4 calls of backward() found")


def test_a_nan_in_the_branch_of_tensors_that_is_not_taken() -> None:
    net, x = Net(), gradwalk.Tensor([[1.0, 0.5], [-0.3, 2.0], [0.4, -1.0]])
    report = trained(net, lambda: gradwalk.where(net(x) > 0, net(x).log(), net(x) * 2.0).square().mean())
    assert not report, str(report)


def test_a_detach_is_not_advised_where_there_is_one() -> None:
    random.seed(1)
    base, head = nn.Layer(2, 4, activation="tanh"), nn.Neuron(4, nonlin=False)
    pair = Pair(base, head)
    found = trained(pair, lambda: nn.mse(head([x.detach() for x in base((0.5, -1.0))]), 1.0))[0]
    assert found.kind == "detached"
    assert not any("write .detach()" in idea for idea in found.remedy)
