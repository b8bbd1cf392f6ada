"""A graph laid open: what its nodes tell of themselves, and how far rounding goes."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import gradwalk
from gradwalk import Value, ops
from gradwalk.check.nodes import KINKED, CheckedGraph, at_kink, local
from gradwalk.check.numeric import EPSILON


def by_hand(op: str, value: Callable[..., float], *slopes: Callable[..., float]) -> Callable[..., Value]:
    """An operation as learners write it: a node and a closure."""

    def make(*operands: Value) -> Value:
        numbers = [v.data for v in operands]
        out = Value(value(*numbers), operands, op)

        def push() -> None:
            for v, slope in zip(operands, slopes, strict=True):
                v.grad += slope(*numbers) * out.grad

        out._backward = push
        return out

    return make


def test_how_far_rounding_may_put_a_gradient_off() -> None:
    def rounding(root: Value, leaf: Value) -> float:
        return CheckedGraph(root, fresh=True).rounding(leaf)

    last_digits = 64 * EPSILON
    a, b = Value(3.0), Value(-5.0)
    assert last_digits * 5 <= rounding(a * b, a) < 2 * last_digits * 5
    assert last_digits * 10 <= rounding(a * b - a * b, a) < 2 * last_digits * 10  # though the gradient is 0
    assert last_digits * 15 <= rounding(a * 3 * 5, a) < 2 * last_digits * 15
    # 1 / sqrt(1 - x²) near 1, and 1 - tanh² far out: the rule loses digits, and the more the nearer
    for gap in (1e-6, 1e-9):
        x = Value(1.0 - gap)
        share = rounding(x.asin(), x) * math.sqrt(2 * gap)
        assert 2 * EPSILON / gap < share < 20 * EPSILON / gap
    x, y = Value(15.0), Value(2.0)
    assert 10 * EPSILON < rounding(x.tanh(), x) < 40 * EPSILON
    assert rounding(x.tanh() / y, x) == pytest.approx(rounding(x.tanh(), x) / 2, rel=0.1)
    assert rounding(x.maximum(Value(15.0)), x) == last_digits / 2  # at a tie the rule jumps, and that is no rounding
    assert rounding(x.tanh() + y, x) == rounding(y + x.tanh(), x) == rounding(x.tanh(), x)  # whichever comes first
    half = Value((1.0 - 1e-9) / 2)
    x = half * 2
    assert rounding(x.asin(), half) == pytest.approx(2 * rounding(x.asin(), x), rel=1e-3)
    assert rounding(x.asin() * 3, x) == pytest.approx(3 * rounding(x.asin(), x), rel=1e-3)
    assert rounding(x.asin() + x.asin(), x) == pytest.approx(2 * rounding(x.asin(), x), rel=1e-3)


def test_where_a_rule_tells_nothing_beside_the_point_only_the_sum_is_rounded() -> None:
    def rounding(root: Value, leaf: Value) -> float:
        return CheckedGraph(root, fresh=True).rounding(leaf)

    @gradwalk.op(lambda x, out: math.sqrt(1.0 - x) + 1.0)
    def ending(x: float) -> float:
        return x

    edge = Value(1.0 - EPSILON / 2)  # the next number up is 1, and beyond it there is no arc sine
    (slope,) = edge.asin().local_derivatives
    assert slope is not None
    assert rounding(edge.asin(), edge) == pytest.approx(64 * EPSILON * slope, rel=1e-12)
    x = Value(1.0)
    assert rounding(ending(x), x) == 64 * EPSILON  # a ValueError beyond 1
    y = by_hand("cube", lambda x: x**3, lambda x: 3 * x**2)(x)
    assert rounding(y, x) == 64 * EPSILON * 3
    zero = Value(0.0)
    assert rounding(zero.sqrt() + x, zero) == 0.0  # its slope is infinite
    assert rounding(x * 2, Value(3.0)) == 0.0  # not in the graph


def test_how_far_rounding_may_put_a_value_off() -> None:
    a, b = Value(3.0), Value(-5.0)
    assert CheckedGraph(a * b, fresh=True).noise == EPSILON * 15
    assert CheckedGraph(a * b * 2 + b, fresh=True).noise == EPSILON * (2 * 15 + 30 + 35)
    assert CheckedGraph((a * math.inf).tanh() + b, fresh=True).noise == EPSILON * (1 + 4)


def test_so_near_to_a_kink_that_the_rule_jumps_nothing_is_rounding() -> None:
    @gradwalk.op(lambda x, out: 3 * x * x, rough=lambda x: x)
    def cube(x: float) -> float:
        return x * x * x

    def slope_rounding(x: float) -> float:
        return local(cube(Value(x))).slope_rounding(0)

    for x in (KINKED, -KINKED, 0.5, 1.0, 40.0):
        assert slope_rounding(x) == pytest.approx(16 * EPSILON * 3 * x * x, rel=0.2)
    for x in (0.0, KINKED / 2, -KINKED / 2):
        assert slope_rounding(x) == 0.0


def test_how_many_operands_meet_at_a_kink() -> None:
    x, y = Value(2.0), Value(2.0)
    assert local(x.maximum(y)).meeting_at_kink() == 2
    assert local(x.maximum(2.0)).meeting_at_kink() == 1  # a constant does not count
    assert local(x.maximum(3.0)).meeting_at_kink() == 0
    assert local((x - y).relu()).meeting_at_kink() == 1
    assert local(x.clamp(y, 2.7)).meeting_at_kink() == 2
    assert local(x.clamp(y, 3.0)).meeting_at_kink() == 2  # though a nudge of 1 would lead to its other bound
    assert local(x * y).meeting_at_kink() == 0


@pytest.mark.parametrize("text", ["**", "^", "pow", "Pow", " pow "])
def test_a_power_of_two_nodes_is_known_by_any_of_its_texts(text: str) -> None:
    power = by_hand(text, lambda x, y: x**y, lambda x, y: y * x ** (y - 1), lambda x, y: x**y * math.log(x))
    here = local(power(Value(2.0), Value(3.0)))
    assert here.function is ops.pow
    assert here.arguments == (0, 1)
    assert here.slopes == pytest.approx((12.0, 8 * math.log(2)))


@pytest.mark.parametrize("text", ["**3", "^3", "**3.0", "pow(3)", "POW 3", "^ ( +3e0 )"])
def test_a_power_with_its_exponent_in_the_text_is_known(text: str) -> None:
    here = local(by_hand(text, lambda x: x**3, lambda x: 3 * x**2)(Value(2.0)))
    assert here.function is ops.pow
    assert here.arguments == (0, 3.0)


def test_a_text_that_names_another_function_or_another_number_of_operands_is_not_believed() -> None:
    two = local(by_hand("**3", lambda x, y: x**3, lambda x, y: 3 * x**2, lambda x, y: 0.0)(Value(2.0), Value(5.0)))
    assert (two.function, two.arguments) == (None, ())
    lying = local(by_hand("**3", lambda x: x**2, lambda x: 2 * x)(Value(3.0)))
    assert lying.function is None
    assert local(by_hand("^", lambda x: x, lambda x: 1.0)(Value(2.0))).function is None


def test_the_ops_at_or_near_a_kink_are_named_up_to_three() -> None:
    x, y = Value(0.0), Value(0.0)
    named = at_kink(CheckedGraph(x.relu() + (x + 0.9e-6).relu() + (x + 1.1e-6).relu() + y.abs(), fresh=True), [x])
    assert named == "ReLU(0) = 0 is at its kink (slope 0 at 0), ReLU(9e-07) = 9e-07 is 9e-07 from its kink"
    far = Value(1e6)
    assert "is 9e-01 from its kink" in at_kink(CheckedGraph(far.maximum(1e6 - 0.9), fresh=True), [far])
    assert at_kink(CheckedGraph(far.maximum(1e6 - 1.1), fresh=True), [far]) == ""
    just = Value(1e-6)
    assert at_kink(CheckedGraph(just.relu(), fresh=True), [just]) == "ReLU(1e-06) = 1e-06 is 1e-06 from its kink"
    assert at_kink(CheckedGraph(sum(abs(x) for _ in range(5)), fresh=True), [x]).count("is at its kink") == 3
    assert at_kink(CheckedGraph(x.relu() + y.abs(), fresh=True), [x, y]).count("is at its kink") == 2
