"""Healthy runs: the doctor has nothing to say, whatever the net, the data, the activation, the optimiser, the loss."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from patients import Patient

import gradwalk
from gradwalk import Tensor, Value, datasets, doctor, nn, no_grad, op, optim
from gradwalk.doctor import Report
from gradwalk.train import Training

pytestmark = pytest.mark.slow


def zero_one(scores: Any, labels: Sequence[int]) -> Value:
    return nn.binary_cross_entropy(scores, [(label + 1) // 2 for label in labels])


HEALTHY = {
    "tanh, SGD, squared error": Patient(steps=30),
    "relu, SGD, hinge": Patient(activation="relu", init="kaiming", loss=nn.hinge, data="circles", steps=30),
    "relu, Adam, cross-entropy": Patient(
        activation="relu", init="kaiming", loss=zero_one, optimiser=lambda p: optim.Adam(p, 0.02), data="xor", steps=30
    ),
    "sigmoid, momentum": Patient(
        activation="sigmoid", widths=(6,), optimiser=lambda p: optim.SGD(p, 0.1, momentum=0.9), steps=30
    ),
    "leaky relu, AdamW, mini-batches": Patient(
        activation="leaky_relu", optimiser=lambda p: optim.AdamW(p, 0.01), batch=6, steps=40, seed=4
    ),
    "softplus, spiral": Patient(activation="softplus", data="spiral", loss=nn.hinge, steps=30),
    "a narrow and deep one": Patient(widths=(4, 4, 4, 4), optimiser=lambda p: optim.Adam(p, 0.01), steps=25),
    "micrograd's first weights": Patient(activation="relu", init="uniform", loss=nn.hinge, steps=30, seed=7),
    "no hidden layer": Patient(widths=(), loss=zero_one, steps=30),
    "long strides, some of them uphill": Patient(
        widths=(16,), activation="relu", init="uniform", loss=nn.hinge, optimiser=lambda p: optim.SGD(p, 1.0), steps=60
    ),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_silence(name: str) -> None:
    patient = HEALTHY[name]
    report = patient.train().report()
    assert not report, str(report)
    assert (report.notes, report.remarks) == ((), ()), str(report)
    assert str(report).startswith("doctor: nothing found\nlooked at MLP: ")


def watched(model: Any, steps: int, step: Any) -> Report:
    with doctor.watch(model) as visit:
        for i in range(steps):
            step(i)
    return visit.report()


def test_gradients_that_are_gathered_from_several_batches_on_purpose() -> None:
    patient = Patient()
    X, y = patient.points
    optimiser = optim.SGD(patient.model.parameters(), 0.1)

    def step(i: int) -> None:
        part = slice(5 * (i % 4), 5 * (i % 4) + 5)
        nn.mse([patient.model(x) for x in X[part]], y[part]).backward()
        if i % 4 == 3:
            optimiser.step()
            optimiser.zero_grad()

    assert not watched(patient.model, 24, step)


def test_momentum_by_hand() -> None:
    patient = Patient()
    X, y = patient.points

    def step(_: int) -> None:
        for p in patient.model.parameters():
            p.grad *= 0.5
        nn.mse([patient.model(x) for x in X], y).backward()
        for p in patient.model.parameters():
            p.data -= 0.05 * p.grad

    assert not watched(patient.model, 15, step)


def test_the_largest_number_subtracted_as_a_constant() -> None:
    random.seed(2)
    model = nn.MLP(2, [6, 3], activation="tanh")
    X, y = datasets.moons(12)
    targets = [(label + 1) // 2 for label in y]

    def step(_: int) -> None:
        total = Value(0.0)
        for x, target in zip(X, targets, strict=True):
            scores = model(x)
            peak = max(score.data for score in scores)
            powers = [(score - peak).exp() for score in scores]
            total = total - (powers[target] / sum(powers)).log()
        model.zero_grad()
        (total / len(X)).backward()
        for p in model.parameters():
            p.data -= 0.1 * p.grad

    assert not watched(model, 12, step)


class Words(nn.Module):
    """A table of which each sample reads one row, as an embedding is."""

    def __init__(self) -> None:
        self.table = [[Value(random.gauss(0.0, 0.5)) for _ in range(3)] for _ in range(12)]
        self.out = nn.Neuron(3, nonlin=False)

    def __call__(self, word: int) -> Value:
        out: Value = self.out(self.table[word])
        return out


def test_rows_of_a_table_that_no_sample_has_read_yet() -> None:
    random.seed(3)
    model = Words()

    def step(i: int) -> None:
        model.zero_grad()
        nn.mse(model(i % 5), 1.0).backward()
        for p in model.parameters():
            p.data -= 0.05 * p.grad

    report = watched(model, 20, step)
    assert not report, str(report)
    assert [note.what for note in report.notes] == ["7 rows of table were never read"]


def test_rows_of_a_table_that_the_only_sample_never_reads() -> None:
    random.seed(3)
    model = Words()

    def step(_: int) -> None:
        model.zero_grad()
        nn.mse([model(word) for word in (1, 4, 4, 7)], [1.0, 0.0, 0.0, -1.0]).backward()
        for p in model.parameters():
            p.data -= 0.05 * p.grad

    report = watched(model, 12, step)
    assert not report, str(report)
    assert [note.what for note in report.notes] == ["9 rows of table were never read"]


def test_an_op_of_ones_own_that_is_right() -> None:
    @op(lambda x, out: 1.0 - out * out)
    def squash(x: float) -> float:
        return math.tanh(x)

    assert not Patient(activation=squash, steps=6).train().report()


def test_a_training_with_measurements_in_between() -> None:
    patient = Patient()
    X, y = patient.points
    training = Training(patient.model, optim.Adam(patient.model.parameters(), 0.05), X, y, batch=5)
    with doctor.watch(patient.model) as visit:
        for step in training.run(20):
            with no_grad():
                assert patient.model(X[0]).data == patient.model(X[0]).data
            assert step.loss >= 0.0
    assert not visit.report()


def test_two_losses_of_one_model_in_turn() -> None:
    patient = Patient(optimiser=lambda p: optim.Adam(p, 0.01))
    X, y = patient.points
    optimiser = patient.optimiser(patient.model.parameters())
    with doctor.watch(patient.model) as visit:
        for _ in range(10):
            optimiser.zero_grad()
            nn.mse([patient.model(x) for x in X], y).backward()
            optimiser.step()
            optimiser.zero_grad()
            (1000.0 * nn.mse([patient.model(x) for x in X[:3]], y[:3])).backward()
            optimiser.step()
    report = visit.report()
    assert not report, str(report)
    assert [one.steps for one in report.looked] == [10, 10]


@pytest.mark.parametrize("kind", [Value, partial(Tensor, requires_grad=True)])
def test_two_models_that_are_watched_together_and_trained_in_turn(kind: Any) -> None:
    """The loss of the second finds gradients of the first, and gives it none itself."""
    makes, judges = kind(0.5), kind(0.3)
    first, second = optim.SGD([makes], lr=0.1), optim.SGD([judges], lr=0.1)
    with doctor.watch([makes, judges]) as visit:
        for step in range(8):
            second.zero_grad()
            ((judges * (makes.detach() * step) - 1) ** 2 + (judges * 2 - 3) ** 2).backward()
            second.step()
            first.zero_grad()
            ((judges * makes * (step + 1) - 3) ** 2).backward()
            first.step()
    assert not [found for found in visit.report().findings if found.kind == "no-zero-grad"]


def test_gradient_checks_on_the_way_are_no_steps() -> None:
    patient = Patient(samples=4)
    X, y = patient.points
    with doctor.watch(patient.model) as visit:
        for _ in range(4):
            patient.model.zero_grad()
            loss = nn.mse([patient.model(x) for x in X], y)
            gradwalk.check_graph(loss, leaves=patient.model.parameters()[:2])
            loss.backward()
            for p in patient.model.parameters():
                p.data -= 0.1 * p.grad
    assert not visit.report()
    assert visit.report().looked[0].steps == 4


def test_a_loss_of_zero_is_the_end_and_no_fault() -> None:
    patient = Patient(activation="relu", init="kaiming", loss=nn.hinge, samples=6, widths=(8,))
    patient.optimiser = lambda p: optim.Adam(p, 0.1)
    patient.steps = 60
    visit = patient.train()
    assert visit.models[0].history.losses[-1] == 0.0
    assert not visit.report()


def trained_on_single_samples(batch: int, seed: int, bias: float = 0.0) -> Report:
    random.seed(seed)
    X, y = datasets.moons(30, seed=seed)
    model = nn.MLP(2, [4, 4, 1], activation="relu", init="kaiming")
    for neuron in model.layers[0].neurons:
        neuron.b.data += bias
    optimiser = optim.Adam(model.parameters(), 0.01)
    with doctor.watch(model, optimiser) as visit:
        for _ in range(45):
            chosen = [random.randrange(30) for _ in range(batch)]
            loss = nn.mse([model(X[i]) for i in chosen], [y[i] for i in chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return visit.report()


@pytest.mark.parametrize("batch", [1, 3])
def test_units_that_are_off_for_the_few_samples_seen_are_not_called_dead(batch: int) -> None:
    for seed in range(8):
        assert not trained_on_single_samples(batch, seed), seed
    assert [found.kind for found in trained_on_single_samples(batch, 1, bias=-50.0)] == ["dead-relu"]
