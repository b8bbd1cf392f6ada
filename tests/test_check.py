"""No false alarm: right gradients pass, whatever the function, by either method."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from cases import GRADWALK, Program, points, programs
from hypothesis import given, settings

from gradwalk import Value, ops
from gradwalk.check import CheckReport, gradcheck
from gradwalk.ops import TABLE, Op

METHODS = ("central", "taylor")


def statuses(report: CheckReport) -> set[str]:
    return {entry.status for entry in report.inputs}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("op", TABLE.values(), ids=lambda op: op.name)
def test_every_op_passes_at_random_points_of_its_domain(op: Op, method: str) -> None:
    @settings(max_examples=30, deadline=None)
    @given(points(op))
    def check(point: tuple[float, ...]) -> None:
        report = gradcheck(op, point, method=method)
        assert statuses(report) == {"ok"}

    check()


@pytest.mark.parametrize("method", METHODS)
def test_random_programs_pass(method: str) -> None:
    @settings(max_examples=80, deadline=None)
    @given(programs(max_steps=40))
    def check(program: Program) -> None:
        def f(*leaves: Value) -> Any:
            given = iter(leaves)
            return program.run(lambda _: next(given), GRADWALK)[-1]

        assert statuses(gradcheck(f, program.leaves, method=method)) == {"ok"}

    check()


def wild_program(seed: int) -> tuple[list[float], list[tuple[Op, list[Any]]]]:
    """Inputs and steps with no care for conditioning: kinks and poles may be near, slopes may be huge."""
    dice = random.Random(seed)
    data = [dice.uniform(-3, 3) if dice.random() < 0.5 else dice.uniform(-1, 1) for _ in range(dice.randint(1, 4))]
    inputs, steps = list(data), []
    for _ in range(dice.randint(1, 25) * 4):
        op = dice.choice(list(TABLE.values()))
        operands = [dice.randrange(len(data)) if dice.random() < 0.85 else dice.uniform(-3, 3) for _ in range(op.arity)]
        point = [data[x] if isinstance(x, int) else x for x in operands]
        fits = all(low < x < high for x, (low, high) in zip(point, op.domain, strict=True))
        degenerate = op is ops.clamp and not point[1] < point[2]  # bounds that meet: PyTorch's answer is no slope
        if not fits or degenerate or op is ops.where or not any(isinstance(x, int) for x in operands):
            continue
        out = op.forward(*point)
        if math.isfinite(out) and abs(out) < 1e6:
            steps.append((op, operands))
            data.append(out)
    return inputs, steps


def run_steps(steps: list[tuple[Op, list[Any]]], leaves: tuple[Any, ...]) -> Any:
    nodes = list(leaves)
    for op, operands in steps:
        nodes.append(op(*(nodes[x] if isinstance(x, int) else x for x in operands)))
    return nodes[-1] + 0.0


@pytest.mark.slow
def test_a_thousand_wild_programs_raise_no_alarm() -> None:
    gradients = sharp = 0
    for seed in range(1000):
        inputs, steps = wild_program(seed)
        report = gradcheck(lambda *leaves, steps=steps: run_steps(steps, leaves), inputs, raise_error=False)
        assert report.ok, f"seed {seed}:\n{report}"
        for entry in report.inputs:
            if entry.got:
                gradients += 1
                sharp += entry.tolerance < 1e-6 * abs(entry.got)
    assert gradients > 500
    assert sharp > 0.98 * gradients  # tight all the same: an error of 1e-6 would be seen in nearly all of them


HARD: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "exp(30)": (lambda x: x.exp(), [30.0]),
    "1/x near the pole": (lambda x: 1 / x, [1e-3]),
    "x**8": (lambda x: x**8, [7.0]),
    "x**-3": (lambda x: x**-3, [0.02]),
    "tanh(20)": (lambda x: x.tanh(), [20.0]),
    "sigmoid(-40)": (lambda x: x.sigmoid(), [-40.0]),
    "a sum of 100": (lambda w: sum(x * x.sin() for x in w), [[0.37 * i - 18 for i in range(100)]]),
    "a product of 60": (lambda w: math.prod(w), [[0.8 + 0.01 * i for i in range(60)]]),
    "tiny": (lambda x, y: x * y + x.log(), [1e-8, 3e-8]),
    "huge": (lambda x, y: x * y / (x + y), [1e8, -3e8]),
    "tiny and huge": (lambda x, y: (x * y).tanh() + y.sqrt(), [1e-8, 1e8]),
    "cancelling": (lambda x, y: (x + y) - x, [1e6, 1.0]),
    "a large offset": (lambda x: x.sin() + 1e6, [0.7]),
    "flat": (lambda x: (x - 1) ** 4, [1.0]),
    "enormous": (lambda x, y: x / 3 - y, [1e300, -1e306]),
    "next to nothing": (lambda x, y: x * 3 - y, [1e-300, 5e-324]),
    "an even function at 0": (lambda x: x.cos() + x * x, [0.0]),
    "next to the edge": (lambda x: x.asin() + x.acos() * 2, [1 - 1e-9]),
    "repeated": (lambda x: x * x * x / x - x, [3.0]),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", HARD)
def test_steep_flat_tiny_and_huge_functions_pass(name: str, method: str) -> None:
    f, inputs = HARD[name]
    assert statuses(gradcheck(f, inputs, method=method)) == {"ok"}


def test_a_shared_node_and_a_deep_chain_pass() -> None:
    def diamonds(x: Value) -> Value:
        for _ in range(20):
            x = (x + x.tanh()) * 0.5
        return x

    def chain(x: Value) -> Value:
        for _ in range(3000):
            x = x * 1.0001
        return x

    assert gradcheck(diamonds, [1.3])
    assert gradcheck(chain, [1.3])
