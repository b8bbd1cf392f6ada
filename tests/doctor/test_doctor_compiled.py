"""Compiled trainings under the doctor's eyes: native in between, and every fault is found as it would be eagerly."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, datasets, doctor, nn, optim
from gradwalk.doctor import Visit
from gradwalk.keepers import keeper_of

pytestmark = pytest.mark.native

pytest.importorskip("numba")

STEPS = 24
EXAMINED = (1, 2, 4, 7, 10, 20)  # with every=10

X, Y = datasets.moons(16)


class Run:
    """A compiled training of a small network; the keywords plant faults in it."""

    def __init__(
        self,
        *,
        lr: float = 0.02,
        activation: Any = "tanh",
        loss: Callable[[Any, Any], Value] = nn.mse,
        zero_grad: bool = True,
        step: bool = True,
        change: Callable[[nn.MLP], None] = lambda model: None,
    ) -> None:
        random.seed(7)
        self.model = nn.MLP(2, [8, 8, 1], activation=activation)
        change(self.model)
        self.optimizer = optim.Adam(self.model.parameters(), lr)
        self.zero_grad, self.step = zero_grad, step
        self.losses: list[float] = []
        self.native: list[bool] = []  # after each backward(): whether compiled code has the parameters
        self.loss_of = gradwalk.compile(lambda: loss([self.model(x) for x in X], Y))

    def train(self) -> None:
        for _ in range(STEPS):
            loss = self.loss_of()
            if self.zero_grad:
                self.optimizer.zero_grad()
            loss.backward()
            if self.step:
                self.optimizer.step()
            self.losses.append(loss.data)
            self.native.append(keeper_of(self.optimizer.parameters) is not None)

    def watched(self) -> Visit:
        with doctor.watch(self.model, every=10) as visit:
            self.train()
        return visit


def first(run: Run, kind: str) -> Any:
    report = run.watched().report()
    assert report.findings, "nothing was found"
    assert report[0].kind == kind, str(report)
    return report[0]


def test_steps_that_are_not_examined_run_natively_and_give_the_same_losses() -> None:
    alone, watched = Run(), Run()
    alone.train()
    visit = watched.watched()
    assert alone.native == [True] * STEPS
    assert [i for i, native in enumerate(watched.native, start=1) if not native] == list(EXAMINED)
    assert watched.losses == pytest.approx(alone.losses, rel=1e-12, abs=1e-12)
    report = visit.report()
    assert not report, str(report)
    assert [exam.step for exam in visit.models[0].history.exams] == list(EXAMINED)
    assert (report.looked[0].steps, report.looked[0].examined) == (STEPS, len(EXAMINED))
    assert any("ran eagerly" in remark for remark in report.remarks)


def test_a_forgotten_zero_grad() -> None:
    finding = first(Run(zero_grad=False), "no-zero-grad")
    assert (finding.step, finding.sure) == (2, "certain")
    assert "1 of 2 calls" in finding.why  # no more than were looked at, right after one that was


def test_a_step_that_is_never_taken() -> None:
    assert first(Run(step=False), "no-step").what == "the parameters never change"


def test_a_rate_that_overshoots() -> None:
    finding = first(Run(lr=4.0), "overshoot")
    assert finding.where == ("Adam with a learning rate of 4",)
    assert finding.numbers["rate"] == 4.0


def test_dead_units() -> None:
    def drown(model: nn.MLP) -> None:
        for neuron in model.layers[0].neurons:
            neuron.b.data = -100.0

    assert "all 8 of layers[0]" in first(Run(activation="relu", change=drown), "dead-relu").what


def test_a_wrong_derivative() -> None:
    wrong = gradwalk.op(lambda x, out: 0.5 * (1 - out * out))(math.tanh)
    assert "should give" in first(Run(activation=wrong), "wrong-derivative").what


def test_a_nan_in_a_step_that_nobody_examined_is_traced_to_its_birth() -> None:
    scale = Value(1.0, label="scale")
    random.seed(7)
    model = nn.MLP(2, [4, 1], activation="tanh")
    optimizer = optim.SGD(model.parameters(), 0.01)
    loss_of = gradwalk.compile(lambda s: nn.mse([model(x) for x in X], Y) + 0.0 * (scale * s).log())
    with doctor.watch(model, every=10) as visit:
        for i in range(STEPS):
            loss = loss_of(0.0 if i == 13 else 1.0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    finding = visit.report()[0]
    assert (finding.kind, finding.step) == ("birth", 14)
    assert finding.what.startswith("-inf was born in log(0")
    assert finding.line is not None


def test_a_step_by_hand_is_tried_before_native_code_takes_the_next() -> None:
    """Else the parameters of several steps later would pass for those of one."""
    w = Value(3.0, label="w")

    @gradwalk.compile
    def loss_of(x: float) -> Value:
        return (w * x - 2).log()

    with doctor.watch([w]) as visit:
        for _ in range(10):
            loss = loss_of(1.0)
            w.grad = 0.0
            loss.backward()
            w.data -= 0.1 * w.grad
    assert [finding.kind for finding in visit.report()] == ["birth"]
