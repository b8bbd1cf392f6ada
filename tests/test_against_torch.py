"""Whole graphs against PyTorch in float64: values, every leaf and interior gradient, second derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from cases import EDGES, GRADWALK, TORCH, Program, close, path_weights, points, programs, tensor
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradwalk
from gradwalk import Value, ops, reverse
from gradwalk.ops import TABLE

thorough = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
quick = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def torch_nodes(program: Program) -> list[torch.Tensor]:
    nodes = program.run(tensor, TORCH, program.torch_constant)
    for node in nodes:
        if node.requires_grad:
            node.retain_grad()
    return nodes


def test_every_op_has_a_counterpart_in_torch() -> None:
    assert sorted(TORCH) == sorted(TABLE)


@given(programs())
@thorough
def test_values_and_all_gradients_of_random_graphs(program: Program) -> None:
    ours = program.run(Value, GRADWALK)
    theirs = torch_nodes(program)
    ours[-1].backward()
    if theirs[-1].requires_grad:
        theirs[-1].backward()
    scale = path_weights(ours)
    for i, (v, t) in enumerate(zip(ours, theirs, strict=True)):
        assert close(v.data, t.item()), f"node {i}: {v.data!r} where torch has {t.item()!r}"
        if not t.requires_grad:
            continue  # where(condition, constant, constant): a constant to PyTorch, a node with a gradient to us
        expected = 0.0 if t.grad is None else t.grad.item()
        assert close(v.grad, expected, scale[v]), f"node {i}: gradient {v.grad!r} where torch has {expected!r}"


@given(programs(max_steps=60))
@quick
def test_the_three_ways_to_a_gradient_agree(program: Program) -> None:
    """The short loop, the careful walk (as under a hook) and the functional walk are the same walk."""
    plain, hooked = program.run(Value, GRADWALK), program.run(Value, GRADWALK)
    plain[-1].backward()
    seen: list[float] = []
    hooked[-1].register_hook(seen.append)
    hooked[-1].backward()
    functional = reverse.adjoints(plain[-1], 1.0, as_graph=False)
    scale = path_weights(plain)
    for v, w in zip(plain, hooked, strict=True):
        assert close(v.grad, w.grad, scale[v], rel=1e-14)
        assert close(v.grad, functional.get(v, 0.0), scale[v], rel=1e-14)
    assert seen == [1.0]


@given(programs(max_steps=14, max_leaves=3))
@quick
def test_second_derivatives_against_double_backward(program: Program) -> None:
    ours, theirs = program.run(Value, GRADWALK), torch_nodes(program)
    mine, other = ours[: len(program.leaves)], theirs[: len(program.leaves)]

    first = reverse.adjoints(ours[-1], 1.0, as_graph=True)
    slopes = [first.get(leaf, 0.0) for leaf in mine]
    blend: Any = sum((slope * (k + 1.0) for k, slope in enumerate(slopes)), Value(0.0))
    second = reverse.adjoints(blend, 1.0, as_graph=False)

    if not theirs[-1].requires_grad:
        assert all(second.get(leaf, 0.0) == 0.0 for leaf in mine)
        return
    t_slopes = torch.autograd.grad(theirs[-1], other, create_graph=True, allow_unused=True, materialize_grads=True)
    t_blend = torch.zeros((), dtype=torch.float64)
    for k, slope in enumerate(t_slopes):
        t_blend = t_blend + slope * (k + 1.0)
    if t_blend.requires_grad:
        t_second = torch.autograd.grad(t_blend, other, allow_unused=True, materialize_grads=True)
    else:
        t_second = tuple(torch.zeros((), dtype=torch.float64) for _ in other)

    nodes = list(gradwalk.walk.topological(blend, reverse.flowing))
    scale = path_weights(nodes)
    for leaf, expected in zip(mine, t_second, strict=True):
        # Cancellation inside the second walk is measured by its own path weights, which the first walk's errors enter.
        assert close(second.get(leaf, 0.0), expected.item(), scale.get(leaf, 0.0), rel=1e-11)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, m: (x * x * x * x) / (x + 2.0),
        lambda x, m: m.exp(x) * m.sin(x) + m.tanh(x * x),
        lambda x, m: m.log(x + 1.0) ** 3.0 - m.sqrt(x),
        lambda x, m: x**x + 2.0**x,
        lambda x, m: m.sigmoid(x) * m.erf(x) / m.cosh(x) - m.atan(x) * m.asin(x / 3.0),
        lambda x, m: m.expm1(x) * m.log1p(x) + m.tan(x / 2.0) - m.acos(x / 2.0) * m.sinh(x),
    ],
)
def test_derivatives_of_high_order(f: Callable[..., Any], order: int) -> None:
    def of_ours(x: Any) -> Any:
        return f(x, gradwalk)

    derivative: Callable[..., Any] = of_ours
    for _ in range(order):
        derivative = gradwalk.grad(derivative)
    x = tensor(0.7)
    y = f(x, torch)
    for _ in range(order):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    assert math.isclose(derivative(0.7), y.item(), rel_tol=1e-12)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_each_op_at_random_points(name: str) -> None:
    op = TABLE[name]

    @given(points(op))
    @quick
    def agrees(point: tuple[float, ...]) -> None:
        # A slope is compared to 1e-14 absolutely where it is small: 1 - tanh² is a difference of nearly equal numbers.
        check_op_against_torch(name, point, scale=0.01)

    agrees()


@pytest.mark.parametrize(("name", "point"), EDGES, ids=lambda x: str(x))
def test_edges(name: str, point: tuple[float, ...]) -> None:
    check_op_against_torch(name, point)


def check_op_against_torch(name: str, point: tuple[float, ...], scale: float = 0.0) -> None:
    leaves = [Value(x) for x in point]
    out = GRADWALK[name](*leaves)
    out.backward()
    tensors = [tensor(x) for x in point]
    expected = TORCH[name](*tensors)
    expected.backward()
    assert close(out.data, expected.item()), f"{name}{point} = {out.data!r} where torch has {expected.item()!r}"
    assert ops.TABLE[name](*point) == out.data or math.isnan(out.data)
    for i, (leaf, t) in enumerate(zip(leaves, tensors, strict=True)):
        slope = 0.0 if t.grad is None else t.grad.item()
        assert close(leaf.grad, slope, scale), (
            f"∂{name}/∂operand {i + 1} at {point}: {leaf.grad!r} where torch has {slope!r}"
        )


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2, 0.5, 0.0, 1.5, -0.5])
@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, 2.5, -2.0, math.inf, -math.inf, math.nan])
def test_constant_exponents(x: float, exponent: float) -> None:
    if math.copysign(1.0, x) < 0 and exponent % 1 == 0.5 and x in (0.0, -math.inf):
        return  # PyTorch takes roots here by another road than its own pow of tensors, which is IEEE's, as is ours
    ours, theirs = Value(x), tensor(x)
    (ours**exponent).backward()
    y = theirs**exponent
    y.backward()
    assert theirs.grad is not None
    assert close((Value(x) ** exponent).data, y.item())
    assert close(ours.grad, theirs.grad.item())


@pytest.mark.parametrize("base", [0.0, 1.0, 2.0, 0.5, -2.0])
@pytest.mark.parametrize("y", [0.0, 1.0, 2.0, -1.0, 0.5, 3.0])
def test_constant_bases(base: float, y: float) -> None:
    ours, theirs = Value(y), tensor(y)
    (base**ours).backward()
    (base**theirs).backward()
    assert theirs.grad is not None
    assert close(ours.grad, theirs.grad.item())


COMPOSITES: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "sqrt(x)² at 0": (lambda x, m: m.sqrt(x) ** 2, 0.0),
    "sqrt(x·x) at 0": (lambda x, m: m.sqrt(x * x), 0.0),
    "product with one zero factor": (lambda x, m: x * 3.0 * (x + 1.0) * 5.0, 0.0),
    "relu(x)·x at 0": (lambda x, m: m.relu(x) * x, 0.0),
    "naive sigmoid at -1000": (lambda x, m: 1.0 / (1.0 + m.exp(-x)), -1000.0),
    "naive softplus at 1000": (lambda x, m: m.log(1.0 + m.exp(x)), 1000.0),
    "tanh through exp at 400": (lambda x, m: (m.exp(2.0 * x) - 1.0) / (m.exp(2.0 * x) + 1.0), 400.0),
    "x/x at 0": (lambda x, m: x / x, 0.0),
    "log(x) - log(x) at 0": (lambda x, m: m.log(x) - m.log(x), 0.0),
}


@pytest.mark.parametrize("name", sorted(COMPOSITES))
def test_composites_at_the_edges(name: str) -> None:
    f, x = COMPOSITES[name]
    ours, theirs = Value(x), tensor(x)
    y, t = f(ours, gradwalk), f(theirs, torch)
    y.backward()
    t.backward()
    assert theirs.grad is not None
    assert close(y.data, t.item())
    assert close(ours.grad, theirs.grad.item())


def test_where_pushes_nothing_to_the_branch_not_taken_unlike_pytorch() -> None:
    ours, theirs = Value(0.0), tensor(0.0)
    gradwalk.where(ours > 0, ours.sqrt(), 0.0).backward()
    torch.where(theirs > 0, torch.sqrt(theirs), torch.zeros((), dtype=torch.float64)).backward()
    assert theirs.grad is not None
    assert math.isnan(theirs.grad.item())
    assert ours.grad == 0.0


@pytest.mark.parametrize("name", ["relu", "abs"])
def test_second_derivative_at_a_kink_is_zero(name: str) -> None:
    f = getattr(gradwalk, name)
    assert gradwalk.grad(gradwalk.grad(lambda x: f(x) * 1.0))(0.0) == 0.0
    x = tensor(0.0)
    (slope,) = torch.autograd.grad(getattr(torch, name)(x), x, create_graph=True)
    if slope.requires_grad:
        (second,) = torch.autograd.grad(slope, x, allow_unused=True, materialize_grads=True)
        assert second.item() == 0.0


def test_repeated_backward_is_torchs_retain_graph() -> None:
    a, b = Value(3.0), tensor(3.0)
    y, t = a * a * a, b * b * b
    for _ in range(3):
        y.backward()
        t.backward(retain_graph=True)
        assert b.grad is not None
        assert a.grad == b.grad.item()
    assert a.grad == 81.0


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=4))
@quick
def test_hessian_and_jacobian(xs: list[float]) -> None:
    def f(v: list[Any], m: Any) -> Any:
        total = v[0] * 0.0
        for i, x in enumerate(v):
            total = total + m.tanh(x * (i + 1.0)) * v[i - 1] + m.exp(-x * x)
        return total

    t = torch.tensor(xs, dtype=torch.float64)
    expected = torch.autograd.functional.hessian(lambda z: f(list(z), torch), t)
    ours = gradwalk.hessian(lambda v: f(v, gradwalk))(xs)
    for i, row in enumerate(ours):
        for j, x in enumerate(row):
            assert math.isclose(x, expected[i, j].item(), rel_tol=1e-11, abs_tol=1e-12)

    rows = torch.autograd.functional.jacobian(lambda z: torch.stack([torch.sin(w) * z[0] for w in z]), t)
    ours = gradwalk.jacobian(lambda v: [gradwalk.sin(w) * v[0] for w in v])(xs)
    for i, row in enumerate(ours):
        for j, x in enumerate(row):
            assert math.isclose(x, rows[i, j].item(), rel_tol=1e-12, abs_tol=1e-15)
