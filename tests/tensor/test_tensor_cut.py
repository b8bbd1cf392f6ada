"""A number that an op did not take passes nothing on: tensors give what the Values of the same program give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cut_edges import CUT

import gradwalk
from gradwalk import Tensor, Value, walk
from gradwalk.tensor.jacobians import gradients

#: Functions of x and u, one list of points for each, that leave numbers whose slope is inf or nan.
PROGRAMS: dict[str, Any] = {
    **{name: f for name, (f, _) in CUT.items() if name not in ("take", "detach", "max", "min")},
    "where, a power": lambda x, u: gradwalk.where(x > 0, x**1.5, u),
    "where, missing data": lambda x, u: gradwalk.where(x > 0, u * (x * math.inf - x * math.inf), u),
    "where in where": lambda x, u: gradwalk.where(x > 0, 1 / x, gradwalk.where(u > 0, u, gradwalk.log(x))),
    "a product below": lambda x, u: gradwalk.where(x > 0, gradwalk.sqrt(x) * u, 0.0),
    "used elsewhere": lambda x, u: gradwalk.where(x > 0, gradwalk.sqrt(x), 0.0) + x * x * u,
    "twice": lambda x, u: gradwalk.maximum(gradwalk.sqrt(x), u) * gradwalk.minimum(gradwalk.sqrt(x), u + 1.0),
}
X, U = [0.0, 4.0, 0.0, 0.25], [2.0, -1.0, 0.5, 3.0]


def in_values(f: Any) -> tuple[list[float], list[float], list[float], list[list[float]]]:
    """Results, gradients and second derivatives of each point, in Values."""
    out, dx, du, second = [], [], [], []
    for x, u in zip(X, U, strict=True):
        a, b = Value(x), Value(u)
        v = f(a, b)
        v.backward()
        out.append(v.data)
        dx.append(a.grad)
        du.append(b.grad)
        second.append([row for rows in gradwalk.hessian(f)(x, u) for row in rows])
    return out, dx, du, second


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("way", ["quick", "hooked", "python"])
def test_first_order(name: str, way: str) -> None:
    f = PROGRAMS[name]
    out, dx, du, _ = in_values(f)
    with gradwalk.using_arrays("python" if way == "python" else "numpy"):
        x, u = Tensor(X), Tensor(U)
        if way == "hooked":
            u.register_hook(lambda gradient: None)
        y = f(x, u)
        np.testing.assert_allclose(y.tolist(), out, rtol=1e-14)
        y.sum().backward()
        np.testing.assert_allclose(x.grad.tolist(), dx, rtol=1e-13)
        np.testing.assert_allclose(u.grad.tolist(), du, rtol=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_order(name: str) -> None:
    f = PROGRAMS[name]
    _, dx, _, second = in_values(f)
    x, u = Tensor(X), Tensor(U)
    f(x, u).sum().backward(create_graph=True)
    first = [x.grad, u.grad]
    np.testing.assert_allclose(first[0].tolist(), dx, rtol=1e-13)
    for k, g in enumerate(first):
        if g.requires_grad:
            rows = gradients(g.sum(), [x, u])
            for j, row in enumerate(rows):
                wanted = [point[2 * k + j] for point in second]
                np.testing.assert_allclose(row.tolist(), wanted, rtol=1e-12, atol=1e-15)


def test_reductions_and_indices_leave_numbers_too() -> None:
    cases: list[tuple[Any, list[float]]] = [
        (lambda x: x.sqrt().max(), [0.0, 0.25, 0.0]),
        (lambda x: x.sqrt()[1], [0.0, 0.25, 0.0]),
        (lambda x: x.sqrt()[[1, 1]].sum(), [0.0, 0.5, 0.0]),
        (lambda x: x.sqrt()[x > 0].sum(), [0.0, 0.25, 0.0]),
        (lambda x: (1 / x).min() * 16.0, [0.0, -1.0, 0.0]),
        (lambda x: x.sqrt().max(dim=0).values, [0.0, 0.25, 0.0]),
        (lambda x: gradwalk.clamp(x.sqrt(), 1.0, 3.0).sum(), [0.0, 0.25, 0.0]),
        (lambda x: x.sqrt().reshape(1, 3).expand(2, 3)[:, 1].sum(), [0.0, 0.5, 0.0]),
        (lambda x: gradwalk.cat([x.sqrt(), x])[1:2].sum(), [0.0, 0.25, 0.0]),
        (lambda x: (x.sqrt().reshape(3, 1) * Tensor([1.0, 2.0]))[1].sum(), [0.0, 0.75, 0.0]),
    ]
    for f, wanted in cases:
        x = Tensor([0.0, 4.0, 0.0])
        f(x).backward()
        assert x.grad.tolist() == wanted


def test_rows_that_are_left_out_may_hold_anything() -> None:
    batch = Tensor([[1.0, 2.0], [math.nan, math.inf], [3.0, 4.0]], requires_grad=False)
    W = Tensor([[0.5], [0.25]])
    (batch @ W)[[0, 2]].sum().backward()
    assert W.grad.tolist() == [[4.0], [6.0]]
    W.zero_grad()
    gradwalk.where((batch @ W).isfinite(), batch @ W, 0.0).sum().backward()
    assert W.grad.tolist() == [[4.0], [6.0]]


def test_rows_and_columns_that_are_left_out_of_a_batch_may_hold_anything() -> None:
    """Of two batches of matrices, and of one matrix beside a batch."""
    left, right = np.arange(12.0).reshape(2, 3, 2) + 1.0, np.arange(16.0).reshape(2, 2, 4) - 5.0
    rows = np.array([[True, False, True], [False, False, True]])[:, :, None]
    columns = np.array([[True, False, True, True], [True, False, False, True]])[:, None, :]
    taken = Tensor(rows & columns)
    for a, b in ((left, right), (left[:1], right), (left[0], right), (left, right[:1]), (left, right[0])):
        x, y = Tensor(a), Tensor(b)
        (x @ y * taken).sum().backward()
        in_a, in_b = (z if len(of) == 2 < of.ndim else z.any(0) for z, of in ((rows, a), (columns, b)))
        found = Tensor(b)
        gradwalk.where(taken, Tensor(np.where(in_a, a, np.nan), False) @ found, 0.0).sum().backward()
        assert found.grad.tolist() == y.grad.tolist()
        found = Tensor(a)
        gradwalk.where(taken, found @ Tensor(np.where(in_b, b, np.inf), False), 0.0).sum().backward()
        assert found.grad.tolist() == x.grad.tolist()


def test_vectors_beside_a_cut_matrix_get_their_gradient() -> None:
    x, v = Tensor([[[1.0, 2.0], [0.0, 4.0]]]), Tensor([0.0, 4.0])
    (x @ v.sqrt())[0, 1].backward()
    assert v.grad.tolist()[1] == 4.0 * 0.25
    assert x.grad.tolist() == [[[0.0, 0.0], [0.0, 2.0]]]


def test_a_0_that_is_reached_is_still_multiplied() -> None:
    x = Tensor([0.0, 4.0])
    (x.sqrt() * 0.0).sum().backward()
    assert math.isnan(x.grad.tolist()[0])  # as of Values, and in PyTorch
    y = Value(0.0)
    (y.sqrt() * 0.0).backward()
    assert math.isnan(y.grad)
    z = Tensor([0.0, 4.0])
    (gradwalk.where(z > 1, z, z).sqrt() * 0.0).sum().backward()
    assert math.isnan(z.grad.tolist()[0])


def test_jacobians_of_numbers_apart_do_not_touch() -> None:
    found = gradwalk.jacobian(lambda x: x.sqrt())(Tensor([0.0, 4.0]))
    assert found.tolist() == [[math.inf, 0.0], [0.0, 0.25]]
    f = lambda x: gradwalk.where(x > 0, x**1.5, 0.0).sum()  # noqa: E731
    assert gradwalk.hessian(f)(Tensor([0.0, 4.0])).tolist() == [[0.0, 0.0], [0.0, 0.375]]


def test_recorded_walks_say_the_same() -> None:
    x = Tensor([0.0, 4.0], label="x")
    out = gradwalk.where(x > 0, (x * 1.0).sqrt(), 0.0).sum()
    recording = walk.record(out)
    found: Any = next(recording.grads[node.id] for node in recording.graph.nodes if node.name == "x")
    assert found.numbers == (0.0, 0.25)
