"""`gradcheck`: no false alarm, no wrong gradient let through, and a report that says what is the matter."""

from __future__ import annotations

import array
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cases import GRADWALK, Program, points, programs
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, no_grad, ops
from gradwalk.check import CheckReport, InputCheck, Suspect, check_graph, gradcheck
from gradwalk.check.inputs import direction
from gradwalk.check.judge import judged
from gradwalk.check.numeric import EPSILON, Slope
from gradwalk.errors import (
    BackwardError,
    GradientCheckError,
    GradwalkError,
    GraphError,
    InputSizeError,
    NotANumberError,
    SettingError,
)
from gradwalk.ops import TABLE, Op

METHODS = ("central", "taylor")


def statuses(report: CheckReport) -> set[str]:
    return {entry.status for entry in report.inputs}


# --- no false alarm --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("op", TABLE.values(), ids=lambda op: op.name)
def test_every_op_passes_at_random_points_of_its_domain(op: Op, method: str) -> None:
    @settings(max_examples=30, deadline=None)
    @given(points(op))
    def check(point: tuple[float, ...]) -> None:
        report = gradcheck(op, point, method=method)
        assert statuses(report) == {"ok"}

    check()


@pytest.mark.parametrize("method", METHODS)
def test_random_programs_pass(method: str) -> None:
    @settings(max_examples=80, deadline=None)
    @given(programs(max_steps=40))
    def check(program: Program) -> None:
        def f(*leaves: Value) -> Any:
            given = iter(leaves)
            return program.run(lambda _: next(given), GRADWALK)[-1]

        assert statuses(gradcheck(f, program.leaves, method=method)) == {"ok"}

    check()


def wild_program(seed: int) -> tuple[list[float], list[tuple[Op, list[Any]]]]:
    """Inputs and steps with no care for conditioning: kinks and poles may be near, slopes may be huge."""
    dice = random.Random(seed)
    data = [dice.uniform(-3, 3) if dice.random() < 0.5 else dice.uniform(-1, 1) for _ in range(dice.randint(1, 4))]
    inputs, steps = list(data), []
    for _ in range(dice.randint(1, 25) * 4):
        op = dice.choice(list(TABLE.values()))
        operands = [dice.randrange(len(data)) if dice.random() < 0.85 else dice.uniform(-3, 3) for _ in range(op.arity)]
        point = [data[x] if isinstance(x, int) else x for x in operands]
        fits = all(low < x < high for x, (low, high) in zip(point, op.domain, strict=True))
        degenerate = op is ops.clamp and not point[1] < point[2]  # bounds that meet: PyTorch's answer is no slope
        if not fits or degenerate or op is ops.where or not any(isinstance(x, int) for x in operands):
            continue
        out = op.forward(*point)
        if math.isfinite(out) and abs(out) < 1e6:
            steps.append((op, operands))
            data.append(out)
    return inputs, steps


def run_steps(steps: list[tuple[Op, list[Any]]], leaves: tuple[Any, ...]) -> Any:
    nodes = list(leaves)
    for op, operands in steps:
        nodes.append(op(*(nodes[x] if isinstance(x, int) else x for x in operands)))
    return nodes[-1] + 0.0


def test_a_thousand_wild_programs_raise_no_alarm() -> None:
    gradients = sharp = 0
    for seed in range(1000):
        inputs, steps = wild_program(seed)
        report = gradcheck(lambda *leaves, steps=steps: run_steps(steps, leaves), inputs, raise_error=False)
        assert report.ok, f"seed {seed}:\n{report}"
        for entry in report.inputs:
            if entry.got:
                gradients += 1
                sharp += entry.tolerance < 1e-6 * abs(entry.got)
    assert gradients > 500
    assert sharp > 0.98 * gradients  # tight all the same: an error of 1e-6 would be seen in nearly all of them


HARD: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "exp(30)": (lambda x: x.exp(), [30.0]),
    "1/x near the pole": (lambda x: 1 / x, [1e-3]),
    "x**8": (lambda x: x**8, [7.0]),
    "x**-3": (lambda x: x**-3, [0.02]),
    "tanh(20)": (lambda x: x.tanh(), [20.0]),
    "sigmoid(-40)": (lambda x: x.sigmoid(), [-40.0]),
    "a sum of 100": (lambda w: sum(x * x.sin() for x in w), [[0.37 * i - 18 for i in range(100)]]),
    "a product of 60": (lambda w: math.prod(w), [[0.8 + 0.01 * i for i in range(60)]]),
    "tiny": (lambda x, y: x * y + x.log(), [1e-8, 3e-8]),
    "huge": (lambda x, y: x * y / (x + y), [1e8, -3e8]),
    "tiny and huge": (lambda x, y: (x * y).tanh() + y.sqrt(), [1e-8, 1e8]),
    "cancelling": (lambda x, y: (x + y) - x, [1e6, 1.0]),
    "a large offset": (lambda x: x.sin() + 1e6, [0.7]),
    "flat": (lambda x: (x - 1) ** 4, [1.0]),
    "enormous": (lambda x, y: x / 3 - y, [1e300, -1e306]),
    "next to nothing": (lambda x, y: x * 3 - y, [1e-300, 5e-324]),
    "an even function at 0": (lambda x: x.cos() + x * x, [0.0]),
    "next to the edge": (lambda x: x.asin() + x.acos() * 2, [1 - 1e-9]),
    "repeated": (lambda x: x * x * x / x - x, [3.0]),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", HARD)
def test_steep_flat_tiny_and_huge_functions_pass(name: str, method: str) -> None:
    f, inputs = HARD[name]
    assert statuses(gradcheck(f, inputs, method=method)) == {"ok"}


def test_a_shared_node_and_a_deep_chain_pass() -> None:
    def diamonds(x: Value) -> Value:
        for _ in range(20):
            x = (x + x.tanh()) * 0.5
        return x

    def chain(x: Value) -> Value:
        for _ in range(3000):
            x = x * 1.0001
        return x

    assert gradcheck(diamonds, [1.3])
    assert gradcheck(chain, [1.3])


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


# --- the verdict on one derivative -------------------------------------------------------------------------------


def verdict(got: float, expected: float = 1.0, error: float = 0.0, **options: float) -> InputCheck:
    bend = options.pop("bend", 0.0)
    measured = Slope(expected, error, expected, expected, kink=False, bend=bend, step=1.0)
    return judged("x", got, measured, **{"rtol": 0.0, "atol": 0.0, "size": 0.0} | options)


@pytest.mark.parametrize(
    ("allowed", "options"),
    [
        (0.5, {"atol": 0.5}),
        (0.5, {"rtol": 0.25, "expected": -2.0}),
        (0.5, {"error": 0.125}),
        (0.5, {"rounding": 0.5}),
        (0.5, {"size": 2.0, "bend": -0.5 / (16 * EPSILON)}),
        (2.5, {"atol": 0.5, "rtol": 0.5, "error": 0.125, "rounding": 0.5, "size": 1.0, "bend": 0.0625 / EPSILON}),
    ],
)
def test_each_part_of_the_tolerance_counts_and_together_they_add_up(allowed: float, options: dict[str, float]) -> None:
    expected = options.get("expected", 1.0)
    for sign in (1, -1):
        entry = verdict(expected + sign * allowed, **options)
        assert (entry.status, entry.tolerance, entry.error) == ("ok", allowed, allowed)
        assert verdict(expected + sign * (allowed + 1e-9), **options).status == "wrong"


def test_a_derivative_that_is_not_finite_is_never_within_a_tolerance() -> None:
    for got in (math.nan, math.inf, -math.inf):
        assert verdict(got, rtol=0.5, atol=1e300).status == "wrong"


@pytest.mark.parametrize(
    ("expected", "error", "note"),
    [
        (1.0, 0.1, "known only to ±0.4"),
        (1.0, 0.0026, "known only to ±0.01"),
        (1.0, 0.0025, ""),  # to one part in a hundred
        (0.0, 2.6e-7, "known only to ±1e-06"),
        (0.0, 2.5e-7, ""),  # nothing to speak of
        (1.0, 1e-5, ""),
    ],
)
def test_a_measurement_is_called_vague_above_a_hundredth_of_the_slope(expected: float, error: float, note: str) -> None:
    assert verdict(expected, expected, error).note == note


def test_at_a_kink_the_nearest_slope_between_the_two_sides_is_expected() -> None:
    def at_kink(got: float, left: float, right: float) -> tuple[str, float]:
        measured = Slope(0.0, 0.0, left, right, kink=True, bend=0.0, step=1.0)
        entry = judged("x", got, measured, rtol=0.0, atol=0.0, size=1.0)
        return entry.status, entry.expected

    assert at_kink(0.5, 2.0, -1.0) == ("kink", 0.5)
    assert at_kink(2.5, 2.0, -1.0) == ("wrong", 2.0)
    assert at_kink(-1.5, 2.0, -1.0) == ("wrong", -1.0)
    assert at_kink(math.inf, 0.0, math.inf) == ("kink", math.inf)
    assert at_kink(math.nan, 0.0, math.inf) == ("wrong", 0.0)
    assert at_kink(math.nan, -math.inf, 3.0) == ("wrong", 3.0)
    thirds = Slope(0.5, 0.0, 2 / 3, 1 / 3, kink=True, bend=0.0, step=1.0)
    entry = judged("x", 0.5, thirds, rtol=0.0, atol=0.0, size=1.0)
    assert entry.note == "any slope between 0.333333 and 0.666667 is right"


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
    assert "any slope between 0 and inf is right" in report.inputs[0].note


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
    report = gradcheck(lambda x: gradwalk.where(x > 0, x.sqrt(), x * 0), [0.0], raise_error=False)
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


# --- shapes and names ------------------------------------------------------------------------------------------------


def test_inputs_are_mirrored_to_f_in_their_shape() -> None:
    seen: list[Any] = []

    def f(a: Value, w: Any, nested: Any) -> Any:
        seen.append((a, w, nested))
        return a * w[0] + w[1] * nested[0][0] * nested[1][0] * nested[1][1]

    report = gradcheck(f, [1, [2.0, Value(3.0, label="bias")], ([4], (5.5, 6))])
    a, w, nested = seen[0]
    assert isinstance(a, Value)
    assert isinstance(w, list)
    assert isinstance(nested, tuple)
    assert isinstance(nested[0], list)
    assert isinstance(nested[1], tuple)
    names = ["inputs[0]", "inputs[1][0]", "bias", "inputs[2][0][0]", "inputs[2][1][0]", "inputs[2][1][1]"]
    assert [entry.name for entry in report.inputs] == names
    assert [entry.got for entry in report.inputs] == [2.0, 1.0, 132.0, 99.0, 72.0, 66.0]


def test_a_single_list_and_numpy_arrays_are_inputs() -> None:
    assert len(gradcheck(lambda w: sum(x * x for x in w), [[1.0, 2.0, 3.0]]).inputs) == 3
    assert len(gradcheck(lambda w: w[0][0] * w[1][1], [np.ones((2, 2))]).inputs) == 4
    assert gradcheck(lambda a, b: a * b, np.array([2.0, 3.0])).inputs[0].got == 3.0
    assert gradcheck(lambda a, b: a * b, (np.float64(2), np.int64(3))).inputs[1].got == 2.0
    assert gradcheck(lambda a, b: a * b, array.array("d", [2.0, 3.0])).inputs[0].got == 3.0


def test_values_are_read_and_left_alone() -> None:
    x, w = Value(2.0, label="x"), Value(3.0)
    x.grad, w.grad = 7.0, 8.0
    seen: list[Value] = []
    report = gradcheck(lambda v: seen.append(v) or v * w * v.tanh(), [x])  # type: ignore[func-returns-value]
    assert (x.data, x.grad, w.data, w.grad) == (2.0, 7.0, 3.0, 8.0)
    assert report.inputs[0].name == "x"
    assert seen[0] is not x
    assert seen[0].label == "x"


def test_the_result_may_be_an_input_itself() -> None:
    first, second = gradcheck(lambda x, y: x, [2.0, 3.0]).inputs
    assert (first.got, first.note) == (1.0, "")
    assert (second.got, second.note.startswith("f does not use it")) == (0.0, True)


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


def test_along_a_direction_every_number_moves_either_way_by_about_its_size() -> None:
    point = [0.0, 0.25, 40.0, -1000.0]
    sizes = [1.0, 1.0, 40.0, 1000.0]
    for i, size in enumerate(sizes):
        steps = [2 * direction(random.Random(seed), point)[i] / size for seed in range(200)]  # 2: the root of four
        assert all(0.5 <= abs(step) <= 1.5 for step in steps)
        for sign in (1, -1):
            there = [abs(step) for step in steps if step * sign > 0]
            assert min(there) < 0.6
            assert max(there) > 1.4


# --- bad input -------------------------------------------------------------------------------------------------------


def square(x: Any) -> Any:
    return x * x


BAD: list[tuple[Any, Any, type[GradwalkError], str]] = [
    (3.0, [1.0], GraphError, "f is a function that gives one Value, not float"),
    (None, [1.0], GraphError, "not NoneType"),
    (square, 3.0, GraphError, r"inputs is a list .* not float: 3.0"),
    (square, "abc", GraphError, "not str"),
    (square, {"x": 1.0}, GraphError, "not dict"),
    (square, None, GraphError, "not NoneType"),
    (square, [], GraphError, "there is nothing to check"),
    (square, [[]], GraphError, "there is nothing to check"),
    (square, ["3"], NotANumberError, r"inputs\[0\]: .*float\('3'\)"),
    (square, [[1.0, None]], NotANumberError, r"inputs\[0\]\[1\]: "),
    (square, [1 + 2j], NotANumberError, "complex"),
    (square, [math.nan], SettingError, r"inputs\[0\] is nan"),
    (square, [-math.inf], SettingError, r"inputs\[0\] is -inf"),
    (square, [10**400], GradwalkError, "1329 bits"),
    (lambda x: x.data, [1.0], GraphError, "gave float 1.0: a plain number does not remember"),
    (lambda x: None, [1.0], GraphError, "gave NoneType None: does it end without a return"),
    (lambda x: [x, x], [1.0], GraphError, "for several results check each, or their sum"),
    (lambda x: "x", [1.0], GraphError, "gave str 'x': a node has data, grad and backward"),
    (lambda x: "x" * 99, [1.0], GraphError, r"gave str 'x{56}\.\.\.: a node"),
    (lambda x: "x" * 59, [1.0], GraphError, r"gave str 'x{56}\.\.\.: a node"),
    (lambda x: "x" * 58, [1.0], GraphError, r"gave str 'x{58}': a node"),
    (lambda x: np.float64(x.data), [1.0], GraphError, "gave float64 .*: a plain number does not remember"),
    (lambda x: np.float32(x.data), [1.0], GraphError, "gave float32 .*: a node has data, grad and backward"),
    (lambda *xs: 1 // 0, [1.0] * 6, GraphError, r"inputs\[4\] = 1.0, inputs\[5\] = 1.0: integer"),
    (lambda *xs: 1 // 0, [1.0] * 7, GraphError, r"inputs\[4\] = 1.0, inputs\[5\] = 1.0, …: integer"),
    (lambda x: math.exp(x), [1.0], GraphError, "f raised TypeError at inputs"),
    (lambda x, y: x, [1.0], GraphError, r"f is called as f\(\*inputs\)"),
    (lambda x: 1 // 0, [1.0], GraphError, "ZeroDivisionError at .* = 1.0"),
    (lambda x: gradwalk.nn.MLP(2, [1])([x]), [1.0], InputSizeError, "2 inputs and was given 1"),
]


@pytest.mark.parametrize(("f", "inputs", "error", "words"), BAD)
def test_bad_input_gets_a_named_error_and_a_remedy(f: Any, inputs: Any, error: type[GradwalkError], words: str) -> None:
    with pytest.raises(error, match=words):
        gradcheck(f, inputs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "forward"}, "no method is called 'forward'; there are central, taylor"),
        ({"rtol": -1e-3}, "rtol is a number from 0 up"),
        ({"atol": math.nan}, "atol is a number from 0 up"),
        ({"rtol": math.inf}, "not inf"),
        ({"value": 3}, "value is the class of the nodes"),
    ],
)
def test_bad_settings_get_a_named_error(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        gradcheck(square, [1.0], **options)


def test_a_backward_that_raises_is_named() -> None:
    def f(x: Value) -> Value:
        out = Value(x.data, (x,), "odd")
        out._backward = lambda: 1 // 0  # type: ignore[assignment]
        return out

    with pytest.raises(BackwardError, match="ZeroDivisionError"):
        gradcheck(f, [1.0])


def test_a_function_that_raises_next_to_the_point_only_is_still_measured() -> None:
    def f(x: Value) -> Value:
        if x.data < 0:
            raise ValueError("no roots of negative numbers")
        return x * x

    assert statuses(gradcheck(f, [1e-4])) == {"ok"}
    assert statuses(gradcheck(f, [0.0])) == {"ok"}  # the right side alone


# --- the report ------------------------------------------------------------------------------------------------------


def test_a_report_of_many_inputs_shows_the_wrong_ones_first_and_counts_the_rest() -> None:
    def f(w: list[Value]) -> Any:
        w[40].register_hook(lambda g: 3 * g)
        return sum(x * x for x in w)

    report = gradcheck(f, [[0.5 + i for i in range(50)]], raise_error=False)
    lines = str(report).splitlines()
    assert lines[0].startswith("gradcheck failed: 1 of 50 gradients is wrong (central differences, value ")
    assert lines[2].split() == ["inputs[0][40]", "243", "81", "3", "wrong"]
    assert lines[14] == "  … and 38 more: 38 ok"
    passed = str(gradcheck(lambda w: sum(x * x for x in w), [[0.5] * 20]))
    assert passed.splitlines()[0].startswith("gradcheck passed: 20 gradients agree")
    assert passed.splitlines()[-1] == "  … and 8 more: 8 ok"


def test_a_report_is_true_if_all_is_well() -> None:
    entry = InputCheck("x", 1.0, 1.0, 0.0, 1e-9, "ok")
    report = CheckReport("gradcheck", "by hand", 1.0, 1, (entry,))
    assert report
    assert report.or_raise() is report
    suspect = Suspect("mul", "a * b = 6", 2, 3.0, 2.0, "why not")
    for bad in (
        CheckReport("gradcheck", "by hand", 1.0, 1, (entry,), problems=("something is odd",)),
        CheckReport("gradcheck", "by hand", 1.0, 1, (entry,), suspects=(suspect,)),
        CheckReport("gradcheck", "by hand", 1.0, 1, (entry, InputCheck("y", 2.0, 1.0, 1.0, 1e-9, "wrong"))),
        CheckReport("gradcheck", "by hand", 1.0, 1, (InputCheck("y", 2.0, 1.0, 1.0, 1e-9, "not finite"),)),
    ):
        assert not bad
        with pytest.raises(GradientCheckError) as caught:
            bad.or_raise()
        assert str(caught.value) == str(bad)
    odd = CheckReport("gradcheck", "by hand", 1.0, 1, (entry,), problems=("something is odd",))
    assert "gradcheck failed: the gradients agree, but not all is well (by hand" in str(odd)
    assert str(odd).endswith("something is odd")
    assert str(suspect) == ("mul, at a * b = 6: its derivative in operand 2 is 3 and should be 2 (ratio 1.5); why not")
    assert "through all its operands is 3 and should be 0" in str(Suspect("f", "f(x)", 0, 3.0, 0.0))
    assert "ratio" not in str(Suspect("f", "f(x)", 0, 3.0, 0.0))


def test_a_report_lists_up_to_twelve_inputs_in_their_order() -> None:
    right, wrong = InputCheck("r", 1.0, 1.0, 0.0, 1e-9, "ok"), InputCheck("w", 2.0, 1.0, 1.0, 1e-9, "wrong")
    odd = InputCheck("o", math.nan, math.nan, math.nan, math.inf, "not finite")
    kink = InputCheck("k", 1.0, 1.0, 0.0, 1e-9, "kink")

    def names(*entries: InputCheck) -> str:
        lines = str(CheckReport("gradcheck", "by hand", 1.0, 1, entries)).splitlines()[2:]
        return "".join(line.split()[0] for line in lines)

    assert names(right, kink, right, wrong, odd) == "rkrwo"
    assert names(*[right] * 11, wrong) == "rrrrrrrrrrrw"
    assert names(*[right] * 12, wrong, odd, kink) == "worrrrrrrrrr…"
    assert names(*[right] * 12, kink) == "rrrrrrrrrrrr…"
    many = CheckReport("gradcheck", "by hand", 1.0, 1, (*[right] * 12, wrong, kink))
    assert str(many).endswith("  … and 2 more: 1 kink and 1 ok")
    uneven = CheckReport("gradcheck", "by hand", 1.0, 1, (InputCheck("w", 2.0, 3.0, 1.0, 1e-9, "wrong"), right))
    assert str(uneven).splitlines()[1:] == [
        "  input  backward gave  measured     ratio",
        "  w                  2         3  0.666667  wrong",
        "  r                  1         1         1  ok",
    ]
    nothing = CheckReport("gradcheck", "by hand", 1.0, 1, (InputCheck("w", 2.0, 0.0, 2.0, 1e-9, "wrong"), right))
    assert str(nothing).splitlines()[2:] == [  # no ratio to 0
        "  w                  2         0         wrong",
        "  r                  1         1      1  ok",
    ]
    passed = CheckReport("gradcheck", "by hand", 1.0, 1, (right,), reference="PyTorch")
    assert str(passed).splitlines()[1:] == [
        "  input  backward gave  PyTorch",
        "  r                  1        1  ok",
    ]
    assert str(Suspect("f", "f(x)", 1, 2.0, 3.0)).endswith("is 2 and should be 3 (ratio 0.666667)")


def test_the_headline_counts_nodes_and_gradients() -> None:
    def headline(nodes: int, *statuses: str) -> str:
        entries = tuple(InputCheck(f"x{i}", 1.0, 1.0, 0.0, 1e-9, status) for i, status in enumerate(statuses))  # type: ignore[arg-type]
        return str(CheckReport("gradcheck", "by hand", 1 / 3, nodes, entries)).splitlines()[0]

    assert headline(1, "ok") == "gradcheck passed: 1 gradient agrees (by hand, value 0.333333, 1 node)"
    assert headline(2, "ok", "kink") == "gradcheck passed: 2 gradients agree (by hand, value 0.333333, 2 nodes)"
    assert headline(0, "wrong").startswith("gradcheck failed: the gradient is wrong (by hand, value 0.333333, 0 nodes)")
    assert headline(3, "wrong", "wrong", "not finite").startswith("gradcheck failed: 2 of 3 gradients are wrong (")
    assert headline(3, "not finite").startswith("gradcheck failed: the gradient could not be checked (")
    assert headline(3, "ok", "not finite").startswith("gradcheck failed: 1 of 2 gradients could not be checked (")


def test_a_report_cuts_a_long_list_of_suspects() -> None:
    twelve = tuple(Suspect("mul", f"{i} * 2", 1, 1.0, 2.0) for i in range(12))
    assert "more nodes" not in str(CheckReport("gradcheck", "by hand", 1.0, 1, (), suspects=twelve))
    suspects = tuple(Suspect("mul", f"{i} * 2", 1, 1.0, 2.0) for i in range(15))
    text = str(CheckReport("gradcheck", "by hand", 1.0, 1, (), suspects=suspects))
    assert text.count("at fault:") == 12
    assert text.endswith("… and 3 more nodes")


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_a_ratio_says_nothing_where_nothing_was_expected(got: float, expected: float) -> None:
    ratio = InputCheck("x", got, expected, 0.0, 0.0, "ok").ratio
    assert math.isnan(ratio) if expected == 0 else ratio == got / expected


def test_the_words_of_a_failure() -> None:
    @gradwalk.op(lambda x, out: 3.003 * x * x)
    def cube(x: float) -> float:
        return x * x * x

    with pytest.raises(GradientCheckError) as caught:
        gradcheck(lambda x, y: cube(x) + y, [Value(2.0, label="x"), -1.0])
    assert str(caught.value) == (
        "gradcheck failed: 1 of 2 gradients is wrong (central differences, value 7, 4 nodes)\n"
        "  input      backward gave  measured  ratio\n"
        "  x                 12.012        12  1.001  wrong\n"
        "  inputs[1]              1         1      1  ok\n"
        "at fault: cube, at cube(x=2) = 8: its derivative in operand 1 is 12.012 and should be 12 (ratio 1.001)"
    )
