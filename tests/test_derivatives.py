"""grad, value_and_grad, jacobian, hessian."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gradwalk import Value, errors, grad, hessian, jacobian, no_grad, tanh, value_and_grad


def test_a_gradient_has_the_shape_of_its_argument() -> None:
    def f(a: Any, rows: Any) -> Any:
        return a * rows[0][0] + rows[1][0] * rows[1][1] ** 2

    assert grad(f)(2.0, [[3.0], (4.0, 5.0)]) == (3.0, [[2.0], (25.0, 40.0)])
    assert value_and_grad(f)(2, [[3], (4, 5)]) == (106.0, (3.0, [[2.0], (25.0, 40.0)]))


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
    with no_grad():
        assert grad(lambda x: x * x)(7.0) == 0.0, "nothing was recorded, as asked"


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
