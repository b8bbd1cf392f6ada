"""The loss of a training run, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwalk.errors import NotANumberError, SettingError
from gradwalk.ieee import whole
from gradwalk.plot.style import DATA, LINE, blank, in_the_corner, mark, plain_number, require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["loss_curve"]


def loss_curve(losses: Sequence[Any], *, title: str = "Loss", details: str = "", window: int = 1) -> Figure:
    """The loss at each step, with the last and the lowest marked.

    With mini-batches a single loss says little: give a `window`, and the mean over so many steps is drawn over them.

    >>> figure = plot.loss_curve([0.9, 0.4, 0.2, 0.25])
    >>> [text.get_text() for text in figure.texts]
    ['Loss', 'last 0.25   lowest 0.2']
    """
    require()
    from matplotlib.ticker import MaxNLocator

    numbers = _checked_losses(losses)
    window = whole("window, the steps a mean is taken over,", window, 1)
    spans = (numbers[max(0, i + 1 - window) : i + 1] for i in range(len(numbers)))
    line = [sum(span) / len(span) for span in spans]
    figure, axes = blank((6.4, 3.4), (0.075, 0.095, 0.90, 0.765), title, details)
    steps = range(1, len(numbers) + 1)
    if window > 1:
        axes.plot(steps, numbers, color=DATA, alpha=0.3, linewidth=0.8)
    axes.plot(steps, line, color=DATA, linewidth=1.8, solid_joinstyle="round", gid="loss")

    lowest = min(range(len(line)), key=lambda i: line[i] if math.isfinite(line[i]) else math.inf)
    mark(axes, steps[-1], line[-1])
    if lowest < 0.97 * len(line) - 1:  # nearer, the two marks would hide each other
        mark(axes, steps[lowest], line[lowest], filled=False)

    axes.set_xlim(0, len(line) * 1.015)
    top = max(x for x in numbers if math.isfinite(x))
    axes.set_ylim(min(0.0, min(x for x in numbers if math.isfinite(x))) - 0.02 * abs(top), top * 1.06 or 1.0)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}" if x else "step")
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color=LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    words = [f"mean of {window} steps"] * (window > 1) + [f"last {line[-1]:.4g}", f"lowest {line[lowest]:.4g}"]
    in_the_corner(figure, axes.get_position().x1, [("   ".join(words), DATA)])
    return figure


def _checked_losses(losses: Sequence[Any]) -> list[float]:
    try:
        numbers = [plain_number(x) for x in losses]
    except (TypeError, ValueError, OverflowError) as error:
        raise NotANumberError(f"a loss curve is drawn from numbers, one for each step: {error}") from error
    if not any(map(math.isfinite, numbers)):
        raise SettingError(
            "there is no loss to draw: "
            + (f"none of the {len(numbers)} is finite" if numbers else "the list of losses is empty")
        )
    return numbers
