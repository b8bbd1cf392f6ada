"""The same program under micrograd and under gradwalk gives the same numbers."""

from __future__ import annotations

import math
import random
from typing import Any

import micrograd.engine
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradwalk.engine

MICROGRAD, GRADWALK = micrograd.engine.Value, gradwalk.engine.Value


def long_expression(value: Any) -> tuple[Any, list[Any]]:
    """Every operator micrograd has, numbers on both sides, nodes used again."""
    a, b = value(-4.0), value(2.0)
    c = a + b
    d = a * b + b**3
    c = c + c + 1
    c += 1 + c + (-a)
    d += d * 2 + (b + a).relu()
    d = d + 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g = g + 10.0 / f
    g.backward()
    return g, [a, b]


def test_a_long_expression() -> None:
    (theirs, their_leaves), (ours, our_leaves) = long_expression(MICROGRAD), long_expression(GRADWALK)
    assert math.isclose(ours.data, theirs.data, rel_tol=1e-15)
    for x, y in zip(our_leaves, their_leaves, strict=True):
        assert math.isclose(x.grad, y.grad, rel_tol=1e-14)


@given(st.integers(0, 10**6), st.integers(1, 60))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_programs(seed: int, steps: int) -> None:
    def run(value: Any) -> list[Any]:
        rng = random.Random(seed)
        nodes = [value(rng.uniform(-2, 2)) for _ in range(3)]
        for _ in range(steps):
            x, y, constant = rng.choice(nodes), rng.choice(nodes[-4:]), round(rng.uniform(-2, 2), 2)
            made = rng.choice(
                list[Any]([
                    lambda x=x, y=y: x + y, lambda x=x, y=y: x * y, lambda x=x, y=y: x - y, lambda y=y: -y,
                    lambda y=y: y.relu(), lambda y=y, c=constant: c * y, lambda y=y, c=constant: y + c,
                    lambda y=y, c=constant: c - y, lambda y=y: y**2, lambda y=y, c=constant: y / (c + 3),
                ])
            )()  # fmt: skip
            nodes.append(made if abs(made.data) < 50 else made * 0.01)
        sum(nodes[3:], nodes[0]).backward()
        return nodes

    for ours, theirs in zip(run(GRADWALK), run(MICROGRAD), strict=True):
        assert math.isclose(ours.data, theirs.data, rel_tol=1e-12, abs_tol=1e-12)
        scale = max(1.0, abs(theirs.grad))
        assert abs(ours.grad - theirs.grad) <= 1e-9 * scale


def test_where_micrograd_is_wrong_we_are_right() -> None:
    x, y = GRADWALK(3.0), MICROGRAD(3.0)
    ours, theirs = x * x * x, y * y * y
    for _ in range(2):
        ours.backward()
        theirs.backward()
    assert (x.grad, y.grad) == (54.0, 72.0)
    with pytest.raises(ZeroDivisionError):
        MICROGRAD(0.0) ** -1
    assert (GRADWALK(0.0) ** -1).data == math.inf
