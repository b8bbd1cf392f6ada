"""One list of cases for every backend: eager is the reference; compiled and batched agree, in float64 and float32."""

from __future__ import annotations

import math
from typing import Any

import cases
import numpy as np
import pytest
from hypothesis import given, settings

import gradwalk
from gradwalk import Value
from gradwalk.ops import TABLE


def eagerly(program: cases.Program) -> tuple[float, list[float], list[float]]:
    """The result, the gradient of each leaf, and the scale of that gradient's rounding error."""
    nodes = program.run(Value, cases.GRADWALK)
    nodes[-1].backward()
    leaves = nodes[: len(program.leaves)]
    weights = cases.path_weights(nodes)
    return nodes[-1].data, [v.grad for v in leaves], [weights[v] for v in leaves]


def check(program: cases.Program, data: float, grads: list[float], rel: float = 1e-12) -> None:
    expected, expected_grads, scales = eagerly(program)
    assert cases.close(data, expected, scale=1e-3, rel=10 * rel)
    for ours, theirs, scale in zip(grads, expected_grads, scales, strict=True):
        assert cases.close(ours, theirs, scale=max(scale, 1e-3), rel=10 * rel)


@given(cases.programs(max_steps=60))
@settings(max_examples=40, deadline=None)
def test_parameters(program: cases.Program) -> None:
    leaves = [Value(x) for x in program.leaves]

    def f() -> Any:
        made = iter(leaves)
        return program.run(lambda _: next(made), cases.GRADWALK)[-1]

    result = gradwalk.compile(f)()
    result.backward()
    check(program, result.data, [v.grad for v in leaves])


@given(cases.programs(max_steps=60))
@settings(max_examples=40, deadline=None)
def test_arguments(program: cases.Program) -> None:
    def f(xs: Any) -> Any:
        given_numbers = iter(xs)
        return program.run(lambda _: next(given_numbers), cases.GRADWALK)[-1]

    values = [Value(x) for x in program.leaves]
    compiled = gradwalk.compile(f, wrt="xs")
    for result in (compiled(list(program.leaves)), compiled(np.array(program.leaves))):
        result.backward()
        check(program, result.data, list(result.argument_grads["xs"]))
    as_values = compiled(values)
    as_values.backward()
    check(program, as_values.data, [v.grad for v in values])


@pytest.mark.parametrize(("dtype", "rel"), [("float64", 1e-12), ("float32", 2e-4)])
@given(program=cases.programs(max_steps=40))
@settings(max_examples=25, deadline=None)
def test_batches(dtype: str, rel: float, program: cases.Program) -> None:
    leaves = [Value(x) for x in program.leaves]
    samples = 5

    def f(x: Any) -> Any:
        made = iter(leaves)
        return program.run(lambda _: next(made), cases.GRADWALK)[-1] * x

    for batch, scale in (("sum", samples * 1.0), ("mean", 1.0)):
        for v in leaves:
            v.grad = 0.0
        result = gradwalk.compile(f, batch=batch, dtype=dtype)(np.ones(samples))
        result.backward(1.0 / scale)
        check(program, result.data / scale, [v.grad for v in leaves], rel)


def arguments_of(name: str) -> list[tuple[float, ...]]:
    return [point for op, point in cases.EDGES if op == name]


@pytest.mark.parametrize("name", sorted({name for name, _ in cases.EDGES}))
def test_the_edges_are_eagers(name: str) -> None:
    op = TABLE[name]
    compiled = gradwalk.compile(lambda *xs: op(*xs), wrt=())
    parameters = [Value(0.0) for _ in range(op.arity)]
    by_parameters = gradwalk.compile(lambda: op(*parameters))
    for point in arguments_of(name):
        data = op.forward(*point)
        slopes = op.local(*point, data)
        for p, x in zip(parameters, point, strict=True):
            p.data, p.grad = x, 0.0
        result = by_parameters()
        result.backward()
        for ours, theirs in zip([result.data, *(p.grad for p in parameters)], [data, *slopes], strict=True):
            assert cases.close(ours, theirs, rel=1e-14), (name, point, ours, theirs)
        plain = compiled(*point)
        assert cases.close(plain.data, data, rel=1e-14), (name, point)
        if data == 0.0:
            assert math.copysign(1.0, plain.data) == math.copysign(1.0, data), (name, point)
