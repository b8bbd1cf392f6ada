"""grad, value_and_grad, jacobian, hessian."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gradwalk import Tensor, Value, errors, grad, hessian, jacobian, maximum, no_grad, tanh, value_and_grad


def test_a_gradient_has_the_shape_of_its_argument() -> None:
    def f(a: Any, rows: Any) -> Any:
        return a * rows[0][0] + rows[1][0] * rows[1][1] ** 2

    assert grad(f)(2.0, [[3.0], (4.0, 5.0)]) == (3.0, [[2.0], (25.0, 40.0)])
    assert value_and_grad(f)(2, [[3], (4, 5)]) == (106.0, (3.0, [[2.0], (25.0, 40.0)]))


def test_what_is_given_by_name_is_handed_on() -> None:
    def f(x: Any, *, power: Any, shift: Any = 0.0) -> Any:
        return x**power + shift * x

    assert grad(f)(2.0, power=3) == 12.0
    assert value_and_grad(f)(2.0, power=3, shift=1.0) == (10.0, 13.0)
    assert jacobian(f)(2.0, power=3, shift=1.0) == [[13.0]]
    assert hessian(f)(2.0, power=3) == 12.0
    assert grad(f)(Tensor([2.0]), power=3).tolist() == [12.0]
    with pytest.raises(errors.GraphError, match="at least one number; what is given by name is not differentiated by"):
        grad(f)(x=2.0, power=3)


def test_numbers_in_numbers_out_values_in_values_out() -> None:
    square = lambda x: x * x  # noqa: E731
    assert grad(square)(3) == 6.0
    x = Value(3.0)
    slope = grad(square)(x)
    assert isinstance(slope, Value)
    slope.backward()
    assert x.grad == 2.0
    value, slope = value_and_grad(square)(x)
    assert isinstance(value, Value)


def test_no_grad_field_is_touched() -> None:
    w, x = Value(2.0), Value(3.0)
    assert grad(lambda v: v * w * w)(3.0) == 4.0
    assert grad(lambda v: v * w * w)(x).data == 4.0
    assert (w.grad, x.grad) == (0.0, 0.0)


def test_independent_and_constant_functions() -> None:
    assert grad(lambda x, y: x * 2)(1.0, 1.0) == (2.0, 0.0)
    assert grad(lambda x: 5)(1.0) == 0.0
    assert grad(grad(lambda x: 3 * x))(1.0) == 0.0
    assert hessian(lambda x, y: x + y)(1.0, 2.0) == [[0.0, 0.0], [0.0, 0.0]]
    assert jacobian(lambda x: [1.0, x])(2.0) == [[0.0], [1.0]]
    assert grad(lambda x: x)(7.0) == 1.0


def test_mixed_derivatives() -> None:
    f = lambda x, y: x**2 * y**3  # noqa: E731
    assert hessian(f)(2.0, 3.0) == [[54.0, 108.0], [108.0, 72.0]]
    assert hessian(lambda w: w[0] * w[1])([2.0, 3.0]) == [[0.0, 1.0], [1.0, 0.0]]
    assert jacobian(lambda x, y: (x * y, [x + y, x]))(2.0, 3.0) == [[3.0, 2.0], [1.0, 1.0], [1.0, 0.0]]


def test_the_hessian_of_values_can_be_differentiated() -> None:
    x = Value(2.0)
    third = grad(lambda v: hessian(lambda u: u**4)(v))(x)
    assert third.data == 48.0


def test_a_function_that_uses_functions() -> None:
    assert grad(lambda x: tanh(x))(0.0) == 1.0
    assert grad(grad(grad(tanh)))(0.0) == -2.0


def test_bad_input() -> None:
    with pytest.raises(errors.GraphError, match="of functions, not of int"):
        grad(3)(1.0)  # type: ignore[arg-type]
    with pytest.raises(errors.GraphError, match="at least one number"):
        grad(lambda: 1.0)()
    with pytest.raises(errors.GraphError, match="at least one number"):
        grad(lambda x: 1.0)([])
    with pytest.raises(errors.NotANumberError, match=r"it gave list; for several results use jacobian\(f\)"):
        grad(lambda x: [x, x])(1.0)
    with pytest.raises(errors.NotANumberError, match="it gave NoneType"):
        grad(lambda x: None)(1.0)
    with pytest.raises(errors.NotANumberError):
        grad(lambda x: x)("one")


def test_hooks_run_where_gradients_are_graphs_too() -> None:
    x = Value(3.0)
    y = x * x
    seen: list[float] = []
    y.register_hook(seen.append)  # which leaves it as it is
    y.register_hook(lambda gradient: gradient * x)
    (y * 5).backward(create_graph=True)
    assert seen == [5.0]
    first = x.grad
    assert isinstance(first, Value)
    assert first.data == 5.0 * 3.0 * 2 * 3.0
    x.grad = 0.0
    first.backward()
    assert x.grad == 60.0  # of 10 x²


def test_a_slope_that_is_no_number_is_not_taken_for_data_that_changed() -> None:
    x = Value(-1.0)
    (x.sqrt() * 2).backward(create_graph=True)
    assert isinstance(x.grad, Value)
    assert math.isnan(x.grad.data)


def test_a_no_grad_around_the_call_does_not_reach_into_the_function() -> None:
    def partly(x: Value) -> Value:
        with no_grad():
            square = x * x
        return square * x

    x, t = Value(2.0), Tensor([2.0, 3.0])
    with no_grad():
        assert grad(lambda x: x**3)(2.0) == 12.0
        assert grad(grad(lambda x: x**3))(2.0) == 12.0
        assert hessian(lambda x: x**3)(2.0) == 12.0
        assert jacobian(lambda x: [x**3, x])(2.0) == [[12.0], [1.0]]
        assert grad(partly)(3.0) == 9.0
        for found in (grad(lambda x: x**3)(x), hessian(lambda x: x**3)(x)):
            assert (found.data, found.is_leaf) == (12.0, True)
        assert grad(lambda t: (t**3).sum())(t).array.tolist() == [12.0, 27.0]
        assert jacobian(lambda t: t**3)(t).array.tolist() == [[12.0, 0.0], [0.0, 27.0]]
        assert hessian(lambda t: (t**3).sum())(t).array.tolist() == [[12.0, 0.0], [0.0, 18.0]]
        assert (x * x).is_leaf
    assert grad(partly)(3.0) == 9.0


def test_a_graph_of_gradients_that_is_asked_for_is_made_under_no_grad_too() -> None:
    x = Value(2.0)
    y = x**3
    with no_grad():
        y.backward(create_graph=True)
    first, x.grad = x.grad, 0.0
    first.backward()
    assert (first.data, x.grad) == (12.0, 12.0)


def test_what_the_function_knows_by_another_name_is_no_variable() -> None:
    assert grad(lambda x: grad(lambda y: x * y)(x))(3.0) == 1.0
    x = Value(3.0)
    assert grad(lambda y: x * y)(x).data == 3.0
    t = Tensor([2.0, 3.0])
    assert grad(lambda y: (t * y).sum())(t).array.tolist() == [2.0, 3.0]
    assert grad(lambda t: grad(lambda y: (t * y).sum())(t).sum())(t).array.tolist() == [1.0, 1.0]
    assert hessian(lambda y: (t * y * y).sum())(t).array.tolist() == [[4.0, 0.0], [0.0, 6.0]]
    once = grad(lambda y: (y**3).sum())(t)
    once.sum().backward()
    assert t.grad.array.tolist() == [12.0, 18.0]  # it answers in the tensor that was given


def test_a_node_that_is_given_twice_is_one_variable_and_a_number_is_two() -> None:
    number = 3.0
    assert grad(lambda a, b: a * a * b)(number, number) == (18.0, 9.0)
    for flows in (True, False):
        t = Tensor([2.0], requires_grad=flows)
        a, b = grad(lambda a, b: (a * a * b).sum())(t, t)
        assert (a.array.tolist(), b.array.tolist()) == ([12.0], [12.0])


def test_hooks_on_leaves_run_where_gradients_are_graphs_too() -> None:
    x = Value(3.0)
    x.register_hook(lambda gradient: gradient * 10)
    (x * x).backward(create_graph=True)
    x.backward(create_graph=True)
    assert x.grad.data == 60.0 + 10.0

    def hooked(x: Value) -> Value:
        x.register_hook(lambda gradient: None)
        x.register_hook(lambda gradient: gradient * 10)
        return x * x

    assert grad(hooked)(3.0) == 60.0
    assert grad(hooked)(Value(3.0)).data == 60.0


def test_what_a_hook_gives_is_a_number_where_gradients_are_graphs_too() -> None:
    x = Value(3.0)
    y = x * x
    y.register_hook(lambda gradient: "2")
    with pytest.raises(errors.BackwardError, match=r"a hook of 3 \* 3 = 9 gave '2', which is not a number"):
        y.backward(create_graph=True)
    assert (x.grad, y.grad) == (0.0, 0.0)


def test_nothing_is_done_off_the_ways_to_the_variables() -> None:
    w = Value(3.0)
    aside = w * 2
    by_hand = Value(6.0, (w,), "twice")
    by_hand._backward = lambda: None
    seen: list[float] = []
    for v in (w, aside, by_hand):
        v.register_hook(seen.append)
    assert grad(lambda y: y * y + by_hand * y + aside * y)(2.0) == 16.0
    assert grad(lambda y: y * y)(by_hand).data == 12.0
    assert grad(lambda y: y * y)(aside).data == 12.0
    assert seen == []
    with pytest.raises(errors.BackwardError, match="has a _backward closure of its own"):
        grad(lambda y: y * y)(by_hand).backward(create_graph=True)


def test_a_factor_of_one_adds_no_node_to_a_graph_of_gradients() -> None:
    x = Value(2.0)
    y = x * 1.0
    y.sin().backward(create_graph=True)
    assert x.grad is y.grad
    assert x.grad.data == math.cos(2.0)


def test_no_hook_is_called_on_a_result_that_has_nothing_to_do_with_the_variables() -> None:
    w = Value(3.0)
    aside = w * w
    seen: list[float] = []
    aside.register_hook(seen.append)
    assert grad(lambda x: aside)(2.0) == 0.0
    assert seen == []


def test_an_infinite_gradient_does_not_reach_a_variable_that_was_not_taken() -> None:
    assert grad(lambda x: maximum(x, 0.0).sqrt())(-1.0) == 0.0
    assert grad(grad(lambda x: maximum(x, 0.0).sqrt()))(-1.0) == 0.0


def test_what_was_passed_over_keeps_or_loses_its_gradient_as_in_any_walk() -> None:
    a, b = Value(1.0), Value(2.0)
    passed = b * 3
    passed.backward()
    maximum(a * 10, passed).backward(create_graph=True)
    assert (a.grad.data, passed.grad.data, b.grad.data) == (10.0, 0.0, 3.0)


def test_an_op_with_a_backward_of_its_own_has_no_slopes_that_are_known() -> None:
    def replaced(x: Any) -> Any:
        y = x * 2
        y._backward = lambda: None
        return y

    with pytest.raises(errors.BackwardError, match="has a _backward closure of its own"):
        grad(replaced)(3.0)
