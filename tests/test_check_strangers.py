"""Gradient checks of strangers' functions and engines: what the report says is true of them."""

from __future__ import annotations

from typing import Any

import pytest

import gradwalk
from gradwalk import Value, check_graph, gradcheck, op
from gradwalk.check import CheckReport
from gradwalk.errors import GraphError


class Num:
    """An engine that keeps operands in a set, and pushes nothing to constants."""

    wrong = 1.0

    def __init__(self, data: float, requires_grad: bool = True, prev: Any = (), op: str = "") -> None:
        self.data, self.requires_grad, self.grad, self._prev, self._op = data, requires_grad, 0.0, set(prev), op
        self._backward: Any = lambda: None

    def __mul__(self, other: Any) -> Num:
        other = other if isinstance(other, Num) else Num(other, False)
        out = Num(self.data * other.data, True, (self, other), "*")

        def push() -> None:
            for one, two in ((self, other), (other, self)):
                if one.requires_grad:
                    one.grad += self.wrong * two.data * out.grad

        out._backward = push
        return out

    def backward(self) -> None:
        order: list[Num] = []

        def visit(v: Num) -> None:
            if v not in order:
                for x in v._prev:
                    visit(x)
                order.append(v)

        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            v._backward()


def report(f: Any, inputs: list[Any], **options: Any) -> CheckReport:
    return gradcheck(f, inputs, raise_error=False, **options)


def test_a_constant_that_wants_no_gradient_is_no_fault() -> None:
    assert report(lambda x: x * 3.0 * -1.0, [0.7], value=Num).ok


def test_operands_out_of_a_set_are_shown_in_the_order_in_which_they_are_counted() -> None:
    class Wrong(Num):
        wrong = 2.0

    for _ in range(8):
        x, y = Num(3.0), Num(5.0)
        x.wrong = y.wrong = 2.0
        root = x * y
        for suspect in check_graph(root, raise_error=False).suspects:
            operands = suspect.node.split(" = ")[0].split(" * ")
            assert suspect.expected == pytest.approx(float(operands[2 - suspect.operand]))


def test_a_jump_is_no_kink_at_which_any_slope_is_right() -> None:
    right = report(lambda x: x * 2 if x.data > 1.0 else x * 3 + 9, [1.0])
    assert right.ok
    assert right.inputs[0].note == "f jumps here or is vertical, and has a slope to one side only"
    assert not report(lambda x: x * 2 if x.data > 1.0 else x * -30 + 90, [1.0]).inputs[0].note.startswith("any slope")

    @op(lambda x, out: -7.0)
    def step(x: float) -> float:
        return 3.0 * x if x <= 1.0 else 3.0 * x - 9.0

    assert not report(step, [1.0]).ok


def test_what_may_be_behind_a_gradient_that_no_op_explains() -> None:
    (problem,) = report(lambda x: Value(x.data**2) * 3 + x, [3.0]).problems
    assert ".data, detach() or no_grad() on the way" in problem


def test_a_hook_is_among_what_may_double_a_gradient() -> None:
    def hooked(x: Value) -> Value:
        y = x * x
        y.register_hook(lambda g: 2 * g)
        return y * 3

    assert "or a hook that changes them" in report(hooked, [2.0]).problems[0]


def test_whole_numbers_have_no_derivative() -> None:
    with pytest.raises(GraphError, match=r"a tensor of floats, and it gave int64, which has no derivative"):
        gradcheck(lambda a: (a * 2).sum(), [gradwalk.Tensor([1, 2], dtype="int64")])


def test_a_fault_is_told_once_however_many_nodes_hold_the_same_numbers() -> None:
    @op(lambda x, out: 2 * x + 1e-3)
    def square(x: float) -> float:
        return x * x

    assert str(report(lambda x: square(x) - square(x), [0.7])).count("at fault") == 1
