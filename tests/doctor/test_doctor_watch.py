"""Watching: hooks that come and go, models found without being given, runs that fail."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from typing import Any

import pytest
from patients import Patient

import gradwalk
from gradwalk import Value, datasets, doctor, errors, modes, nn, optim
from gradwalk.doctor import Visit
from gradwalk.optim import Optimizer
from gradwalk.train import Training


def engine() -> tuple[dict[str, Any], ...]:
    return dict(vars(Value)), dict(vars(Optimizer)), dict(vars(nn.Module))


def test_every_hook_is_gone_afterwards() -> None:
    before = engine()
    patient = Patient(steps=4)
    patient.train()
    assert engine() == before
    with pytest.raises(KeyError), doctor.watch(patient.model):  # noqa: PT012
        assert modes.top() is not modes.bottom
        raise KeyError
    assert engine() == before
    assert modes.top() is modes.bottom
    assert gradwalk.modes.active == 0
    assert Value.backward.__module__ == "gradwalk.engine"


def test_nothing_of_it_is_there_when_it_is_not_used() -> None:
    script = """
import sys, gradwalk
from gradwalk import nn, optim, Value
code = {name: f.__code__ for name, f in vars(Value).items() if hasattr(f, "__code__")}
model = nn.MLP(2, [4, 1]); nn.mse(model([1.0, 2.0]), 1.0).backward()
print([name for name in sys.modules if "doctor" in name])
with gradwalk.doctor.watch(model):
    nn.mse(model([1.0, 2.0]), 1.0).backward()
same = all(vars(Value)[name].__code__ is was for name, was in code.items())
print(same, "data" in vars(Value), gradwalk.modes.active)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout == "[]\nTrue False 0\n", run.stderr


@pytest.mark.slow
def test_watching_does_not_change_the_training() -> None:
    def trained(watch: bool) -> list[float]:
        patient = Patient(steps=15, loss=nn.hinge, optimiser=lambda p: optim.Adam(p, 0.05))
        if watch:
            patient.train()
        else:
            optimiser = patient.optimiser(patient.model.parameters())
            X, y = patient.points
            for _ in range(patient.steps):
                loss = patient.loss([patient.model(x) for x in X], y)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        return [p.data for p in patient.model.parameters()]

    assert trained(True) == trained(False)


def test_two_watch_at_once() -> None:
    one, two = Patient(steps=3), Patient(steps=3, zero=False, seed=2)
    outer = doctor.watch(one.model)
    outer.start()
    inner = two.train()
    X, y = one.points
    for _ in range(3):
        one.model.zero_grad()
        nn.mse([one.model(x) for x in X], y).backward()
        for p in one.model.parameters():
            p.data -= 0.1 * p.grad
    assert modes.top() is not modes.bottom
    outer.stop()
    assert modes.top() is modes.bottom
    assert inner.report()[0].kind == "no-zero-grad"
    assert not outer.report()


def test_start_and_stop_can_be_called_twice() -> None:
    visit = doctor.Visit()
    visit.start()
    visit.start()
    visit.stop()
    visit.stop()
    assert modes.top() is modes.bottom


def test_a_report_on_the_way() -> None:
    w = Value(2.0, label="w")
    with doctor.watch([w]) as visit:
        for i in range(4):
            (w * w).backward()
            w.data -= 0.1 * w.grad
            assert bool(visit.report()) == (i >= 1)
    assert "forgotten zero_grad" in str(visit)
    assert "forgotten zero_grad" in visit._repr_html_()


def test_the_model_is_found_in_the_programs_variables() -> None:
    random.seed(5)
    network = nn.MLP(2, [6, 1], activation="relu", init="kaiming")
    network.layers[0].neurons[2].b.data = -80.0
    X, y = datasets.moons(20)
    with doctor.watch() as visit:
        for _ in range(12):
            loss = nn.mse([network(x) for x in X], y)
            network.zero_grad()
            loss.backward()
            for p in network.parameters():
                p.data -= 0.05 * p.grad
    report = visit.report()
    assert [finding.kind for finding in report] == ["dead-relu"]
    assert report[0].where == ("network.layers[0].neurons[2]",)
    assert report.looked[0].subject == "network"


class Homemade:
    """Matrices in lists, as one writes them without a Module."""

    def __init__(self) -> None:
        draw = random.Random(1)
        self.W = [[Value(draw.uniform(-1, 1)) for _ in range(2)] for _ in range(5)]
        self.b = [Value(0.0) for _ in range(5)]
        self.out = [Value(draw.uniform(-1, 1)) for _ in range(5)]

    def parameters(self) -> list[Value]:
        return [w for row in self.W for w in row] + self.b + self.out

    def __call__(self, x: list[float]) -> Any:
        hidden = []
        for row, b in zip(self.W, self.b, strict=True):
            total = b
            for w, xi in zip(row, x, strict=True):
                total = total + w * xi
            hidden.append(total.relu())
        return sum(o * h for o, h in zip(self.out, hidden, strict=True))


def test_a_home_made_model() -> None:
    mine = Homemade()
    mine.b[3].data = -90.0
    X, y = datasets.moons(20)
    with doctor.watch() as visit:
        for _ in range(12):
            loss = nn.mse([mine(x) for x in X], y)
            for p in mine.parameters():
                p.grad = 0.0
            loss.backward()
            for p in mine.parameters():
                p.data -= 0.05 * p.grad
    report = visit.report()
    assert [finding.kind for finding in report] == ["dead-relu"], str(report)
    assert report[0].where == ("mine.W[3]",)


def test_plain_values_without_any_model() -> None:
    slope, start = Value(0.0), Value(0.0)
    points = [(x / 4, 3.0 * x / 4 - 1.0) for x in range(8)]
    with doctor.watch() as visit:
        for _ in range(5):
            loss = sum(((slope * x + start - y) ** 2 for x, y in points), Value(0.0))
            loss.backward()
            slope.data -= 0.01 * slope.grad
            start.data -= 0.01 * start.grad
    found = visit.report()[0]
    assert found.kind == "no-zero-grad"
    assert visit.report().looked[0].parameters == 2  # the points are none
    assert visit.report().looked[0].subject == "slope, start"


def test_inputs_that_are_values_are_no_parameters() -> None:
    random.seed(1)
    inputs = [[Value(0.5), Value(-1.0)], [Value(1.0), Value(2.0)]]
    w, v = Value(0.3), Value(-0.2)
    with doctor.watch() as visit:
        for _ in range(5):
            loss = sum(((a * w + b * v).tanh() for a, b in inputs), Value(0.0))
            w.grad = v.grad = 0.0
            for row in inputs:
                for x in row:
                    x.grad = 0.0
            loss.backward()
            w.data -= 0.1 * w.grad
            v.data -= 0.1 * v.grad
    assert not visit.report()
    assert visit.report().looked[0].parameters == 2


def test_one_model_after_the_other() -> None:
    def run(seed: int, zero: bool) -> None:
        patient = Patient(seed=seed)
        X, y = patient.points
        for _ in range(6):
            loss = nn.mse([patient.model(x) for x in X], y)
            if zero:
                patient.model.zero_grad()
            loss.backward()
            for p in patient.model.parameters():
                p.data -= 0.05 * p.grad

    with doctor.watch() as visit:
        run(1, True)
        run(2, False)
    report = visit.report()
    assert [finding.kind for finding in report] == ["no-zero-grad"]
    assert [one.steps for one in report.looked] == [6, 6]


def test_a_loss_that_is_checked_before_backward_still_shows_its_birth() -> None:
    patient = Patient()
    X, y = patient.points

    def risky(scores: Any, labels: Any) -> Value:
        return sum(((score - 100.0).log() for score in scores), Value(0.0))

    training = Training(patient.model, optim.SGD(patient.model.parameters(), 0.1), X, y, loss=risky)
    with pytest.raises(errors.AnomalyError) as e, doctor.watch(patient.model) as visit:
        list(training.run(5))
    found = visit.report()[0]
    assert (found.kind, found.step) == ("birth", 1)
    assert found.what.startswith("nan was born in log(-")
    assert found.line is not None
    assert found.line.source.startswith("return sum(((score - 100.0).log()")
    assert any("nan was born in log(-" in note for note in e.value.__notes__)


def test_an_error_of_another_kind_brings_the_report_with_it() -> None:
    w = Value(2.0, label="w")
    with pytest.raises(ZeroDivisionError) as e, doctor.watch([w]):  # noqa: PT012
        for i in range(4):
            (w * w).backward()
            w.data -= 0.1 * w.grad
            1 / (2 - i)
    assert any("forgotten zero_grad" in note for note in e.value.__notes__)


def test_a_fault_of_the_doctors_own_does_not_stop_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("gradwalk.doctor.model_watch.examine", broken)
    visit = Patient(steps=5).train()
    report = visit.report()
    assert not report
    assert report.remarks[-1] == "the doctor himself failed, and stopped watching: RuntimeError: out of order"
    assert modes.top() is modes.bottom


@pytest.mark.slow
def test_graphs_are_let_go() -> None:
    import gc

    def made_by_ops() -> int:
        gc.collect()
        return sum(type(thing) is Value and not thing.is_leaf for thing in gc.get_objects())

    before = made_by_ops()  # other tests hold some
    visit = Patient(steps=6, every=1).train()
    assert made_by_ops() < before + 100
    assert len(visit.models[0].history.exams) == 6


@pytest.mark.native
def test_compiled_functions_run_eagerly_meanwhile() -> None:
    pytest.importorskip("numba")
    random.seed(3)
    model = nn.MLP(2, [4, 1], activation="tanh")
    X, y = datasets.moons(10)
    loss_of = gradwalk.compile(lambda: nn.mse([model(x) for x in X], y))
    with doctor.watch(model) as visit:
        for _ in range(4):
            loss = loss_of()
            assert isinstance(loss, Value)
            loss.backward()
            for p in model.parameters():
                p.data -= 0.05 * p.grad
    assert visit.report()[0].kind == "no-zero-grad"
    assert any("ran eagerly" in remark for remark in visit.report().remarks)
    with pytest.raises(errors.TraceError, match="nodes in between are not kept"):  # native code again
        loss_of().operands  # noqa: B018


@pytest.mark.native
def test_compiled_measurements_stay_native() -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("numba")
    random.seed(3)
    model = nn.MLP(2, [4, 2], activation="tanh")
    X, y = datasets.moons(12)
    inputs, labels = np.array(X), np.array([(label + 1) // 2 for label in y])
    loss_of = gradwalk.compile(
        lambda x, label: nn.cross_entropy([model(x)], [int(label)]), batch="mean", static="label"
    )
    scores_of = gradwalk.compile(lambda x: model(x), batch="each")
    alone = [np.asarray(row) for row in scores_of(inputs)]
    with doctor.watch(model) as visit:
        for label in (0, 1, 0, 1):
            watched = [np.asarray(row) for row in scores_of(inputs)]
            assert [row.shape for row in watched] == [row.shape for row in alone]
            model.zero_grad()
            loss = loss_of(inputs[labels == label], label)
            loss.backward()
            for p in model.parameters():
                p.data -= 0.05 * p.grad
    report = visit.report()
    assert not report, str(report)
    assert report.looked[0].steps == 4


@pytest.mark.parametrize("every", [0, -1, 2.5, True, "10"])
def test_every_is_a_count(every: Any) -> None:
    with pytest.raises(errors.SettingError, match="every is a whole number from 1 up"):
        doctor.watch(every=every)


def test_what_cannot_be_watched() -> None:
    with pytest.raises(errors.SettingError, match="a model holds Values"):
        doctor.watch(3)
    with pytest.raises(errors.SettingError, match="a model holds Values"):
        doctor.watch([])


def test_without_backward_it_says_so() -> None:
    with doctor.watch() as visit:
        pass
    assert "no backward() of a gradwalk Value was seen" in str(visit)


def test_a_training_in_another_thread_is_watched_too() -> None:
    w = Value(2.0, label="w")

    def train() -> None:
        for _ in range(3):
            (w * w).backward()
            w.data -= 0.1 * w.grad

    with doctor.watch([w]) as visit:
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
    assert visit.report()[0].kind == "no-zero-grad"


# --- whose gradients are still there ---------------------------------------------------------------------------------


def adversaries(zero: bool) -> Visit:
    """Two networks trained in turn; the loss of the first gives gradient to the second as well."""
    random.seed(3)
    maker, judge = nn.MLP(1, [4, 1], activation="tanh"), nn.MLP(1, [4, 1], activation="tanh")
    optimisers = [optim.SGD(model.parameters(), 0.01) for model in (judge, maker)]
    with doctor.watch() as visit:
        for _ in range(8):
            made = [maker([random.gauss(0, 1)]) for _ in range(4)]
            for k in range(2):
                if k == 0:
                    loss = sum((judge([x.data]) + 1) ** 2 for x in made) + (judge([2.0]) - 1) ** 2
                else:
                    loss = sum((judge([x]) - 1) ** 2 for x in made)
                if zero:
                    optimisers[k].zero_grad()
                if k == 0:
                    loss.backward()
                else:
                    loss.backward()  # on a line of its own: that is how losses are told apart
                optimisers[k].step()
    return visit


def test_gradients_that_another_loss_left_are_not_those_of_the_step_before() -> None:
    assert not adversaries(zero=True).report()
    assert {finding.kind for finding in adversaries(zero=False).report()} == {"no-zero-grad"}


def test_of_gradients_that_pile_up_only_those_are_named() -> None:
    random.seed(1)
    model = nn.MLP(2, [4, 1], activation="tanh")
    with doctor.watch(model) as visit:
        for _ in range(6):
            loss = (model([0.5, -0.3]) - 1) ** 2
            model.layers[0].zero_grad()
            loss.backward()
            for p in model.parameters():
                p.data -= 0.01 * p.grad
    found = visit.report().of("no-zero-grad")
    assert found is not None
    assert found.where == ("layers[1]",)
    assert found.sure == "certain"


def test_inputs_of_a_tensor_program_need_not_be_cleared_and_are_no_parameters() -> None:
    x, t = gradwalk.Tensor([[0.1], [0.4], [0.7]]), gradwalk.Tensor([[0.2], [0.3], [0.9]])
    w = gradwalk.Tensor([[0.5]])
    for clear in (True, False):
        with doctor.watch() as visit:
            for _ in range(5):
                loss = ((x @ w - t) ** 2).mean()
                if clear:
                    w.grad = None
                loss.backward()
                w.data = w.data - 0.1 * w.grad
        assert [finding.kind for finding in visit.report()] == [] if clear else ["no-zero-grad"]
        assert visit.report().looked[0].subject == "w"


def test_an_optimiser_whose_parameters_no_loss_reaches() -> None:
    random.seed(1)
    model = nn.MLP(2, [4, 1])
    optimiser = optim.SGD(model.parameters(), 0.1)
    with doctor.watch() as visit:
        for _ in range(4):
            loss = (Value(model([0.5, -0.3]).data) - 1) ** 2
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    (found,) = visit.report()
    assert found.kind == "not-connected"
    assert found.what == "no path leads from the loss to any parameter of model"
    assert len(visit.report().looked) == 1
