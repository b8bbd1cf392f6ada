"""How every picture looks, and how it becomes a file.

matplotlib is an extra (`pip install "gradwalk[plot]"`) and is imported only when something is drawn. Figures are made
as objects, without pyplot, so nothing global changes and no window opens.

Colours carry meaning. Blue is data and vermilion is gradient, as everywhere in gradwalk.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradwalk.drafts import replace
from gradwalk.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "checked_ending", "require", "save"]

#: File endings that `save` knows.
FORMATS = (".png", ".svg", ".pdf")

SURFACE, INK, INK_2, INK_3, LINE = "#FFFFFF", "#17212A", "#43505B", "#5A6771", "#D2DAD9"
DATA, GRADIENT, MISS = "#1A5C9E", "#A83E0C", "#8C174F"

SANS: dict[str, Any] = {"family": "DejaVu Sans"}  # matplotlib brings it along: the same picture everywhere
MONO: dict[str, Any] = {"family": "DejaVu Sans Mono"}
SMALL, MEDIUM, LARGE = 8.5, 9.5, 12.0  # points
DPI = 150
HEADING = 0.26  # inches from the top of the figure to the middle of its heading


def require() -> None:
    """Raise a `MissingExtraError` that holds the pip line if matplotlib is not there: ask before long work.

    >>> plot.require()
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtraError.of("matplotlib", extra="plot", wanted_for="drawing plots") from error


def checked_ending(path: str | Path) -> str:
    """The ending of `path`, if it is one that `save` knows.

    >>> plot.checked_ending("out/loss.PNG")
    '.png'
    >>> plot.checked_ending("loss.gif")
    Traceback (most recent call last):
    ...
    gradwalk.errors.SettingError: a plot is saved as .png, .svg or .pdf, by its ending, and 'loss.gif' ends in '.gif'
    """
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        has = f"ends in {ending!r}" if ending else "has no ending"
        known = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise SettingError(f"a plot is saved as {known}, by its ending, and {str(path)!r} {has}")
    return ending


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file: .png, .svg or .pdf. The file appears whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot.save(plot.loss_curve([3.0, 2.0, 1.0]), folder + "/loss.svg").name
    'loss.svg'
    """
    import matplotlib

    ending, target = checked_ending(path), Path(path)
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
    whole = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "gradwalk"}):  # equal figures make equal files
        figure.savefig(whole, format=ending[1:], dpi=DPI, metadata=undated)
    try:
        replace(target, whole.getvalue())
    except OSError as error:
        raise SettingError(
            f"cannot write {str(target)!r}: {error.strerror or error}; name a file in a folder that is there and "
            "that you may write to"
        ) from error
    return target


def plain_figure(size: tuple[float, float], left: float, title: str) -> Figure:
    """A figure with a heading and nothing else."""
    require()
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, facecolor=SURFACE)
    figure.text(left, 1.0 - HEADING / size[1], title, color=INK, fontsize=LARGE, weight="bold", va="center", **SANS)
    return figure


def blank(
    size: tuple[float, float], place: tuple[float, float, float, float], title: str, details: str
) -> tuple[Figure, Axes]:
    """A figure with a heading, details beside it, and one quiet pair of axes."""
    figure = plain_figure(size, place[0], title)
    axes = quiet_axes(figure, place)
    if details:
        axes.annotate(details, (1.0, 0.5), (12, 0), xycoords=figure.texts[0], textcoords="offset points", va="center",
                      color=INK_2, fontsize=MEDIUM, **MONO)  # fmt: skip
    return figure, axes


def quiet_axes(figure: Figure, place: tuple[float, float, float, float]) -> Axes:
    """Axes without a frame, with small grey numbers."""
    axes = figure.add_axes(place)
    axes.set_facecolor(SURFACE)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, pad=5, colors=INK_3, labelsize=SMALL, labelfontfamily=SANS["family"])
    return axes


def in_the_corner(figure: Figure, right: float, words: Sequence[tuple[str, str]]) -> None:
    """Words in colours, beside each other, ending at the right of the heading's line."""
    at, top = right, 1.0 - HEADING / figure.get_figheight()
    character = 0.602 * MEDIUM / 72.0 / figure.get_figwidth()  # of the mono face, in figure widths
    for text, colour in reversed(words):
        figure.text(at, top, text, ha="right", va="center", color=colour, fontsize=MEDIUM, **MONO)
        at -= (len(text) + 3) * character


def mark(axes: Axes, x: float, y: float, *, colour: str = DATA, filled: bool = True) -> None:
    """A dot on a curve, full or open."""
    fill, edge, width = (colour, SURFACE, 1.2) if filled else (SURFACE, colour, 1.6)
    axes.plot([x], [y], "o", markersize=6, markerfacecolor=fill, markeredgecolor=edge, markeredgewidth=width,
              clip_on=False, zorder=5)  # fmt: skip


def plain_number(x: Any) -> float:
    """The number in a Value, of gradwalk or of one's own making, or the number itself."""
    return float(x.data if hasattr(x, "backward") else x)
