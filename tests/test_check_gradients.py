"""`gradcheck`: no wrong gradient let through, kinks told apart, and what else stands in the way."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, no_grad, ops
from gradwalk.check import CheckReport, check_graph, gradcheck
from gradwalk.errors import GradientCheckError

METHODS = ("central", "taylor")


def statuses(report: CheckReport) -> set[str]:
    return {entry.status for entry in report.inputs}


# --- no wrong gradient let through --------------------------------------------------------------------------------


def spoilt(change: Callable[[float], float]) -> Callable[[Value], Value]:
    """x², whose gradient is changed on its way out, though every op is right."""

    def f(x: Value) -> Value:
        x.register_hook(change)
        return x * x

    return f


CHANGES: dict[str, Callable[[float], float]] = {
    "2.001 for 2": lambda g: g * 1.0005,
    "2.00001 for 2": lambda g: g * 1.000005,
    "2.000001 for 2": lambda g: g * 1.0000005,
    "1.999999 for 2": lambda g: g * 0.9999995,
    "a sign": lambda g: -g,
    "nothing": lambda g: 0.0,
    "twice": lambda g: 2 * g,
    "half": lambda g: g / 2,
    "a little more": lambda g: g + 0.01,
    "nan": lambda g: math.nan,
    "inf": lambda g: math.inf,
}


@pytest.mark.parametrize("x", [1.0, -37.5, 1e-5, 1e4])
@pytest.mark.parametrize("name", CHANGES)
def test_a_wrong_gradient_is_caught(name: str, x: float) -> None:
    report = gradcheck(spoilt(CHANGES[name]), [x], raise_error=False)
    (entry,) = report.inputs
    assert entry.status == "wrong"
    assert not report
    assert entry.expected == pytest.approx(2 * x, rel=1e-8)
    assert not entry.error <= entry.tolerance


@pytest.mark.parametrize("x", [1.0, -37.5, 1e4])
@pytest.mark.parametrize("name", [name for name in CHANGES if "000001" not in name and "999999" not in name])
def test_the_remainder_catches_it_too(name: str, x: float) -> None:
    report = gradcheck(spoilt(CHANGES[name]), [x], method="taylor", raise_error=False)
    assert statuses(report) == {"wrong"}
    assert report.inputs[0].expected == pytest.approx(2 * x, rel=1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_the_input_that_is_wrong_is_named_with_both_numbers_and_the_ratio(wrong: int, method: str) -> None:
    def f(*leaves: Value) -> Any:
        leaves[wrong].register_hook(lambda g: 1.5 * g)
        a, b, c = leaves
        return a * b + b * c * c

    report = gradcheck(f, [2.0, 3.0, Value(-1.5, label="c")], method=method, raise_error=False)
    entry = report.inputs[wrong]
    assert [e.status for e in report.inputs] == ["wrong" if i == wrong else "ok" for i in range(3)]
    right = [3.0, 2.0 + 2.25, -9.0][wrong]
    assert entry.name == ["inputs[0]", "inputs[1]", "c"][wrong]
    assert (entry.got, entry.expected, entry.ratio) == pytest.approx((1.5 * right, right, 1.5))
    with pytest.raises(GradientCheckError, match="1 of 3 gradients is wrong") as caught:
        gradcheck(f, [2.0, 3.0, Value(-1.5, label="c")], method=method)
    assert isinstance(caught.value, AssertionError)
    assert entry.name in str(caught.value)


def test_looser_and_tighter_tolerances_are_obeyed() -> None:
    f = spoilt(lambda g: g * 1.0005)
    assert gradcheck(f, [1.0], rtol=1e-3).ok
    assert gradcheck(f, [1.0], atol=2e-3).ok
    assert not gradcheck(f, [1.0], rtol=4e-4, raise_error=False)
    assert gradcheck(spoilt(lambda g: g * (1 + 3e-8)), [1.0]).ok
    assert not gradcheck(spoilt(lambda g: g * (1 + 3e-8)), [1.0], rtol=1e-9, raise_error=False)


def test_a_detached_input_is_caught_and_explained() -> None:
    report = gradcheck(lambda x, y: Value(x.data) * y, [3.0, 2.0], raise_error=False)
    assert [entry.status for entry in report.inputs] == ["wrong", "ok"]
    assert "does not reach it" in report.inputs[0].note
    assert report.problems == ()

    def forgotten(x: Value) -> Value:
        with no_grad():
            return x * x

    assert "no_grad()" in gradcheck(forgotten, [3.0], raise_error=False).inputs[0].note


def test_an_input_that_is_not_used_is_pointed_out_but_not_wrong() -> None:
    weight = Value(2.0)
    report = gradcheck(lambda w, x: weight * x, [weight, 3.0])
    assert "f does not use it" in report.inputs[0].note
    assert "check_graph" in report.inputs[0].note
    assert report.inputs[1].note == ""
    assert weight.grad == 0.0


def test_a_slope_that_cannot_be_measured_well_is_said_to_be_known_only_so_far() -> None:
    report = gradcheck(lambda x: x * 1e-6 + 1e10, [0.5])
    assert report.inputs[0].note.startswith("known only to ±")
    assert report.inputs[0].tolerance > 1e-6
    assert gradcheck(lambda x: x * x, [0.5]).inputs[0].note == ""


# --- kinks ---------------------------------------------------------------------------------------------------------

KINKS: dict[str, tuple[Callable[..., Any], list[Any], str]] = {
    "relu": (lambda x: x.relu(), [0.0], "ReLU(0) = 0 is at its kink (slope 0 at 0)"),
    "abs": (lambda x: abs(x) * 3, [0.0], "abs(0) = 0 is at its kink (slope 0 at 0)"),
    "leaky_relu": (lambda x: x.leaky_relu(0.1), [0.0], "is at its kink (its lower slope at 0)"),
    "max": (lambda x, y: x.maximum(y), [2.0, 2.0], "max(2, 2) = 2 is at its kink (a tie gives one half to each)"),
    "min": (lambda x, y: x.minimum(y), [2.0, 2.0], "min(2, 2) = 2 is at its kink"),
    "clamp": (lambda x: x.clamp(-1, 1) * 2, [1.0], "clamp(1, -1, 1) = 1 is at its kink (slope 1 in x at a bound)"),
    "inside": (lambda x: (x * 2 - 6).relu().exp() + x, [3.0], "ReLU(0) = 0 is at its kink"),
    "on an offset": (lambda x: x.relu() + 1e6, [0.0], "ReLU(0) = 0 is at its kink"),
    "next to it": (lambda x: (x - 3).relu() + 1e6, [3 + 1e-12], "is 1e-12 from its kink"),
}


@pytest.mark.parametrize("name", KINKS)
def test_a_kink_is_said_to_be_a_kink_and_passes(name: str) -> None:
    f, inputs, words = KINKS[name]
    report = gradcheck(f, inputs)
    assert statuses(report) == {"kink"}
    for entry in report.inputs:
        assert "any slope between" in entry.note
    assert words in report.inputs[0].note
    assert "kink: any slope between" in str(report)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("at_zero", "ok"), [(0.0, 1), (0.3, 1), (1.0, 1), (1.001, 0), (-0.001, 0), (5.0, 0)])
def test_at_a_kink_any_slope_between_is_right_and_no_other(at_zero: float, ok: int, method: str) -> None:
    @gradwalk.op(lambda x, out: ops.choose(x > 0.0, 1.0, ops.choose(x < 0.0, 0.0, at_zero)), rough=lambda x: x)
    def ramp(x: float) -> float:
        return max(x, 0.0)

    report = gradcheck(lambda x: 2 * ramp(x) + x, [0.0], raise_error=False, method=method)
    (entry,) = report.inputs
    assert report.ok == bool(ok)
    assert entry.status == ("kink" if ok else "wrong")
    assert "any slope between 1 and 3 is right" in entry.note
    if not ok:
        assert entry.expected == pytest.approx(3.0 if at_zero > 0.5 else 1.0)
        assert report.suspects[0].op == "ramp"


def test_beside_a_kink_there_is_one_right_slope() -> None:
    for x in (1e-3, -1e-3, 1e-6, -1e-6, 1e-12, -1e-12):
        assert statuses(gradcheck(lambda x: x.relu(), [x])) == {"ok"}
        assert statuses(gradcheck(spoilt_relu, [x], raise_error=False)) == {"wrong"}


def spoilt_relu(x: Value) -> Value:
    x.register_hook(lambda g: 0.5)
    return x.relu()


def test_a_kink_in_the_second_derivative_is_none() -> None:
    assert statuses(gradcheck(lambda x: x.relu() ** 2, [0.0])) == {"ok"}


def test_a_branch_of_python_at_its_jump() -> None:
    report = gradcheck(lambda x: x * 0 + 1 if x > 0 else x * 0, [0.0])
    assert report.inputs[0].status == "kink"
    assert "f jumps here or is vertical, and has a slope to one side only" in report.inputs[0].note


def test_a_tie_that_no_op_can_be_blamed_for_is_told() -> None:
    """Bounds of clamp that meet: PyTorch's convention, and so ours, gives neither of them the gradient."""
    report = gradcheck(lambda x, y: x.clamp(y, y), [0.0, 1.0], raise_error=False)
    assert [entry.status for entry in report.inputs] == ["ok", "wrong"]
    assert "no op could be shown to be wrong" in report.problems[0]
    again = check_graph(Value(0.0).clamp(bound := Value(1.0), bound), raise_error=False)
    assert again.problems == report.problems


# --- what is not finite ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x", "where"),
    [
        (lambda x: (x + 1).log() * 2, -2.0, "log(-1) = nan"),
        (lambda x: 1 / (x - 3), 3.0, "1 / 0 = inf"),
        (lambda x: (x * 1000).exp() - 1, 1.0, "exp(1000) = inf"),
    ],
)
def test_a_value_that_is_not_finite_is_no_fault_of_backward(f: Callable[..., Any], x: float, where: str) -> None:
    report = gradcheck(f, [x], raise_error=False)
    assert not report.ok
    assert report.inputs == ()
    (problem,) = report.problems
    assert "no derivative to check here, and no fault of backward's" in problem
    assert f"It first stopped being finite at {where}" in problem
    with pytest.raises(GradientCheckError, match="nothing could be compared"):
        gradcheck(f, [x])


def test_a_slope_without_end_cannot_be_checked() -> None:
    report = gradcheck(lambda x: x.sqrt(), [0.0], raise_error=False)
    assert report.inputs[0].status == "not finite"
    assert "stopped being finite at sqrt(0) = 0: 1 × inf" in report.inputs[0].note
    assert "the gradient could not be checked" in str(report)
    several = gradcheck(lambda x, y: x.sqrt() + y, [0.0, 1.0], raise_error=False)
    assert "1 of 2 gradients could not be checked" in str(several)
    assert not several


def test_infinities_inside_the_graph_do_not_stop_the_check() -> None:
    report = gradcheck(lambda x: (x.exp() * 1e300 * 1e300).tanh() + x, [1.0])
    assert report.inputs[0].got == 1.0


def test_a_gradient_that_is_nan_where_the_slope_is_not_is_wrong() -> None:
    report = gradcheck(lambda x: x.sqrt() * 0, [0.0], raise_error=False)
    (entry,) = report.inputs
    assert entry.status == "wrong"
    assert math.isnan(entry.got)
    assert "it stopped being finite at sqrt(0) = 0: 0 × inf" in entry.note


# --- determinism -----------------------------------------------------------------------------------------------------


def test_a_function_that_gives_another_value_each_time_is_told() -> None:
    dice = random.Random(1)
    report = gradcheck(lambda x: x * dice.random(), [2.0], raise_error=False)
    assert "f is not deterministic: at the same inputs it gave" in report.problems[0]
    assert "seed inside f" in report.problems[0]
    assert not report


def test_a_gradient_that_changes_from_call_to_call_is_told() -> None:
    calls: list[int] = []

    def f(x: Value, y: Value) -> Value:
        calls.append(1)
        times = len(calls)
        y.register_hook(lambda g: g * times)
        return x * y

    report = gradcheck(f, [2.0, Value(3.0, label="y")], raise_error=False)
    assert "backward is not deterministic" in report.problems[0]
    assert "y the gradient 2.0 and then 4.0" in report.problems[0]


@pytest.mark.parametrize("values", [(math.nan, 1.0), (1.0, math.nan), (1.0, 1.5)])
def test_a_value_that_is_there_only_at_times_is_told(values: tuple[float, float]) -> None:
    turns = iter(values)
    report = gradcheck(lambda x: x * 0 + next(turns), [2.0], raise_error=False)
    assert f"f is not deterministic: at the same inputs it gave {values[0]} and then {values[1]}" in report.problems[0]


def test_a_gradient_that_changes_where_no_graph_is_shown_is_told() -> None:
    class Moody:
        """x² with a gradient that grows from call to call; how its nodes hang together is hidden."""

        calls = 0

        def __init__(self, data: float, source: Moody | None = None) -> None:
            self.data, self.grad, self.source = data, 0.0, source

        def backward(self) -> None:
            assert self.source is not None
            Moody.calls += 1
            self.source.grad = 0.1 * Moody.calls

    report = gradcheck(lambda x: Moody(x.data**2, x), [2.0], value=Moody, raise_error=False)
    assert "backward is not deterministic" in report.problems[0]
    assert "inputs[0] the gradient 0.1 and then 0.2" in report.problems[0]


# --- the Taylor mode -------------------------------------------------------------------------------------------------


def test_the_taylor_mode_tests_one_direction_and_names_inputs_only_on_failure() -> None:
    report = gradcheck(lambda a, b: (a * b).tanh(), [0.5, 0.7], method="taylor")
    (entry,) = report.inputs
    assert entry.name == "all 2 inputs, along a random direction"
    assert "divides the remainder by 4 (right: 4 or more, wrong: 2)" in entry.note
    assert entry.expected == pytest.approx(entry.got, rel=1e-9)
    assert report.method == "Taylor remainders"
    line = gradcheck(lambda a, b: 2 * a - b, [0.5, 0.7], method="taylor")
    assert line.inputs[0].note == "no remainder beyond rounding"
    assert [entry.name for entry in gradcheck(lambda x: x * x, [3.0], method="taylor").inputs] == ["inputs[0]"]


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_next_to_an_edge_the_remainder_is_seen_by_shorter_steps(gap: float) -> None:
    (entry,) = gradcheck(lambda x: x.asin(), [1 - gap], method="taylor").inputs
    assert entry.note.startswith("halving the step divides the remainder by 4")


def test_the_direction_comes_from_the_seed() -> None:
    def directional(seed: int) -> float:
        return gradcheck(lambda a, b: a * b, [0.5, 0.7], method="taylor", seed=seed).inputs[0].got

    assert directional(1) == directional(1)
    assert directional(1) != directional(2)
    unasked = gradcheck(lambda a, b: a * b, [0.5, 0.7], method="taylor").inputs[0].got
    assert directional(0) == unasked
