"""A rule run on symbols gives text that, read as Python, is the rule."""

from __future__ import annotations

import inspect
import math
import re
import time
from typing import Any

import pytest
from cases import points
from hypothesis import given, settings

import gradwalk
from gradwalk import formulas, ops, symbols
from gradwalk.formulas import LATEX, UNICODE, Sheet, Symbol, derivatives_as_text, explore, rule_as_text, text
from gradwalk.ops import TABLE, Op

x, y, z = Sheet(whole_ops=True).inputs("x", "y", "z")


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
        (ops.choose(x > 0, ops.choose(y > 0, 1, 2), 3) + 1, "((1 if y > 0 else 2) if x > 0 else 3) + 1"),
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


def test_a_rule_that_branches_in_python_has_a_text_too() -> None:
    hill = gradwalk.op(lambda x, out: -1.0 if x > 0.0 else 1.0)(lambda x: -abs(x))
    assert derivatives_as_text(hill) == ["-1 if x > 0 else 1"]
    assert rule_as_text(lambda x, y: math.exp(x) if y else abs(x)) == "exp(x) if y != 0 else abs(x)"


@pytest.mark.parametrize(
    ("symbol", "unicode", "latex"),
    [
        (x * x - 1, "x² − 1", "x^{2} - 1"),
        ((x + 1) * (x + 1), "(x + 1)²", "(x + 1)^{2}"),
        (-x * y, "−x·y", r"-x \cdot y"),
        (x**-2.0, "x⁻²", "x^{-2}"),
        (x ** (y - 1), "x^(y − 1)", "x^{y - 1}"),
        (x / (y * y), "x / y²", r"\frac{x}{y^{2}}"),
        (gradwalk.sqrt(x) / 2, "sqrt(x) / 2", r"\frac{\sqrt{x}}{2}"),
        ((x / y) ** z, "(x / y)^z", r"(\frac{x}{y})^{z}"),
        (gradwalk.asin(x), "asin(x)", r"\arcsin(x)"),
        (gradwalk.sigmoid(x), "sigmoid(x)", r"\text{sigmoid}(x)"),
        (ops.choose(x <= y, 1, 2), "1 if x ≤ y else 2", r"1 \text{ if } x \le y \text{ else } 2"),
    ],
)
def test_the_same_steps_in_other_styles(symbol: Symbol, unicode: str, latex: str) -> None:
    assert text(symbol, UNICODE) == unicode
    assert text(symbol, LATEX) == latex


def test_names_may_be_given_and_constants_stand_for_themselves() -> None:
    assert derivatives_as_text(gradwalk.ops.div, ["a", "b1", "c"], LATEX) == [r"\frac{1}{b_{1}}", r"\frac{-c}{b_{1}}"]
    assert derivatives_as_text(gradwalk.ops.pow, ["a", 2.0, "c"], UNICODE)[0] == "2·a"
    assert rule_as_text(lambda w_o_t: w_o_t, style=LATEX) == r"\text{w\_o\_t}"


@pytest.mark.parametrize("style", [UNICODE, LATEX], ids=["unicode", "latex"])
def test_every_op_of_the_table_has_a_text_in_every_style(style: formulas.Style) -> None:
    for op in TABLE.values():
        names = [*inspect.signature(op.partials[0]).parameters][: op.arity]
        made = op(*Sheet(whole_ops=True).inputs(*names))
        for found in (text(made, style), *derivatives_as_text(op, style=style)):
            assert found.count("{") == found.count("}"), (op, found)
            assert style is LATEX or not set(found) & set("\\{}*"), (op, found)
            assert style is UNICODE or not re.search(r"(?<!\\)\b[a-z]{3,}_|\*", found), (op, found)


# --- steps -----------------------------------------------------------------------------------------------------------


def test_numbers_are_told_apart_as_they_are_written() -> None:
    sheet = Sheet()
    (a,) = sheet.inputs("a")
    made = [a * 0.0, a * -0.0, a * math.nan, a * math.nan, a * 1, a * 1.0, a**1.0]
    assert [x.position for x in made] == [1, 2, 3, 3, 4, 4, 0]
    assert formulas.lines(sheet, made[:2])[0] == ["t1 = a * 0.0", "t2 = a * (-0.0)"]


def test_a_position_is_not_a_number() -> None:
    sheet = Sheet()
    a, b, c = sheet.inputs("a", "b", "c")
    result = (a + 2.0) * (a + b)  # 2.0 is no sign of the step at position 2
    assert formulas.used(sheet, [result]) == {"a", "b"}
    assert (a + c).position != (a + 2.0).position


def test_symbols_meet_numbers_and_symbols_of_their_sheet_only() -> None:
    with pytest.raises(ValueError, match="different sheets"):
        x + Sheet().inputs("x")[0]
    with pytest.raises(TypeError, match="not str: 'down'"):
        _ = x == "down"
    with pytest.raises(TypeError):
        x + "down"


def test_ways_are_explored_for_every_result_of_a_rule() -> None:
    def sorted_pair(a: Any, b: Any) -> tuple[Any, Any]:
        return (a, b) if a <= b else (b, a)

    low, high = explore(sorted_pair, [x, y])
    assert (str(low), str(high)) == ("x if x <= y else y", "y if x <= y else x")


FACTOR = 2.0


def half(x: float) -> float:
    return x / FACTOR


def test_what_a_rule_depends_on() -> None:
    kept: list[float] = []
    closed = formulas.for_closed_rules(lambda rule: True)

    def remembers(x: float) -> float:
        kept.append(x)
        return x

    def calls(x: float) -> Any:
        return half(x) + max(math.sqrt(x), gradwalk.exp(x))

    def imports(x: float) -> float:
        import random

        return x * random.random()

    def deep(x: float) -> float:
        return sum(time.time() * y for y in (x, x))

    def same(x: float) -> float:
        return 1.0 if x is FACTOR else 0.0

    for rule in (half, calls, lambda x, scale=2.0: x * scale):
        assert closed(rule), rule
    for other in (remembers, imports, deep, same, print, abs, lambda x, seen=[]: x, lambda x: eval("unknown")):
        assert not closed(other), other


def test_an_edited_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    written = formulas.for_closed_rules(rule_as_text)
    assert written(half) == "x / 2"
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    assert written(half) == "x / 4"
    assert written(half) is written(half)


# --- the old name ----------------------------------------------------------------------------------------------------


def test_the_old_name_works_and_names_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=r"formulas\.Sheet\(\)\.inputs\(name\)"):
        a, b = symbols.Symbol("a"), symbols.Symbol("b")
    both = gradwalk.tanh(a + 1) * b
    assert (both.text, str(both), repr(both)) == ("tanh(a + 1) * b",) * 2 + ("Symbol('tanh(a + 1) * b')",)
    assert isinstance(both, symbols.Symbol)
    assert both
    assert both != a
    assert str((a > 0).choose(a.equals(b), 1)) == "a == b if a > 0 else 1"
    with pytest.warns(DeprecationWarning, match=r"gradwalk\.formulas now"):
        assert symbols.derivatives_as_text(gradwalk.ops.tanh) == ["1 - out * out"]
