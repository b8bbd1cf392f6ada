"""`compare_with_torch`: the same function on PyTorch, and what is said when the two differ."""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import replace
from typing import Any

import pytest
from cases import EDGES, GRADWALK, Program, points, programs
from hypothesis import given, settings

import gradwalk
from gradwalk import Value, nn, ops
from gradwalk.check import compare_with_torch
from gradwalk.errors import GradientCheckError, GraphError, MissingExtraError, SettingError
from gradwalk.ops import TABLE, Op


@pytest.mark.parametrize("op", TABLE.values(), ids=lambda op: op.name)
def test_every_op_agrees_at_random_points(op: Op) -> None:
    @settings(max_examples=30, deadline=None)
    @given(points(op))
    def check(point: tuple[float, ...]) -> None:
        assert compare_with_torch(op, point)

    check()


@settings(max_examples=60, deadline=None)
@given(programs(max_steps=40))
def test_random_programs_agree(program: Program) -> None:
    def f(*leaves: Any) -> Any:
        given = iter(leaves)
        return program.run(lambda _: next(given), GRADWALK)[-1]

    assert compare_with_torch(f, program.leaves)


FINITE = [(name, point) for name, point in EDGES if all(map(math.isfinite, point))]


@pytest.mark.parametrize(("name", "point"), FINITE, ids=str)
def test_the_edges_agree_nan_for_nan_and_inf_for_inf(name: str, point: tuple[float, ...]) -> None:
    assert compare_with_torch(TABLE[name], point)


def test_operators_methods_functions_and_constants_on_both_sides() -> None:
    def f(a: Any, w: list[Any]) -> Any:
        b, c = w
        total = 2 + a - 1 + 3 - b + (2 * a) * (b * 2) + 5 / c + c / 5 + 2**a + b**2 + b**c + -a + +b + abs(c)
        total = total + a.tanh() + gradwalk.exp(b) + c.leaky_relu(0.2) + a.relu() + a.clamp(-1, 1) + b.maximum(0.3)
        return total + (a if a > b else c) + (b if b <= c else a) * a.detach() + gradwalk.where(a >= 0, a, b) * (a < b)

    report = compare_with_torch(f, [0.4, [1.3, 0.8]])
    assert report.ok
    assert len(report.inputs) == 3
    assert all(entry.error <= 1e-12 for entry in report.inputs)


def test_values_beside_the_inputs_are_constants_and_stay_as_they_are() -> None:
    model = nn.MLP(2, [4, 1], activation="tanh")
    for parameter in model.parameters():
        parameter.grad = 3.0
    assert compare_with_torch(lambda x, y: model([x, y]) ** 2, [0.3, -0.6])
    assert {parameter.grad for parameter in model.parameters()} == {3.0}
    weight = Value(3.0)
    assert compare_with_torch(lambda x: gradwalk.maximum(weight, x) * weight + ops.mul(weight, x), [4.0])


def test_a_wrong_derivative_is_caught_and_the_op_named() -> None:
    wrong = replace(ops.tanh, partials=(lambda x, out: (1.0 - out * out) * (1 + 1e-5),))
    with pytest.raises(GradientCheckError) as caught:
        compare_with_torch(lambda a, b: wrong(a) * b, [0.5, Value(2.0, label="b")])
    words = str(caught.value)
    assert "compare_with_torch failed: 1 of 2 gradients is wrong (float64" in words
    assert "backward gave      PyTorch" in words
    assert "at fault: tanh, at tanh(0.5) = 0.462117" in words
    report = compare_with_torch(lambda a, b: wrong(a) * b, [0.5, 2.0], raise_error=False)
    assert [entry.status for entry in report.inputs] == ["wrong", "ok"]
    assert report.inputs[0].expected == pytest.approx(2 / math.cosh(0.5) ** 2, rel=1e-14)
    assert report.inputs[0].ratio == pytest.approx(1 + 1e-5, rel=1e-9)


@pytest.mark.parametrize("share", [1e-11, -1e-10, 1e-6])
def test_a_difference_of_one_part_in_1e11_is_seen(share: float) -> None:
    def f(x: Any) -> Any:
        if isinstance(x, Value):
            x.register_hook(lambda g: g * (1 + share))
        return x * x

    assert not compare_with_torch(f, [3.0], raise_error=False)
    assert compare_with_torch(f, [3.0], rtol=2 * abs(share))
    assert compare_with_torch(f, [3.0], atol=7 * abs(share))


def given_to_us(change: Any) -> Any:
    """x², whose gradient is changed on our side only."""

    def f(x: Any) -> Any:
        if isinstance(x, Value):
            x.register_hook(change)
        return x * x

    return f


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_on_one_side_only_is_wrong(wrong: float) -> None:
    (entry,) = compare_with_torch(given_to_us(lambda g: wrong), [3.0], raise_error=False).inputs
    assert (entry.status, entry.expected) == ("wrong", 6.0)


@pytest.mark.parametrize(("tiny", "status"), [(1e-310, "ok"), (sys.float_info.min, "wrong"), (1e-300, "wrong")])
def test_numbers_too_small_to_have_all_their_digits_are_as_good_as_0(tiny: float, status: str) -> None:
    (entry,) = compare_with_torch(given_to_us(lambda g: tiny), [0.0], rtol=0.0, raise_error=False).inputs
    assert (entry.got, entry.expected, entry.status) == (tiny, 0.0, status)


def test_the_last_digit_of_a_gradient_is_allowed_for_whatever_the_tolerance() -> None:
    (entry,) = compare_with_torch(given_to_us(lambda g: math.nextafter(g, math.inf)), [3.0], rtol=0.0).inputs
    assert 0.0 < entry.error < entry.tolerance < 1e-12
    (entry,) = compare_with_torch(given_to_us(lambda g: g), [3.0], rtol=0.0).inputs
    assert entry.error == 0.0


def test_an_input_that_only_one_of_the_two_graphs_reaches() -> None:
    def f(x: Any, y: Any) -> Any:
        return x * 2 if isinstance(x, Value) else x * 2 + 0.5 * (y - y.detach())

    unused = compare_with_torch(lambda x, y: x * 2, [1.0, 3.0])
    lost = compare_with_torch(f, [1.0, 3.0], raise_error=False)
    assert [entry.status for entry in unused.inputs] == ["ok", "ok"]
    assert unused.inputs[1].tolerance < 1e-300
    assert [entry.status for entry in lost.inputs] == ["ok", "wrong"]
    assert (lost.inputs[1].got, lost.inputs[1].expected) == (0.0, 0.5)


@pytest.mark.parametrize(("share", "ok"), [(2.0**-52, True), (1e-12, False)])
def test_last_digits_that_a_difference_lays_bare_are_no_difference(share: float, ok: bool) -> None:
    def f(x: Any) -> Any:
        return x * (1.0 if isinstance(x, Value) else 1.0 + share) - 3.0

    report = compare_with_torch(f, [3.0], rtol=2e-12, raise_error=False)
    assert report.value == 0.0
    assert report.inputs[0].status == "ok"
    assert report.ok == ok
    assert ok or report.problems[0].startswith("the values differ: ours is 0.0, PyTorch's is ")


@pytest.mark.parametrize("point", [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)])
def test_comparisons_go_the_same_way_for_both(point: tuple[float, float]) -> None:
    def f(a: Any, b: Any) -> Any:
        told = 1 * (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b)
        return a * (told + 16 * (a < 1) + 32 * (a <= 1.0) + 64 * (a > 1) + 128 * (a >= 1.0))

    assert compare_with_torch(f, point)


def test_values_that_differ_are_told() -> None:
    wrong = gradwalk.op(lambda x, out: 1.0)(lambda x: x if isinstance(x, float) else x + 0.5)
    report = compare_with_torch(wrong, [1.0], raise_error=False)
    assert report.problems == ("the values differ: ours is 1.0, PyTorch's is 1.5",)
    assert not report


def test_an_op_of_the_users_own_runs_on_tensors_by_its_value() -> None:
    @gradwalk.op(lambda x, y, out: 2 * x * y, lambda x, y, out: x * x + gradwalk.cos(y))
    def mix(x: Any, y: Any) -> Any:
        return x * x * y + gradwalk.sin(y)

    weight = Value(0.7)
    assert compare_with_torch(mix, [1.2, 0.4])
    assert compare_with_torch(lambda x: mix(x, weight) + mix(2.0, x), [1.2])

    @gradwalk.op(lambda x, out: 1.0)
    def same_name_as_ours(x: Any) -> Any:
        return x * 1.0

    impostor = replace(same_name_as_ours, name="tanh")
    assert compare_with_torch(impostor, [0.8])

    @gradwalk.op(lambda x, out: 1 / x)
    def by_math(x: float) -> float:
        return math.log(x)

    with pytest.raises(GraphError, match=r"the value of by_math cannot be computed on PyTorch's tensors \(TypeError"):
        compare_with_torch(by_math, [1.2])


def test_a_result_that_does_not_depend_on_the_inputs_has_gradient_0() -> None:
    weight = Value(3.0)
    assert compare_with_torch(lambda x: weight * 2, [1.0]).inputs[0].expected == 0.0
    assert compare_with_torch(lambda x: x.detach() * 2, [1.0]).inputs[0].expected == 0.0


def test_what_pytorch_cannot_be_given_is_refused() -> None:
    with pytest.raises(GraphError, match="f must give one Value"):
        compare_with_torch(lambda x: [x], [1.0])
    with pytest.raises(GraphError, match="on PyTorch's tensors f gave float"):
        compare_with_torch(lambda x: x * 2 if isinstance(x, Value) else 2.0, [1.0])
    with pytest.raises(GraphError, match="f raised AttributeError at inputs"):
        compare_with_torch(lambda x: x.backward() or x, [1.0])
    with pytest.raises(SettingError, match="rtol"):
        compare_with_torch(lambda x: x, [1.0], rtol=-1.0)


def test_without_pytorch_the_command_that_installs_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match="comparing with PyTorch needs torch: pip install torch"):
        compare_with_torch(lambda x: x, [1.0])


@pytest.mark.parametrize("x", [-2.0, -0.5, 0.0, 0.5])
def test_leaky_relu_is_compared_on_both_sides_of_its_kink_and_at_it(x: float) -> None:
    assert compare_with_torch(lambda v: gradwalk.leaky_relu(v, 0.1) * 3, [x]).ok
