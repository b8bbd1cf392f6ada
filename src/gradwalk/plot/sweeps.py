"""Many trainings in one picture: loss curves with bands over seeds, and a heat map over two settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwalk.errors import SettingError
from gradwalk.plot.style import INK, INK_3, LINE, MEDIUM, MONO, SMALL, blank, require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["heat_map", "loss_bands"]

#: Told apart by people who see colours differently, too; the best setting gets the first.
COLOURS = ("#1A5C9E", "#A83E0C", "#0F7B6C", "#8C174F", "#7A6000", "#5A4FCF")


def loss_bands(curves: Sequence[tuple[str, Sequence[Sequence[float]]]], *, title: str = "Loss") -> Figure:
    """The mean loss at each step of several settings, in a band from the lowest to the highest of their runs.

    >>> figure = plot.loss_bands([("lr 0.1", [[3.0, 1.0], [2.0, 0.5]]), ("lr 0.01", [[3.0, 2.5]])])
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['lr 0.1', 'lr 0.01']
    """
    require()
    from matplotlib.ticker import MaxNLocator

    if not curves or not all(runs and all(len(run) for run in runs) for _, runs in curves):
        raise SettingError("there is no loss to draw: give at least one list of losses for each setting")
    figure, axes = blank((7.2, 3.8), (0.085, 0.11, 0.60, 0.745), title, "")
    shown = curves[: len(COLOURS)]
    for (name, runs), colour in zip(shown, COLOURS, strict=False):
        steps = min(map(len, runs))
        columns = [[run[i] for run in runs] for i in range(steps)]
        mean = [math.fsum(column) / len(column) if all(map(math.isfinite, column)) else math.nan for column in columns]
        axes.plot(range(1, steps + 1), mean, color=colour, linewidth=1.6, label=name, marker="o" if steps == 1 else "")
        if len(runs) > 1:
            low, high = [min(column) for column in columns], [max(column) for column in columns]
            axes.fill_between(range(1, steps + 1), low, high, color=colour, alpha=0.14, linewidth=0)
    values = [x for _, runs in shown for run in runs for x in run if math.isfinite(x)]
    if values and min(values) > 0 and max(values) > 50 * min(values):
        axes.set_yscale("log")
    axes.grid(axis="y", color=LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel("step", color=INK_3, fontsize=SMALL)
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, prop={"size": SMALL, **MONO})
    if hidden := len(curves) - len(shown):
        words = f"and {hidden} more setting{'s' if hidden > 1 else ''}"
        figure.text(0.71, 0.125, words, color=INK_3, fontsize=SMALL)
    return figure


def heat_map(
    numbers: Sequence[Sequence[float]], rows: tuple[str, Sequence[Any]], columns: tuple[str, Sequence[Any]], *,
    title: str = "Loss",
) -> Figure:  # fmt: skip
    """A number for each pair of two settings, the lowest framed; where there is none, the cell stays empty.

    >>> figure = plot.heat_map([[0.3, 0.2], [0.1, float("nan")]], ("lr", [0.1, 0.01]), ("hidden", [8, 16]))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.3', '0.2', '0.1', '–']
    """
    require()
    from matplotlib.patches import Rectangle

    (row_name, row_values), (column_name, column_values) = rows, columns
    if len(numbers) != len(row_values) or any(len(row) != len(column_values) for row in numbers):
        raise SettingError(f"a heat map of {len(row_values)} by {len(column_values)} cells needs as many numbers")
    finite = [x for row in numbers for x in row if math.isfinite(x)]
    size = (1.9 + 0.85 * len(column_values), 1.5 + 0.5 * len(row_values))
    figure, axes = blank(size, (1.2 / size[0], 0.6 / size[1], 1 - 1.5 / size[0], 1 - 1.2 / size[1]), title, "")
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    shade = [[math.nan if not math.isfinite(x) else (x - low) / (high - low or 1.0) for x in row] for row in numbers]
    axes.imshow(shade, cmap="Blues_r", vmin=-0.15, vmax=1.35, aspect="auto")
    for i, row in enumerate(numbers):
        for j, x in enumerate(row):
            text = f"{x:.3g}" if math.isfinite(x) else "–"
            light = math.isfinite(x) and shade[i][j] < 0.45
            axes.text(j, i, text, ha="center", va="center", color="#FFFFFF" if light else INK, fontsize=MEDIUM, **MONO)
            if finite and x == low:
                frame = Rectangle((j - 0.47, i - 0.46), 0.94, 0.92, fill=False, edgecolor="#A83E0C", linewidth=2.0)
                axes.add_patch(frame)
    axes.set_xticks(range(len(column_values)), [str(value) for value in column_values])
    axes.set_yticks(range(len(row_values)), [str(value) for value in row_values])
    axes.set_xlabel(column_name, color=INK_3, fontsize=SMALL)
    axes.set_ylabel(row_name, color=INK_3, fontsize=SMALL)
    return figure
