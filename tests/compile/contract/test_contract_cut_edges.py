"""Edges that are cut, compiled: 0 times inf does not come through them, in single calls and in batches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from cut_edges import CUT, wanted

import gradwalk
from gradwalk import Value
from gradwalk.compile.careful import cuts
from gradwalk.compile.prepared import running_on
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.trace.tracer import trace


@pytest.fixture(autouse=True)
def _in_plain_numpy() -> Any:
    """What is tested lies in front of the backend: no kernels are needed."""
    with running_on(REFERENCE):
        yield


@pytest.mark.parametrize("name", CUT)
def test_nothing_comes_through(name: str) -> None:
    f, _ = CUT[name]
    dx, du = wanted(name)
    compiled = gradwalk.compile(f)
    x, u = Value(0.0), Value(2.0)
    for times in (1, 2, 3):
        compiled(x, u).backward()
        assert (x.grad, u.grad) == (times * dx, times * du)
    x.data, x.grad, u.grad = 0.25, 0.0, 0.0  # there is nothing infinite here
    compiled(x, u).backward()
    plain = Value(0.25), Value(2.0)
    f(*plain).backward()
    assert (x.grad, u.grad) == pytest.approx(tuple(v.grad for v in plain), nan_ok=True)
    x, u = Value(0.0), Value(2.0)
    gradwalk.compile(lambda: f(x, u))().backward()
    assert (x.grad, u.grad) == (dx, du)
    if name in ("where, a root", "where, deep below", "max", "clamp, below"):  # plain numbers do not raise in these
        loss = gradwalk.compile(f, wrt=("x", "u"))(0.0, 2.0)
        loss.backward()
        assert loss.argument_grads == {"x": dx, "u": du}


DATA = [math.nan, 1.0, 0.0, 4.0]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("batch", ["sum", "mean"])
def test_missing_numbers_are_left_out_of_a_batch(batch: str, dtype: str) -> None:
    def loss(w: Value, x: Any, mask: Any) -> Any:
        return gradwalk.where(mask, w * x + gradwalk.sqrt(w * x), 0.0)

    w = Value(0.5)
    compiled = gradwalk.compile(lambda x, mask: loss(w, x, mask), batch=batch, dtype=dtype)
    mask = np.array([0.0, 1.0, 0.0, 1.0])
    for _ in range(2):
        w.grad = 0.0
        out = compiled(np.array(DATA), mask)
        out.backward()
        plain = Value(0.5)
        total = sum((loss(plain, x, m) for x, m in zip(DATA, mask.tolist(), strict=True)), Value(0.0))
        total.backward()
        scale = 0.25 if batch == "mean" else 1.0
        assert (out.data, w.grad) == pytest.approx((scale * total.data, scale * plain.grad), rel=1e-6)
        assert math.isfinite(w.grad)


def test_a_real_nan_stays_nan() -> None:
    w = Value(0.0)
    for f in (lambda x: 0.0 * gradwalk.sqrt(w) + gradwalk.maximum(x, w), lambda x: gradwalk.maximum(x, w.sqrt()) * 0.0):
        w.grad = 0.0
        gradwalk.compile(f)(-1.0).backward()
        assert math.isnan(w.grad)


def test_what_is_cut_costs_nothing_where_nothing_is() -> None:
    w = Value(1.0)
    assert not cuts(trace(lambda x: gradwalk.logsumexp([w * x, x]) + (w * x).relu(), [1.0]).tape, False)
    assert not cuts(trace(lambda i: gradwalk.take([w, w * 1], 0) + i, [1.0]).tape, False)
    assert not cuts(trace(lambda x: gradwalk.maximum(x, 1.0) * w, [1.0]).tape, False)
    assert cuts(trace(lambda x: gradwalk.maximum(x, 1.0) * w, [1.0]).tape, True)


def test_taking_from_a_table_by_an_index() -> None:
    v, u = Value(0.0), Value(2.0)
    compiled = gradwalk.compile(lambda i: gradwalk.take([gradwalk.sqrt(v), u, u * v], i))
    compiled(1).backward()
    assert (v.grad, u.grad) == (0.0, 1.0)
    compiled(2).backward()
    assert (v.grad, u.grad) == (2.0, 1.0)


def test_derivatives_of_compiled_functions() -> None:
    f = gradwalk.compile(lambda x, u: gradwalk.where(x < 1e-9, u * u, u / x))
    assert gradwalk.grad(f)(0.0, 2.0) == (0.0, 4.0)
    assert gradwalk.hessian(f)(0.0, 2.0) == [[0.0, 0.0], [0.0, 2.0]]


def test_several_results_and_one_of_them_walked() -> None:
    x, u = Value(0.0), Value(2.0)
    compiled = gradwalk.compile(lambda: (gradwalk.where(x > 0, gradwalk.sqrt(x), u), gradwalk.sqrt(x), u * 3))
    first, _, third = compiled()
    first.backward()
    assert (x.grad, u.grad) == (0.0, 1.0)
    third.backward()
    assert (x.grad, u.grad) == (0.0, 4.0)


def test_a_copy_that_is_cut_off_leaves_what_it_was_copied_from() -> None:
    a, b = Value(1.5), Value(2.0)
    makes: dict[str, Any] = {
        "max": lambda x: gradwalk.max([a, b, a * x]),
        "min": lambda x: gradwalk.min([a, b, a * x]),
        "maximum": lambda x: gradwalk.maximum(a, b * x),
        "a product": lambda x: a * b * x,
        "where": lambda x: gradwalk.where(a * x > b, a, b * x),
    }
    for name, make in makes.items():

        def loss(x: float, make: Any = make) -> Any:
            large = make(x)
            cut = large.detach()
            return large + cut * a

        compiled = gradwalk.compile(loss)
        for x in (0.3, 1.0, 3.0):
            a.grad = b.grad = 0.0
            loss(x).backward()
            plain = a.grad, b.grad
            a.grad = b.grad = 0.0
            compiled(x).backward()
            assert (a.grad, b.grad) == pytest.approx(plain, rel=1e-15), name
