from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

import gradwalk
from gradwalk import Value, plot
from gradwalk.errors import NotANumberError, ProgramError, SettingError


def curve(figure: Any, name: str) -> tuple[Any, Any]:
    (found,) = [line for axes in figure.axes for line in axes.lines if line.get_gid() == name]
    return np.array(found.get_xdata()), np.array(found.get_ydata())


def words(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.texts]


def gaps(figure: Any, name: str) -> list[float]:
    xs, ys = curve(figure, name)
    return [float(x) for x in xs[np.isnan(ys)]]


def test_the_curves_are_the_function_in_blue_and_its_slope_in_vermilion() -> None:
    figure = plot.function(lambda x: x**3 - x, -2, 2)
    xs, ys = curve(figure, "value")
    assert ys == pytest.approx(xs**3 - xs)
    xs, slopes = curve(figure, "slope")
    assert slopes == pytest.approx(3 * xs**2 - 1)
    above, below = figure.axes
    assert to_hex(above.lines[0].get_color()).upper() == plot.DATA
    assert to_hex(below.lines[0].get_color()).upper() == plot.GRADIENT
    assert above.get_xlim() == below.get_xlim() == (-2.0, 2.0)
    assert words(figure) == ["f(x)"]


def test_the_tangent_touches_with_the_slope_of_the_function() -> None:
    figure = plot.function(lambda x: x**2, -1, 3, at=1.5, title="A square")
    tangent: Any
    (tangent,) = [line for line in figure.axes[0].lines if line.get_gid() == "tangent"]
    assert tangent.get_xy1() == (1.5, 2.25)
    assert tangent.get_slope() == 3.0
    assert words(figure) == ["A square", "slope 3", "value 2.25", "x = 1.5"]


@pytest.mark.parametrize(
    ("f", "title"),
    [
        (gradwalk.tanh, "tanh(x)"),
        (lambda x: x, "f(x)"),
        ("3*x**2 - 4*x + 5", "3*x**2 - 4*x + 5"),
        ("a = 2; y = a*t", "a = 2; y = a*t"),
        ("u = t*t\ny = u + t + t + t + t + t + t + t", "y = u + t + t + t + t +…"),
    ],
)
def test_a_function_is_a_function_an_op_or_a_program(f: Any, title: str) -> None:
    assert words(plot.function(f, -1, 1))[0] == title


def test_a_named_function_gives_its_name() -> None:
    def squash(x: Value) -> Value:
        return x.tanh()

    assert words(plot.function(squash, -1, 1))[0] == "squash(x)"


def test_a_jump_is_a_gap_and_not_a_line() -> None:
    (gap,) = gaps(plot.function("where(x > 0.3, 1, -1)*exp(x)", -2, 2), "value")
    assert gap == pytest.approx(0.3, abs=1e-4)
    (gap,) = gaps(plot.function(gradwalk.relu, -2, 2), "slope")
    assert gap == pytest.approx(0.0, abs=1e-4)
    assert gaps(plot.function(gradwalk.relu, -2, 2), "value") == []


def test_steep_is_not_a_jump() -> None:
    figure = plot.function(lambda x: (x * 300).tanh(), -2, 2)
    assert gaps(figure, "value") == gaps(figure, "slope") == []
    xs, ys = curve(figure, "value")
    assert np.abs(np.diff(ys)).max() < 0.1
    assert ys == pytest.approx(np.tanh(300 * xs))


def test_a_pole_does_not_press_the_rest_flat() -> None:
    figure = plot.function(lambda x: 1 / x, -3, 3, at=1)
    bottom, top = figure.axes[0].get_ylim()
    assert -40 < bottom < -5
    assert 5 < top < 40
    _xs, ys = curve(figure, "value")
    broken = np.isnan(ys)
    assert broken.any()
    for i in np.flatnonzero(~broken[:-1] & ~broken[1:]):
        assert not (ys[i] < 0 < ys[i + 1]), "no line crosses the pole"


@pytest.mark.parametrize(
    ("f", "low", "high", "at", "said"),
    [
        (gradwalk.sqrt, -1, 4, 0, "slope inf"),
        (gradwalk.log, -1, 4, 0, "value −inf"),
        (gradwalk.log, -1, 4, -0.5, "value nan"),
        (gradwalk.abs, -1, 1, 0, "slope 0"),
        (lambda x: x * 0 + 3, -1, 1, 0.5, "value 3"),
        (lambda x: x * 0, -1, 1, 0.5, "value 0"),
        (lambda x: x * 1e300, -1, 1, 0.5, "slope 1e+300"),
        (lambda x: x * 1e-300, -1, 1, 0.5, "slope 1e−300"),
        (lambda x: (x * 1000).exp(), -1, 1, -1, "value 0"),
        (lambda x: x, 1e-9, 2e-9, 1.5e-9, "slope 1"),
        (lambda x: x * x, 5, 6, 6, "slope 12"),
    ],
)
def test_odd_functions_are_drawn_all_the_same(
    f: Any, low: float, high: float, at: float, said: str, tmp_path: Path
) -> None:
    figure = plot.function(f, low, high, at=at)
    assert said in words(figure)
    assert plot.save(figure, tmp_path / "f.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("f", "arguments", "error", "message"),
    [
        (gradwalk.tanh, (1, 1), SettingError, "from a lower to a higher number, not from 1 to 1"),
        (gradwalk.tanh, (2, 1), SettingError, "not from 2 to 1"),
        (gradwalk.tanh, (-math.inf, 1), SettingError, "not from -inf to 1"),
        (gradwalk.tanh, (0, math.nan), SettingError, "not from 0 to nan"),
        (gradwalk.tanh, ("a", 1), NotANumberError, "a range is two numbers"),
        (gradwalk.tanh, (0, 1, 2), SettingError, "2, lies outside the range from 0 to 1"),
        (gradwalk.tanh, (0, 1, math.nan), SettingError, "nan, lies outside"),
        (gradwalk.tanh, (0, 1, "x"), NotANumberError, "the point of a tangent one"),
        (gradwalk.log, (-2, -1), SettingError, "no finite value from -2 to -1"),
        (3.0, (0, 1), SettingError, "this is float: 3.0"),
        ("a*b", (0, 1), SettingError, "a curve has one input; this program has 2: a, b"),
        ("2", (0, 1), SettingError, "this program has 0: none"),
        ("x^2", (0, 1), ProgramError, r"write \*\* for a power"),
        (lambda x: [x, x], (0, 1), NotANumberError, "needs f to give one number"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_cannot_be_drawn_is_refused(f: Any, arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        plot.function(f, *arguments)


def test_a_function_is_asked_a_bounded_number_of_times() -> None:
    asked = []

    def wild(x: Value) -> Value:
        asked.append(x.data)
        return (1 / x).sin()

    plot.function(wild, -1, 1)
    assert len(asked) < 60_000
