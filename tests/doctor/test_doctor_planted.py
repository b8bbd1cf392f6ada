"""Every fault, planted in a training run, is the first finding, and is named at the right place."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from patients import Patient

import gradwalk
from gradwalk import Value, datasets, doctor, nn, op, optim
from gradwalk.doctor import Finding, Visit

pytestmark = pytest.mark.slow


def first(visit: Visit, kind: str) -> Finding:
    report = visit.report()
    assert not report.remarks
    assert report.findings, "nothing was found"
    assert report[0].kind == kind, str(report)
    return report[0]


def source(finding: Finding) -> str:
    assert finding.line is not None
    assert finding.line.file.endswith(".py")
    return finding.line.source


# --- nan and inf ------------------------------------------------------------------------------------------------


def test_a_log_of_zero_is_named_with_its_line_at_the_step_where_it_happens() -> None:
    patient = Patient(steps=8)
    calls = []

    def log_loss(scores: list[Value], labels: list[int]) -> Value:
        calls.append(1)
        scale = 1.0 if len(calls) < 6 else 0.0
        right = [score.sigmoid() * scale for score in scores]
        return -sum((p.log() for p in right), Value(0.0)) / len(right)

    patient.loss = log_loss
    found = first(patient.train(), "birth")
    assert found.step == 6  # a step that was not followed: the line is that of the same node in the first
    assert found.what == "-inf was born in log(0) at step 6"
    assert source(found) == "return -sum((p.log() for p in right), Value(0.0)) / len(right)"
    assert found.numbers["producers"] == 20
    assert found.numbers["carriers"] == 22  # 20 sums, the minus and the mean
    assert found.where[0] == "after layers[2].neurons[0]: log(0) = -inf"
    assert any("log(x + 1e-12)" in idea for idea in found.remedy)


def test_an_overflow_inside_a_layer_is_named_by_its_neuron() -> None:
    patient = Patient(activation=lambda v: v.exp(), steps=4)
    patient.model.layers[1].neurons[3].b.data = 800.0
    found = first(patient.train(), "birth")
    assert found.what.startswith("inf was born in exp(8")
    assert found.where[0].startswith("layers[1].neurons[3]: exp(8")
    assert found.numbers["op"] == "exp"


def test_a_gradient_that_turns_inf_on_the_way_back() -> None:
    def distance(scores: list[Value], labels: list[int]) -> Value:
        gaps = [score - score.data for score in scores]
        return sum(((gap * gap).sqrt() for gap in gaps), Value(0.0))

    found = first(Patient(loss=distance, steps=3).train(), "birth")
    assert found.what == "a gradient turned inf at sqrt(0) = 0, on the way back at step 1"
    assert "upstream 1 × local inf" in found.why
    assert source(found) == "return sum(((gap * gap).sqrt() for gap in gaps), Value(0.0))"
    assert any("sqrt(x + 1e-12)" in idea for idea in found.remedy)


def test_a_gradient_of_nothing_meets_an_infinite_slope() -> None:
    def masked(scores: list[Value], labels: list[int]) -> Value:
        safe = [0.0 * (score - score.data).sqrt() + score * score for score in scores]
        return sum(safe, Value(0.0)) / len(safe)

    found = first(Patient(loss=masked, steps=3).train(), "birth")
    assert "a gradient turned nan" in found.what
    assert any("where(x > 0, sqrt(x), 0)" in idea for idea in found.remedy)


def test_the_branch_that_was_not_taken_is_no_finding() -> None:
    def masked(scores: list[Value], labels: list[int]) -> Value:
        safe = [gradwalk.where(0.0, (score - score.data).sqrt(), score * score) for score in scores]
        return sum(safe, Value(0.0)) / len(safe)

    assert not any(finding.kind == "birth" for finding in Patient(loss=masked, steps=3).train().report().findings)


def test_nan_in_the_data_was_made_by_no_op() -> None:
    patient = Patient(steps=3)
    patient.points[0][7][1] = math.nan
    found = first(patient.train(), "birth")
    assert found.what.startswith("nan came in as a constant: ")
    assert "it came in with the data" in found.why
    assert found.numbers["way"] == "arrival"


def test_a_parameter_that_an_update_broke() -> None:
    class Dividing(optim.Optimizer):
        def step(self) -> None:
            self.steps += 1
            gradients = self.gradients()
            self.parameters[5].data = math.inf if self.steps == 3 else self.parameters[5].data
            for p, g in zip(self.parameters, gradients, strict=True):
                p.data -= self.lr * g

    found = first(Patient(optimiser=lambda parameters: Dividing(parameters, 0.1), steps=6).train(), "birth")
    assert found.what == "inf was born in an update: layers[0].neurons[1].b at step 4"
    assert "the update after step 3 turned it from" in found.why


def test_a_parameter_that_was_loaded_broken() -> None:
    patient = Patient(steps=3)
    patient.model.layers[1].neurons[2].w[4].data = math.nan
    found = first(patient.train(), "birth")
    assert found.what == "the parameter layers[1].neurons[2].w[4] is nan at step 1"
    assert any("made or loaded" in idea for idea in found.remedy)


def test_a_gradient_that_overflows_and_one_that_a_closure_breaks() -> None:
    steep = Patient(loss=lambda scores, labels: sum(scores, Value(0.0)) * 1e200 * 1e-200, steps=2)
    for neuron in steep.model.layers[2].neurons:
        for w in neuron.w:
            w.data = 1e200
    found = first(steep.train(), "birth")
    assert any("grown too large" in idea for idea in found.remedy)

    def halved(x: Value) -> Value:
        out = Value(math.tanh(x.data), (x,), "tanh")

        def push() -> None:
            x.grad += out.grad * math.inf

        out._backward = push
        return out

    found = first(Patient(activation=halved, steps=2, samples=4).train(), "birth")
    assert found.what.startswith("a gradient turned ")
    assert "the _backward of tanh(" in found.why
    assert found.remedy == ("look at what its _backward divides by",)


# --- derivatives of the user's own ---------------------------------------------------------------------------------


@op(lambda x, out: 1.0 - x * x)  # of the operand, where it should be of the result
def wrong_tanh(x: float) -> float:
    return math.tanh(x)


def test_a_wrong_rule_of_an_op() -> None:
    found = first(Patient(activation=wrong_tanh).train(), "wrong-derivative")
    assert found.what.startswith("the derivative of wrong_tanh is wrong: it gives ")
    assert found.where[0].startswith("layers[")
    assert found.numbers["expected"] == pytest.approx(1.0 - math.tanh(_operand(found)) ** 2, rel=1e-4)


def _operand(found: Finding) -> float:
    return float(found.where[0].split("(")[1].split(")")[0])


def by_hand(slope: float, *, name: str = "tanh", adds: bool = True, scales: bool = True) -> Any:
    """tanh as learners write it, with a `_backward` that is off by a factor, or in the way it adds."""

    def activation(x: Value) -> Value:
        out = Value(math.tanh(x.data), (x,), name)

        def push() -> None:
            share = slope * (1.0 - out.data**2) * (out.grad if scales else 1.0)
            x.grad = x.grad + share if adds else share

        out._backward = push
        return out

    return activation


def test_a_wrong_backward_made_by_hand_is_known_by_its_name() -> None:
    found = first(Patient(activation=by_hand(0.9), steps=4, samples=10).train(), "wrong-derivative")
    assert found.what.startswith("the derivative of tanh is wrong")
    assert found.numbers["got"] == pytest.approx(0.9 * found.numbers["expected"], rel=1e-6)


def test_a_wrong_backward_without_a_known_name_is_seen_from_its_neighbours() -> None:
    found = first(Patient(activation=by_hand(0.5, name="squash"), steps=4).train(), "wrong-derivative")
    assert found.what.startswith("the derivative of squash is wrong")
    assert found.numbers["got"] == pytest.approx(0.5 * found.numbers["expected"], rel=0.1)


def test_a_backward_that_sets_instead_of_adding() -> None:
    found = first(Patient(activation=by_hand(1.0, adds=False), steps=4, samples=6).train(), "wrong-derivative")
    assert "= where += should be" in found.what


def test_a_backward_that_forgets_its_own_gradient() -> None:
    found = first(Patient(activation=by_hand(1.0, scales=False), steps=4, samples=6).train(), "wrong-derivative")
    assert "multiply by out.grad" in found.what


def test_right_backwards_made_by_hand_are_silent() -> None:
    for name in ("tanh", "squash"):
        assert not Patient(activation=by_hand(1.0, name=name), steps=4).train().report()


def test_operands_without_a_backward() -> None:
    found = first(Patient(activation=lambda x: Value(math.tanh(x.data), (x,), "tanh")).train(), "wrong-derivative")
    assert found.what == "'tanh' has operands and no _backward: no gradient passes it"


# --- what is not connected ---------------------------------------------------------------------------------------


def test_numbers_that_left_the_graph_are_proven_with_line_and_amount() -> None:
    patient = Patient()
    first_layer, second, last = patient.model.layers

    def forward(x: Any) -> Any:
        hidden = [Value(v.data * 2) for v in first_layer(x)]
        return last(second(hidden))

    found = first(patient.train(forward), "detached")
    assert found.severity == "error"
    assert found.sure == "certain"
    assert found.where == ("layers[0]",)
    assert source(found) == "hidden = [Value(v.data * 2) for v in first_layer(x)]"
    assert found.numbers["count"] == 8 * 20
    assert abs(found.numbers["lost"]) > 0.0


def test_a_constant_read_from_data() -> None:
    patient = Patient()

    def forward(x: Any) -> Any:
        one, two, three = patient.model.layers
        return three([v * h.data for v, h in zip(two(one(x)), one(x), strict=True)])

    found = patient.train(forward).report().of("detached")
    assert found is not None
    assert found.severity == "warning"  # layers[0] still has another way
    assert "part of the gradient of layers[0]" in found.what
    assert source(found) == "return three([v * h.data for v, h in zip(two(one(x)), one(x), strict=True)])"


@pytest.mark.parametrize("way", ["detach", "no_grad"])
def test_a_layer_behind_detach_or_no_grad(way: str) -> None:
    patient = Patient()
    one, two, three = patient.model.layers

    def forward(x: Any) -> Any:
        if way == "detach":
            hidden = [v.detach() for v in one(x)]
        else:
            with gradwalk.no_grad():
                hidden = one(x)
        return three(two(hidden))

    found = first(patient.train(forward), "detached")
    assert found.where == ("layers[0]",)
    assert way in found.why
    assert source(found) == ("hidden = [v.detach() for v in one(x)]" if way == "detach" else "hidden = one(x)")


def test_detach_where_another_way_remains_is_meant() -> None:
    patient = Patient()

    def forward(x: Any) -> Any:
        score = patient.model(x)
        return score + 0.1 * score.detach()

    assert not patient.train(forward).report()


def test_a_neuron_that_the_forward_pass_leaves_out() -> None:
    patient = Patient()
    one, two, three = patient.model.layers
    found = first(patient.train(lambda x: three([*two(one(x))[:-1], 0.5])), "disconnected")
    assert found.where == ("layers[1].neurons[7]",)
    assert found.numbers["count"] == 9
    assert "without them" in found.why


def test_a_row_of_weights_that_the_forward_pass_leaves_out() -> None:
    draw = random.Random(1)
    weights = [[Value(draw.uniform(-1, 1)) for _ in range(2)] for _ in range(5)]
    X, y = datasets.moons(10)
    with doctor.watch({"weights": weights}) as visit:
        for _ in range(5):
            scores = [sum(((w[0] * a + w[1] * b).tanh() for w in weights[:-1]), Value(0.0)) for a, b in X]
            loss = nn.mse(scores, y)
            for row in weights:
                row[0].grad = row[1].grad = 0.0
            loss.backward()
            for w in (w for row in weights for w in row):
                w.data -= 0.05 * w.grad
    found = first(visit, "disconnected")
    assert found.where == ("['weights'][4]",)


def test_a_loss_of_another_model() -> None:
    patient, other = Patient(), Patient(seed=2)
    found = first(patient.train(other.model), "not-connected")
    assert found.what == "no path leads from the loss to any parameter of MLP"


def test_a_loss_that_is_a_leaf() -> None:
    patient = Patient(loss=lambda scores, labels: Value(sum(score.data for score in scores)))
    found = first(patient.train(), "not-connected")
    assert found.what == "the loss is a leaf: backward() has nothing to walk"
    assert "read from .data" in found.why


# --- units and layers -------------------------------------------------------------------------------------------


def test_a_dead_layer_and_what_it_stops() -> None:
    patient = Patient(activation="relu", init="kaiming")
    for neuron in patient.model.layers[1].neurons:
        neuron.b.data = -50.0
    found = first(patient.train(), "dead-relu")
    assert found.severity == "error"
    assert found.where == ("layers[1]",)
    assert "gradient of exactly 0" in found.why
    assert "although a path leads there" in found.why


def test_a_dead_unit() -> None:
    patient = Patient(activation="relu", init="kaiming", seed=5)
    patient.model.layers[1].neurons[3].b.data = -50.0
    found = first(patient.train(), "dead-relu")
    assert found.severity == "warning"
    assert found.where == ("layers[1].neurons[3]",)


def test_saturated_layers() -> None:
    patient = Patient(init=lambda nin, nout: random.uniform(-60.0, 60.0), optimiser=lambda p: optim.SGD(p, 0.01))
    found = first(patient.train(), "saturated")
    assert found.where == ("layers[1]",)
    assert found.numbers["share"] > 0.9


def test_saturated_sigmoids() -> None:
    patient = Patient(activation="sigmoid")
    for neuron in patient.model.layers[0].neurons:
        neuron.b.data = 30.0
    found = first(patient.train(), "saturated")
    assert found.where == ("layers[0]",)
    assert "sigmoid" in found.what


def test_vanishing_gradients() -> None:
    found = first(Patient(widths=(6,) * 8, activation="sigmoid", init="uniform", samples=8).train(), "vanishing")
    assert found.where == ("layers[0]",)
    assert found.numbers["left"] < 1e-3


def test_exploding_gradients() -> None:
    patient = Patient(widths=(8,) * 6, activation="relu", init=lambda nin, nout: random.uniform(-6, 6), samples=8)
    found = first(patient.train(), "exploding")
    assert found.where == ("layers[0]",)
    assert found.numbers["times"] > 1e3
    assert found.step == 1


def test_weights_that_are_all_zero() -> None:
    found = first(Patient(init="zeros").train(), "zero-gradient")
    assert "multiplied by 0" in found.what
    assert any("weights that all start at 0" in idea for idea in found.remedy)


# --- the loop -----------------------------------------------------------------------------------------------------


def test_forgotten_zero_grad() -> None:
    found = first(Patient(zero=False).train(), "no-zero-grad")
    assert found.step == 2
    assert found.sure == "certain"
    assert found.numbers["steps"] == list(range(2, 13))
    assert found.numbers["times"] > 2.0
    assert source(found) == "loss.backward()"


def test_forgotten_zero_grad_after_clipping_is_found_too() -> None:
    class Clipping(optim.SGD):
        def step(self) -> None:
            optim.clip_grad_norm(self.parameters, 0.5)
            super().step()

    found = first(Patient(zero=False, optimiser=lambda p: Clipping(p, 0.05)).train(), "no-zero-grad")
    assert found.sure == "certain"


def test_a_learning_rate_that_overshoots_and_one_that_does_not() -> None:
    found = first(Patient(optimiser=lambda p: optim.SGD(p, 20.0)).train(), "overshoot")
    assert found.step == 1
    assert found.numbers["rate"] == 20.0
    suggested = found.numbers["suggested"]
    assert 0.01 < suggested < 2.0
    assert found.where == ("SGD with a learning rate of 20",)
    assert source(found) == "optimiser.step()"
    assert not Patient(optimiser=lambda p: optim.SGD(p, suggested)).train().report()


def test_a_learning_rate_that_kills_the_units_comes_before_the_dead_ones() -> None:
    report = Patient(activation="relu", init="kaiming", optimiser=lambda p: optim.SGD(p, 5.0)).train().report()
    kinds = [finding.kind for finding in report]
    assert kinds[0] == "overshoot"
    assert "dead-relu" in kinds
    dead = report.of("dead-relu")
    assert dead is not None
    assert dead.why.endswith("it may come of finding 1")


def test_an_old_graph_walked_again() -> None:
    patient = Patient()
    X, y = patient.points
    loss = nn.mse([patient.model(x) for x in X], y)
    with doctor.watch(patient.model) as visit:
        for _ in range(5):
            patient.model.zero_grad()
            loss.backward()
            for p in patient.model.parameters():
                p.data -= 0.1 * p.grad
    found = first(visit, "stale-graph")
    assert found.step == 2
    assert source(found) == "loss.backward()"


def test_parameters_that_never_move() -> None:
    class Forgetful(optim.SGD):
        def step(self) -> None:
            pass

    found = first(Patient(optimiser=lambda p: Forgetful(p, 0.1)).train(), "no-step")
    assert found.what == "the parameters never change"


def test_gradients_cleared_before_the_step() -> None:
    patient = Patient()
    X, y = patient.points
    optimiser = optim.SGD(patient.model.parameters(), 0.1)
    with doctor.watch(patient.model) as visit:
        for _ in range(5):
            nn.mse([patient.model(x) for x in X], y).backward()
            optimiser.zero_grad()
            optimiser.step()
    found = first(visit, "no-step")
    assert found.what == "the gradients are set to 0 between backward() and the optimiser's step()"
