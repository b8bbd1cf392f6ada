"""A function with its derivative, and the tangent at a point."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gradwalk.derivatives import value_and_grad
from gradwalk.errors import GradwalkError, NotANumberError, SettingError
from gradwalk.ieee import number
from gradwalk.plot.style import (
    DATA,
    GRADIENT,
    INK_2,
    INK_3,
    LINE,
    MEDIUM,
    MONO,
    blank,
    in_the_corner,
    mark,
    plain_number,
    quiet_axes,
    require,
)
from gradwalk.program import inputs_of, program

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["function"]

POINTS = 400  # of a curve, before it is refined where it is steep
STEEP = 0.04  # of the height of the picture: a larger step between two points is looked into
FINEST = 2.0**-12  # of the distance between points: a step that is left then is a jump, and the curve has a gap there
LONGEST_TITLE = 24  # characters that leave room for the numbers beside it


def function(f: Any, low: float, high: float, at: float | None = None, *, title: str = "") -> Figure:
    """A function, below it its derivative, and at one point the tangent, whose slope is the derivative there.

    `f` takes a Value and gives one, as for `grad`; it may also be an op, or a program as text with one input.

    >>> figure = plot.function("3*x**2 - 4*x + 5", -2, 3, at=2)
    >>> [text.get_text() for text in figure.texts]
    ['3*x**2 - 4*x + 5', 'slope 8', 'value 9', 'x = 2']
    """
    require()
    low, high, at = _checked_range(low, high, at)
    call, name = _called(f)
    title = title or name
    title = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…"
    figure, above = blank((6.4, 4.9), (0.085, 0.445, 0.89, 0.41), title, "")
    below = quiet_axes(figure, (0.085, 0.07, 0.89, 0.275))
    points = _points(call, low, high)
    for axes, which, colour, words in ((above, 0, DATA, "value"), (below, 1, GRADIENT, "slope")):
        bottom, top = _heights([point[which] for point in points.values()])
        xs, ys = _curve(call, points, which, bottom, top)
        axes.plot(xs, ys, color=colour, linewidth=1.8, solid_joinstyle="round", gid=words)
        axes.set_xlim(low, high)
        axes.set_ylim(bottom, top)
        _rule(axes, words, colour)
    if at is not None:
        _touch(figure, above, below, at, call(at))
    return figure


def _touch(figure: Figure, above: Axes, below: Axes, at: float, there: tuple[float, float]) -> None:
    value, slope = there
    for axes in (above, below):
        axes.axvline(at, color=LINE, linewidth=1.0, zorder=1)
    if math.isfinite(value) and math.isfinite(slope):
        above.axline((at, value), slope=slope, color=GRADIENT, linewidth=1.2, zorder=3, gid="tangent")
    if math.isfinite(value):
        mark(above, at, value)
    if math.isfinite(slope):
        mark(below, at, slope, colour=GRADIENT)
    words = [(f"x = {at:.4g}", INK_2), (f"value {value:.4g}", DATA), (f"slope {slope:.4g}", GRADIENT)]
    in_the_corner(figure, above.get_position().x1, [(text.replace("-", "−"), colour) for text, colour in words])


def _rule(axes: Axes, words: str, colour: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    for numbers in (axes.xaxis, axes.yaxis):
        numbers.set_major_formatter(lambda x, _: f"{x:g}".replace("-", "−"))
    axes.grid(axis="y", color=LINE, linewidth=0.8)
    axes.axhline(0.0, color=INK_3, linewidth=0.8, zorder=1)
    axes.set_axisbelow(True)
    axes.annotate(words, (0.0, 1.0), (0, 6), xycoords="axes fraction", textcoords="offset points", color=colour,
                  fontsize=MEDIUM, **MONO)  # fmt: skip


# --- the curve -------------------------------------------------------------------------------------------------------

Both = Callable[[float], tuple[float, float]]  # value and slope at a number


def _points(f: Both, low: float, high: float) -> dict[float, tuple[float, float]]:
    points = {x: f(x) for x in (low + (high - low) * i / POINTS for i in range(POINTS + 1))}
    if not any(math.isfinite(value) for value, _ in points.values()):
        raise SettingError(f"there is nothing to draw: the function has no finite value from {low:g} to {high:g}")
    return points


def _heights(ys: list[float]) -> tuple[float, float]:
    """The lowest and the highest to show: all of it, unless a pole would press the rest flat."""
    finite = sorted(y for y in ys if math.isfinite(y)) or [0.0]
    low, high = finite[len(finite) // 20], finite[-1 - len(finite) // 20]
    room = 1.5 * (high - low)
    bottom, top = max(finite[0], low - room), min(finite[-1], high + room)
    margin = 0.08 * (top - bottom) or 0.08 * abs(top) or 1.0
    return bottom - margin, top + margin


def _curve(
    f: Both, points: dict[float, tuple[float, float]], which: int, bottom: float, top: float
) -> tuple[list[float], list[float]]:
    """The points of the values (0) or of the slopes (1), with more where it is steep and nan where it jumps."""
    heights = {x: both[which] for x, both in points.items()}
    small, span = STEEP * (top - bottom), top - bottom

    def step(x: float, after: float) -> float:  # what happens far off the picture does not matter
        ends = (min(max(heights[place], bottom - span), top + span) for place in (x, after))
        return abs(next(ends) - next(ends))

    grid = sorted(heights)
    finest = FINEST * (grid[1] - grid[0])
    ahead = list(pairwise(grid))
    while ahead:
        x, after = ahead.pop()
        middle = (x + after) / 2.0
        if step(x, after) > small and after - x > finest and x < middle < after:
            heights[middle] = f(middle)[which]
            ahead += [(x, middle), (middle, after)]

    xs: list[float] = []
    ys: list[float] = []
    for x in sorted(heights):
        if xs and step(xs[-1], x) > small:
            xs.append(x)
            ys.append(math.nan)
        xs.append(x)
        ys.append(heights[x] if math.isfinite(heights[x]) else math.nan)
    return xs, ys


def _called(f: Any) -> tuple[Both, str]:
    """The function as one that gives value and slope at a number, and what to call it."""
    if isinstance(f, str):
        names = inputs_of(f)
        if len(names) != 1:
            raise SettingError(f"a curve has one input; this program has {len(names)}: {', '.join(names) or 'none'}")
        text, first = f.strip(), program(f, **{names[0]: 0.0})
        f, name = (lambda x: first.rerun(**{names[0]: x}).root), text.splitlines()[-1]
    elif callable(f):
        name = getattr(f, "__name__", "") or getattr(f, "name", "")
        name = f"{name}(x)" if str(name).isidentifier() else "f(x)"
    else:
        kind = type(f).__name__
        raise SettingError(f"a function takes a Value and gives one, as lambda x: x**2; this is {kind}: {f!r:.60}")
    both = value_and_grad(f)

    def at(x: float) -> tuple[float, float]:
        value, slope = both(x)
        return plain_number(value), plain_number(slope)

    return at, name


def _checked_range(low: Any, high: Any, at: Any) -> tuple[float, float, float | None]:
    try:
        low, high, at = number(low), number(high), None if at is None else number(at)
    except GradwalkError as error:
        raise NotANumberError(f"a range is two numbers, and the point of a tangent one: {error}") from error
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SettingError(f"a range goes from a lower to a higher number, not from {low:g} to {high:g}")
    if at is not None and not low <= at <= high:
        raise SettingError(f"the point of the tangent, {at:g}, lies outside the range from {low:g} to {high:g}")
    return low, high, at
