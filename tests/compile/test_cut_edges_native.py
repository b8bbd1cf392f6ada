"""Native walks back through edges that are cut: what they see of gradients that are not finite, and do about it."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gradwalk
from gradwalk import Value, optim
from gradwalk.compile.native.flat import FlatExecution

MANY = 40


def roots(ws: Any, xs: Any) -> Any:
    """Roots of what is positive: where it is 0, the branch that is not taken has an infinite slope."""
    return sum(gradwalk.where(w * x > 0, gradwalk.sqrt(w * x), 3.0 * w) for w, x in zip(ws, xs, strict=True))


def plain_gradients(xs: list[float]) -> list[float]:
    ws = [Value(4.0) for _ in range(MANY)]
    roots(ws, xs).backward()
    return [w.grad for w in ws]


@pytest.fixture
def ws() -> list[Value]:
    return [Value(4.0) for _ in range(MANY)]


FINITE = [1.0] * MANY
AT_0 = [1.0] * (MANY - 1) + [0.0]


def test_such_a_program_is_run_by_kernels_that_look(ws: list[Value]) -> None:
    loss = gradwalk.compile(lambda xs: roots(ws, xs))
    loss(FINITE).backward()
    runner = loss.traces()[0].runner
    assert not isinstance(runner.execution, FlatExecution)
    assert runner.strange[0] == 0
    loss(AT_0).backward()
    assert runner.strange[0] == 1


@pytest.mark.parametrize("clears", [True, False])
def test_a_walk_that_starts_from_0_and_one_that_does_not_add_up_alike(ws: list[Value], clears: bool) -> None:
    loss, optimiser = gradwalk.compile(lambda xs: roots(ws, xs)), optim.SGD(ws, lr=0.5)
    loss(FINITE).backward()
    optimiser.zero_grad()
    expected = [0.0] * MANY
    for xs in (FINITE, AT_0, AT_0, FINITE, AT_0):
        if clears:
            optimiser.zero_grad()
            expected = [0.0] * MANY
        loss(xs).backward()
        expected = [before + more for before, more in zip(expected, plain_gradients(xs), strict=True)]
        assert [w.grad for w in ws] == pytest.approx(expected)  # which hands them back …
        loss(FINITE)  # … and native code has them again


def test_gradients_that_are_cleared_where_native_code_has_them(ws: list[Value]) -> None:
    loss, optimiser = gradwalk.compile(lambda xs: roots(ws, xs)), optim.SGD(ws, lr=0.5)
    start = [w.data for w in ws]
    for xs in (FINITE, AT_0, FINITE):
        result = loss(xs)
        optimiser.zero_grad()
        result.backward()
        optimiser.step()
    plain = [Value(x) for x in start]
    other = optim.SGD(plain, lr=0.5)
    for xs in (FINITE, AT_0, FINITE):
        other.zero_grad()
        roots(plain, xs).backward()
        other.step()
    assert [w.data for w in ws] == pytest.approx([w.data for w in plain])
    assert all(map(math.isfinite, (w.data for w in ws)))


def test_gradients_of_arguments_are_looked_at_too(ws: list[Value]) -> None:
    loss = gradwalk.compile(lambda xs: roots(ws, xs), wrt="xs")
    for xs in (FINITE, AT_0):
        result = loss(xs)
        result.backward()
        inputs = [Value(x) for x in xs]
        roots([Value(4.0) for _ in ws], inputs).backward()
        assert result.argument_grads["xs"] == pytest.approx([x.grad for x in inputs])


def test_what_is_infinite_or_nan_by_itself_stays_so(ws: list[Value]) -> None:
    loss = gradwalk.compile(lambda xs, y: roots(ws, xs) + sum(w * y for w in ws))
    loss(AT_0, math.inf).backward()
    assert [w.grad for w in ws] == [math.inf] * MANY
    for w in ws:
        w.grad = 0.0
    loss(AT_0, math.nan).backward()
    assert all(math.isnan(w.grad) for w in ws)
