"""A rule run on symbols gives text that, read as Python, is the rule."""

from __future__ import annotations

import inspect
import math
from typing import Any

import pytest
from cases import points
from hypothesis import given, settings

import gradwalk
from gradwalk.ops import TABLE, Op
from gradwalk.symbols import Symbol, derivatives_as_text

x, y, z = Symbol("x"), Symbol("y"), Symbol("z")


@pytest.mark.parametrize("op", TABLE.values(), ids=str)
def test_the_text_of_every_derivative_computes_the_derivative(op: Op) -> None:
    names = list(inspect.signature(op.partials[0]).parameters)
    codes = [compile(text, op.name, "eval") for text in derivatives_as_text(op)]

    @given(points(op))
    @settings(max_examples=20, deadline=None)
    def agrees(point: tuple[float, ...]) -> None:
        out = op.forward(*point)
        scope = dict(zip(names, (*point, out), strict=True))
        for code, slope in zip(codes, op.local(*point, out), strict=True):
            assert math.isclose(eval(code, dict(TABLE), scope), slope, rel_tol=1e-14, abs_tol=0.0)

    agrees()


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        (x + y - z, "x + y - z"),
        (x - (y - z), "x - (y - z)"),
        (x - (y + z), "x - (y + z)"),
        (x + (y - z), "x + y - z"),
        (x / (y * z), "x / (y * z)"),
        (x / y * z, "x / y * z"),
        (x * (y + 1), "x * (y + 1)"),
        (2 - x, "2 - x"),
        (3 / x, "3 / x"),
        (2**x, "2 ** x"),
        (x**y**z, "x ** y ** z"),
        ((x**y) ** z, "(x ** y) ** z"),
        ((x + 1) ** 2, "(x + 1) ** 2"),
        (-x * y, "-x * y"),
        (-(x * y), "-(x * y)"),
        ((-x) ** 2, "(-x) ** 2"),
        (x * -2.0, "x * -2"),
        (x**-2.0, "x ** (-2)"),
        (1 + x, "1 + x"),
        (0.5 * x, "0.5 * x"),
        ((x < 1) & (y >= 2) | (z <= 3), "x < 1 and y >= 2 or z <= 3"),
        (((x > 1) | (y > 1)) & (z > 1), "(x > 1 or y > 1) and z > 1"),
        ((x > 0).choose((y > 0).choose(1, 2), 3) + 1, "((1 if y > 0 else 2) if x > 0 else 3) + 1"),
        (gradwalk.exp(-x), "exp(-x)"),
        (gradwalk.clamp(x, 0, y + 1), "clamp(x, 0, y + 1)"),
        (gradwalk.ops.neg(x), "-x"),
        (gradwalk.ops.sub(1.0, x), "1 - x"),
    ],
)
def test_parentheses_stand_where_they_are_needed(symbol: Symbol, text: str) -> None:
    assert str(symbol) == text
    scope: dict[str, Any] = {"x": 0.7, "y": 1.3, "z": 2.1}
    eval(text, dict(TABLE), scope)


def test_repr() -> None:
    assert repr(x + 1) == "Symbol('x + 1')"


def test_a_user_defined_op_has_a_text_too() -> None:
    cube = gradwalk.op(lambda x, out: 3 * x * x)(lambda x: x**3)
    assert derivatives_as_text(cube) == ["3 * x * x"]
