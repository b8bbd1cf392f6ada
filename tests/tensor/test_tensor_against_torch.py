"""Every function of tensors against PyTorch, with both providers of arrays: values, first and second gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from cases import EDGES, TORCH
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_cases import CASES, Case

import gradwalk
from gradwalk import Tensor, Value, ops
from gradwalk.tensor.arrays import using_arrays
from gradwalk.tensor.scalars import unrolled

PROVIDERS = ("numpy", "python")


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> Iterator[str]:
    with using_arrays(request.param):
        yield request.param


def numbers(x: Any) -> Any:
    """A tensor of either kind as an array."""
    if isinstance(x, torch.Tensor):
        return x.detach().numpy(force=True)
    return np.array(x.tolist(), dtype=x.dtype).reshape(x.shape)


def gradient(x: Any) -> Any:
    return numbers(x.grad) if x.grad is not None else np.zeros(tuple(x.shape))


def near(ours: Any, theirs: Any, what: str, tolerance: float = 1e-12) -> None:
    assert ours.shape == theirs.shape, f"{what}: {ours.shape} against {theirs.shape}"
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=what)


def points(case: Case, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=shape) * 0.8 for shape in case.shapes]
    return [np.abs(x) + 0.2 for x in found] if case.positive else found


def check(case: Case, seed: int) -> None:
    """A case's value, its gradients, and the gradients of half the square of these."""
    given = points(case, seed)
    ours, theirs = [Tensor(x) for x in given], [torch.tensor(x, requires_grad=True) for x in given]
    out, want = case.f(gradwalk, *ours), case.f(torch, *theirs)
    near(numbers(out), numbers(want), f"the value of {case.name}")
    upstream = np.random.default_rng(seed + 1).normal(size=out.shape)
    out.backward(upstream)
    want.backward(torch.tensor(upstream))
    for i, (x, t) in enumerate(zip(ours, theirs, strict=True)):
        assert x.grad.dtype == "float64"
        near(gradient(x), gradient(t), f"gradient {i} of {case.name}")
    ours, theirs = [Tensor(x) for x in given], [torch.tensor(x, requires_grad=True) for x in given]
    out, want = case.f(gradwalk, *ours), case.f(torch, *theirs)
    out.backward(upstream, create_graph=True)
    total = sum(((x.grad * x.grad).sum() for x in ours), start=Tensor(0.0))
    first = torch.autograd.grad(want, theirs, torch.tensor(upstream), create_graph=True, allow_unused=True)
    other = sum((g * g).sum() for g in first if g is not None)
    for x in ours:
        x.grad = None
    total.backward()
    if isinstance(other, torch.Tensor) and other.requires_grad:
        other.backward()
    for i, (x, t) in enumerate(zip(ours, theirs, strict=True)):
        near(gradient(x), gradient(t), f"second gradient {i} of {case.name}", 1e-11)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_functions_of_tensors(case: Case, provider: str) -> None:
    check(case, seed=len(case.name))


def same_in_torch(name: str, given: list[Any]) -> None:
    """An op of the table on tensors, number by number; the slope of leaky_relu is one number in PyTorch."""
    op = ops.TABLE[name]
    ours = [Tensor(x) for x in given]
    out = op(*ours)
    out.sum().backward()
    for at in np.ndindex(out.shape):
        theirs = [torch.tensor(float(x[at]), dtype=torch.float64, requires_grad=True) for x in given]
        want = TORCH[name](*theirs)
        want.backward()
        what = f"{name}{tuple(float(x[at]) for x in given)}"
        np.testing.assert_allclose(numbers(out)[at], want.item(), rtol=1e-12, atol=1e-300, err_msg=what)
        for i, (x, t) in enumerate(zip(ours, theirs, strict=True)):
            if t.grad is not None:
                np.testing.assert_allclose(
                    gradient(x)[at], t.grad.item(), rtol=1e-12, atol=1e-300, err_msg=f"gradient {i} of {what}"
                )


def test_every_op_of_the_table(provider: str) -> None:
    rng = np.random.default_rng(1)
    for name, op in ops.TABLE.items():
        low = [max(-0.9, interval[0] + 0.1) for interval in op.domain]
        high = [min(0.9, interval[1] - 0.1) for interval in op.domain]
        same_in_torch(name, [rng.uniform(a, b, size=(2, 2)) for a, b in zip(low, high, strict=True)])


def test_edges_number_by_number(provider: str) -> None:
    for name in dict.fromkeys(name for name, _ in EDGES):
        rows = [point for other, point in EDGES if other == name]
        same_in_torch(name, [np.array(column) for column in zip(*rows, strict=True)])


def test_providers_agree_to_the_last_bit_where_the_order_of_additions_is_the_same() -> None:
    exact = (
        "add",
        "sub",
        "mul",
        "div",
        "maximum",
        "minimum",
        "where",
        "reshape",
        "permute",
        "cat",
        "stack",
        "gather",
        "roll",
    )
    for case in CASES:
        if case.name.split()[0] not in exact:
            continue
        found = []
        for name in PROVIDERS:
            with using_arrays(name):
                xs = [Tensor(x) for x in points(case, 3)]
                out = case.f(gradwalk, *xs)
                found.append(out.tolist())
        assert found[0] == found[1], case.name


# --- the same computation as Values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_unrolled_into_values(case: Case) -> None:
    xs = [Tensor(x) for x in points(case, 5)]
    out = case.f(gradwalk, *xs)
    weights = np.random.default_rng(6).normal(size=out.shape)
    loss = (out * weights).sum()
    loss.backward()
    value, leaves = unrolled(loss)
    assert isinstance(value, Value)
    assert value.data == pytest.approx(loss.item(), rel=1e-12, abs=1e-12)
    value.backward()
    for x in xs:
        if x in leaves:
            near(np.array([v.grad for v in leaves[x]]).reshape(x.shape), numbers(x.grad), case.name)


# --- random shapes ---------------------------------------------------------------------------------------------------

SIZES = st.integers(0, 4)
SHAPES = st.lists(SIZES, max_size=3).map(tuple)


@st.composite
def broadcast_pairs(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that fit together: axes of size 1 and missing ones on either side."""
    whole = draw(st.lists(SIZES, max_size=4))
    both = []
    for _ in range(2):
        kept = [draw(st.sampled_from([n, 1])) for n in whole]
        both.append(tuple(kept[draw(st.integers(0, len(kept))) :]))
    return both[0], both[1]


@settings(max_examples=40, derandomize=True)
@given(broadcast_pairs(), st.sampled_from(["add", "sub", "mul", "maximum"]), st.integers(0, 99))
def test_any_broadcast(shapes: tuple[tuple[int, ...], tuple[int, ...]], name: str, seed: int) -> None:
    check(
        Case(f"{name} {shapes}", lambda g, x, y: TORCH[name](x, y) if g is torch else ops.TABLE[name](x, y), shapes),
        seed,
    )


@st.composite
def reductions(draw: st.DrawFn) -> Case:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), min_size=1, unique_by=lambda a: a % len(shape)))
    keep = draw(st.booleans())
    name = draw(st.sampled_from(["sum", "mean", "amax", "amin", "logsumexp"]))
    return Case(f"{name} {shape} {axes} {keep}", lambda g, x: getattr(x, name)(tuple(axes), keepdim=keep), (shape,))


@settings(max_examples=30, derandomize=True)
@given(reductions(), st.integers(0, 99))
def test_any_reduction(case: Case, seed: int) -> None:
    check(case, seed)


@st.composite
def indices(draw: st.DrawFn) -> tuple[tuple[int, ...], Any]:
    """A shape, and an index into it: ints, slices, None, `...`, lists and masks in any mixture."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    count = draw(st.integers(1, 3))
    parts: list[Any] = []
    for n in shape:
        kind = draw(st.sampled_from(["int", "slice", "list", "all", "none", "mask", "matrix"]))
        places = st.integers(-n, n - 1)
        if kind == "none":
            parts.append(None)
        if kind == "int":
            parts.append(draw(places))
        elif kind == "list":
            parts.append(draw(st.lists(places, min_size=count, max_size=count)))
        elif kind == "matrix":
            parts.append([draw(st.lists(places, min_size=count, max_size=count)) for _ in range(2)])
        elif kind == "mask" and not any(isinstance(part, list) for part in parts):
            mask = [False] * n
            for i in draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count)):
                mask[i] = True
            parts.append(mask if sum(mask) in (1, count) else slice(None))
        else:
            parts.append(
                slice(
                    draw(st.sampled_from([None, 0, 1, -2])),
                    draw(st.sampled_from([None, n, -1])),
                    draw(st.sampled_from([None, 1, 2])),
                )
            )
    if draw(st.booleans()):
        cut = draw(st.integers(0, len(parts)))
        parts[cut:] = [...] if draw(st.booleans()) else []
    return shape, tuple(parts)


@settings(max_examples=80, derandomize=True)
@given(indices(), st.integers(0, 99))
def test_any_index(shape_and_key: tuple[tuple[int, ...], Any], seed: int) -> None:
    shape, key = shape_and_key
    given = np.random.default_rng(seed).normal(size=shape)
    x, t = Tensor(given), torch.tensor(given, requires_grad=True)
    try:
        want = t[key]
    except IndexError:
        with pytest.raises(gradwalk.GradwalkError):
            x[key]
        return
    out = x[key]
    near(numbers(out), numbers(want), f"{shape}{key}")
    upstream = np.random.default_rng(seed + 1).normal(size=out.shape)
    out.backward(upstream)
    want.backward(torch.tensor(upstream))
    near(gradient(x), gradient(t), f"gradient of {shape}{key}")
    with using_arrays("python"):
        y = Tensor(given)
        near(numbers(y[key]), numbers(want), f"{shape}{key} in Python")
        y[key].backward(upstream)
        near(gradient(y), gradient(t), f"gradient of {shape}{key} in Python")


@settings(max_examples=30, derandomize=True)
@given(
    st.lists(st.integers(0, 3), max_size=2),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
)
def test_any_matmul(batch: list[int], m: int, k: int, n: int, flat: bool, upright: bool) -> None:
    left = (k,) if flat else (*batch, m, k)
    right = (k,) if upright else (*[1 for _ in batch], k, n)
    check(Case(f"{left} @ {right}", lambda g, x, y: x @ y, (left, right)), 7)


# --- ties and zeros --------------------------------------------------------------------------------------------------


Function = Callable[[Any], Any]


def test_ties_share_and_max_of_a_dim_takes_the_first(provider: str) -> None:
    given = [[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]
    functions: list[Function] = [
        lambda x: x.max(),
        lambda x: x.amax(1).sum(),
        lambda x: x.max(1)[0].sum(),
        lambda x: x.amin(0).sum(),
        lambda x: x.min(),
    ]
    for f in functions:
        x, t = Tensor(given), torch.tensor(given, dtype=torch.float64, requires_grad=True)
        f(x).backward()
        f(t).backward()
        assert x.grad.tolist() == t.grad.tolist()


def test_norm_and_std_have_gradient_0_at_0(provider: str) -> None:
    functions: list[Function] = [lambda x: x.norm(), lambda x: x.std(), lambda x: x.norm(3), lambda x: x.norm(1)]
    for f in functions:
        x = Tensor([0.0, 0.0])
        f(x).backward()
        assert x.grad.tolist() == [0.0, 0.0]


def test_what_was_not_chosen_gets_nothing_even_where_upstream_is_infinite(provider: str) -> None:
    x = Tensor([-1.0, 2.0])
    x.relu().backward(Tensor([math.inf, 1.0]))
    assert x.grad.tolist() == [0.0, 1.0]
    a, b = Tensor([1.0, 1.0]), Tensor([2.0, 2.0])
    gradwalk.where(Tensor([True, False]), a, b).backward(Tensor([math.inf, math.inf]))
    assert a.grad.tolist() == [math.inf, 0.0]
    assert b.grad.tolist() == [0.0, math.inf]
