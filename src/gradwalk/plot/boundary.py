"""The map of a model's score, with the points of both classes on it.

The map is told by lightness alone and the classes by shape and fill, so that no colour has to be learnt; a point on the
wrong side has a ring.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from gradwalk import modes
from gradwalk.errors import AnomalyError, InputSizeError, NotANumberError, SettingError
from gradwalk.ieee import whole
from gradwalk.plot.style import INK, INK_2, MISS, MONO, SANS, SMALL, SURFACE, blank, plain_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["decision_boundary"]

Extent = tuple[float, float, float, float]  # left, right, bottom, top

CONTOUR = "#8FA0A6"
BANDS = ("#FAFBFB", "#F0F4F3", "#E4EBEA", "#CBD8DA", "#B7C8CD", "#A3B8BF")  # low scores are light

WORK = 800_000  # parameters × points of the map that are evaluated: about a second
FINEST, COARSEST = 64, 20  # points a side
REFINE = 4  # the map is interpolated to so many times as many points a side


def decision_boundary(
    model: Callable[[list[float]], Any], X: Sequence[Sequence[float]], y: Sequence[float], *,
    title: str = "Decision boundary", details: str = "", grid: int | None = None,
) -> Figure:  # fmt: skip
    """The model's score at every point of the plane as a map, the line where it is 0, and the points of both classes.

    `model` takes `[x1, x2]` and gives one score; `grid` is the number of evaluations along a side (chosen by the
    size of the model, so that it takes about a second, if not given).

    >>> from gradwalk import datasets, plot
    >>> X, y = datasets.xor(n=20)
    >>> figure = plot.decision_boundary(lambda x: x[0] * x[1], X, y, grid=20)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['class −1, score below 0', 'class +1, above 0', '20 of 20 on the wrong side']
    """
    points, labels = _checked_points(X, y)
    count = len(model.parameters()) if hasattr(model, "parameters") else 0
    details = details or (f"{count} parameters, " if count else "") + f"{len(points)} points"
    figure, axes = blank((6.4, 5.6), (0.065, 0.12, 0.905, 0.79), title, details)
    scores_at_points = _scores(model, points)
    box = figure.get_size_inches() * axes.get_position().size
    extent = _extent(points, float(box[0] / box[1]))
    if grid is None:
        grid = min(FINEST, max(COARSEST, math.isqrt(WORK // max(1, count))))
    side = whole("grid, the evaluations along a side,", grid, 2, 1000)
    _draw_map(axes, model, points, extent, side, _band_height(scores_at_points))
    wrong = [p for p, label, s in zip(points, labels, scores_at_points, strict=True) if not label * s > 0.0]
    _draw_points(figure, axes, points, labels, wrong)
    return figure


def _draw_map(axes: Axes, model: Any, points: list[list[float]], extent: Extent, grid: int, step: float) -> None:
    import numpy as np

    left, right, bottom, top = extent
    flat = _scores(model, [[float(a), float(b)] for b in np.linspace(bottom, top, grid)
                           for a in np.linspace(left, right, grid)])  # fmt: skip
    coarse = np.array(flat).reshape(grid, grid)
    finite = np.isfinite(coarse)
    if not finite.any():
        raise AnomalyError(
            "the model gives no finite score anywhere on the map: its parameters are nan or inf, or so large that "
            "the score overflows; train with a smaller learning rate"
        )
    heights = np.where(finite, coarse, np.nan)
    heights = _refined(_refined(heights, REFINE).T, REFINE).T
    xs = np.linspace(left, right, heights.shape[1])
    ys = np.linspace(bottom, top, heights.shape[0])

    levels = [k * step for k in (-2, -1, 0, 1, 2)]
    axes.contourf(xs, ys, heights, levels=levels, colors=BANDS, extend="both", zorder=1)
    labels: list[list[float]] = []
    inside = [level for level in levels if np.nanmin(heights) < level < np.nanmax(heights)]
    drawn = {}
    for level in sorted(inside, key=abs):  # 0 first: it gets the best place for its label
        zero = level == 0.0
        lines = axes.contour(xs, ys, heights, levels=[level], colors=INK if zero else CONTOUR,
                             linewidths=2.4 if zero else 0.8, linestyles="solid", zorder=3 if zero else 2)  # fmt: skip
        lines.set_gid("zero" if zero else "level")
        if lines.allsegs[0]:
            drawn[level] = np.concatenate(lines.allsegs[0])
    for level, spots in drawn.items():
        others = [other[::4] for at, other in drawn.items() if at != level]
        _label_line(axes, spots, level, extent, (points, np.concatenate(others) if others else [], labels))
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)


def _label_line(axes: Axes, spots: Any, level: float, extent: Extent, around: Any) -> None:
    """Write the level on its line where it hides least: far from points, lines, labels and the edge."""
    import numpy as np

    left, right, bottom, top = extent
    points, lines, labels = around
    to_edge = np.min(
        [spots[:, 0] - left, right - spots[:, 0], 1.5 * (spots[:, 1] - bottom), 1.5 * (top - spots[:, 1])], 0
    )
    room = np.minimum(_distance(spots, points), 2.0 * np.minimum(to_edge, _distance(spots, lines)))
    room = np.minimum(room, 0.5 * _distance(spots, labels))
    x, y = spots[int(np.argmax(room))]
    if room.max() < 0.035 * (right - left):
        return  # no room: an unlabelled line is better than a hidden point
    labels.append([x, y])
    zero = level == 0.0
    fill = INK if zero else BANDS[1] if level < 0.0 else BANDS[3]
    signed = " 0 " if zero else f"{level:+g}".replace("-", "−")
    axes.text(x, y, signed, color=SURFACE if zero else INK_2, fontsize=SMALL, ha="center", va="center_baseline",
              bbox={"boxstyle": "round,pad=0.25,rounding_size=0.7", "facecolor": fill, "edgecolor": "none"},
              zorder=4, **MONO)  # fmt: skip


def _distance(spots: Any, points: Any) -> Any:
    """How far each spot is from the nearest of the points."""
    import numpy as np

    if not len(points):
        return np.full(len(spots), np.inf)
    return np.min(np.hypot(*(spots[:, None] - np.array(points)[None]).transpose(2, 0, 1)), axis=1)


def _draw_points(
    figure: Figure, axes: Axes, points: list[list[float]], labels: list[float], wrong: list[list[float]]
) -> None:
    def draw(which: list[list[float]], words: str, **look: Any) -> Any:
        xs, ys = [p[0] for p in which], [p[1] for p in which]
        (made,) = axes.plot(xs, ys, linestyle="none", label=words, **look)
        return made

    below = [p for p, label in zip(points, labels, strict=True) if label < 0]
    above = [p for p, label in zip(points, labels, strict=True) if label > 0]
    entries = [
        draw(below, "class −1, score below 0", marker="o", markersize=6, markerfacecolor=SURFACE,
             markeredgecolor=INK, markeredgewidth=1.3, zorder=5),
        draw(above, "class +1, above 0", marker="s", markersize=6, markerfacecolor=INK,
             markeredgecolor=SURFACE, markeredgewidth=0.7, zorder=5),
        draw(wrong, f"{len(wrong)} of {len(points)} on the wrong side", marker="o", markersize=12,
             markerfacecolor="none", markeredgecolor=MISS, markeredgewidth=1.8, zorder=6),
    ]  # fmt: skip
    legend = figure.legend(
        handles=entries, loc="lower left", bbox_to_anchor=(axes.get_position().x0 - 0.015, 0.012), ncols=3,
        frameon=False, borderaxespad=0.0, borderpad=0.2, handletextpad=0.4, columnspacing=1.8, labelcolor=INK_2,
        prop={**SANS, "size": SMALL},
    )  # fmt: skip
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_markersize"):
            handle.set_markersize(min(handle.get_markersize(), 9))  # type: ignore[attr-defined]


def _checked_points(X: Sequence[Sequence[float]], y: Sequence[float]) -> tuple[list[list[float]], list[float]]:
    try:
        points, labels = [[float(a) for a in point] for point in X], [float(label) for label in y]
    except (TypeError, ValueError, OverflowError) as error:
        raise NotANumberError(f"points are pairs of numbers and labels are −1 or +1: {error}") from error
    for i, point in enumerate(points):
        if len(point) != 2:
            raise InputSizeError(f"a map has two axes, and point {i} has {len(point)} coordinates: {point!r}")
        if not all(map(math.isfinite, point)):
            raise SettingError(f"point {i} does not lie on any map: {point!r}")
    if not points or len(points) != len(labels):
        raise InputSizeError(f"each point needs its label: there are {len(points)} points and {len(labels)} labels")
    strange = [label for label in labels if label not in (-1.0, 1.0)]
    if strange:
        raise SettingError(f"labels are −1 or +1, not {strange[0]:g}; for 0 and 1 write [2 * label - 1 for label in y]")
    return points, labels


def _scores(model: Any, points: list[list[float]]) -> list[float]:
    scores = []
    # A point's graph is gone with its answer, and ops are quickest in no mode; but whoever watches must know that this
    # is no training.
    with modes.no_grad() if modes.active else nullcontext():
        for point in points:
            answer = model(point)
            try:
                scores.append(plain_number(answer))
            except (TypeError, ValueError, OverflowError) as error:
                raise InputSizeError(
                    f"a map shows one score for each point, and the model gives {type(answer).__name__}; "
                    "map one of its outputs: decision_boundary(lambda x: model(x)[0], X, y)"
                ) from error
    return scores


def _extent(points: list[list[float]], aspect: float) -> Extent:
    """The box around the points with a margin, widened to `aspect` so that both axes have one scale."""
    (left, right), (bottom, top) = ((min(c), max(c)) for c in zip(*points, strict=True))
    width, height = 1.24 * (right - left) or 1.0, 1.24 * (top - bottom) or 1.0
    width, height = max(width, aspect * height), max(height, width / aspect)
    x, y = (left + right) / 2.0, (bottom + top) / 2.0
    return x - width / 2.0, x + width / 2.0, y - height / 2.0, y + height / 2.0


def _refined(rows: Any, factor: int) -> Any:
    """More rows between the rows, on a smooth curve through them (Catmull–Rom)."""
    import numpy as np

    last = len(rows) - 1
    place = np.linspace(0.0, last, last * factor + 1)
    i = np.minimum(place.astype(int), last - 1)
    t = (place - i)[:, None]
    ends = np.concatenate([2.0 * rows[:1] - rows[1:2], rows, 2.0 * rows[-1:] - rows[-2:-1]])
    a, b, c, d = (ends[i + k] for k in range(4))
    return b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))


def _band_height(scores: list[float]) -> float:
    """How much score a band of the map covers: 1, 2 or 5 times a power of ten, so that most points lie within two."""
    sizes = sorted(abs(score) for score in scores if math.isfinite(score))
    middle = sizes[len(sizes) // 2] if sizes else 0.0
    if not 1e-300 < middle < 1e300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(middle / 2.0))
    return max(k * power for k in (1.0, 2.0, 5.0) if k * power <= middle / 2.0 or k == 1.0)
