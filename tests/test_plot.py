from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from gradwalk import Value, anomaly, datasets, modes, nn, plot
from gradwalk.errors import AnomalyError, InputSizeError, MissingExtraError, NotANumberError, SettingError

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
SIDES = [-1, 1, -1, 1]


def to_the_right(x: Any) -> float:
    """A score that is 0 on the line x1 = 0.3."""
    return 4.0 * (float(x[0]) - 0.3)


def line(figure: Any) -> tuple[list[float], list[float]]:
    (found,) = [curve for curve in figure.axes[0].lines if curve.get_gid() == "loss"]
    return list(found.get_xdata()), list(found.get_ydata())


def heading(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.texts]


# --- the loss --------------------------------------------------------------------------------------------------------


def test_the_curve_is_the_losses_in_blue() -> None:
    figure = plot.loss_curve([0.9, 0.4, 0.2, 0.3])
    assert line(figure) == ([1, 2, 3, 4], [0.9, 0.4, 0.2, 0.3])
    assert {to_hex(curve.get_color()).upper() for curve in figure.axes[0].lines[:1]} == {plot.DATA}
    assert heading(figure) == ["Loss", "last 0.3   lowest 0.2"]


def test_values_are_losses_too() -> None:
    figure = plot.loss_curve([Value(2.0), 1, np.float64(0.5), Value(0.25)], title="Moons")
    assert line(figure)[1] == [2.0, 1.0, 0.5, 0.25]
    assert heading(figure)[0] == "Moons"


def test_a_window_draws_the_mean_over_the_single_losses() -> None:
    figure = plot.loss_curve([4.0, 2.0, 0.0, 2.0], window=2)
    assert line(figure)[1] == [4.0, 3.0, 1.0, 1.0]
    raw: Any = figure.axes[0].lines[0]
    assert list(raw.get_ydata()) == [4.0, 2.0, 0.0, 2.0]
    assert raw.get_alpha() == 0.3
    assert "mean of 2 steps" in heading(figure)[1]


@pytest.mark.parametrize(
    "losses",
    [[1.0], [0.0], [0.0, 0.0], [-1.0, -2.0], [1.0, math.nan, 0.5], [1.0, math.inf], [1e-300, 1e300], [5.0] * 500],
    ids=str,
)
def test_odd_losses_are_drawn_all_the_same(losses: list[float], tmp_path: Path) -> None:
    assert plot.save(plot.loss_curve(losses), tmp_path / "loss.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("losses", "error", "words"),
    [
        ([], SettingError, "the list of losses is empty"),
        ([math.nan, math.inf], SettingError, "none of the 2 is finite"),
        (["a"], NotANumberError, "a loss curve is drawn from numbers"),
        ([None], NotANumberError, "a loss curve is drawn from numbers"),
        (3.0, NotANumberError, "a loss curve is drawn from numbers"),
        ([10**400], NotANumberError, "a loss curve is drawn from numbers"),
    ],
    ids=str,
)
def test_what_is_no_list_of_losses_is_refused(losses: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        plot.loss_curve(losses)


@pytest.mark.parametrize("window", [0, -1, 1.5, "2", True, None])
def test_a_window_is_a_whole_number(window: Any) -> None:
    with pytest.raises(SettingError, match="window, the steps a mean is taken over, is a whole number from 1 up"):
        plot.loss_curve([1.0], window=window)


# --- the map ---------------------------------------------------------------------------------------------------------


def zero_line(figure: Any) -> Any:
    (found,) = [drawn for drawn in figure.axes[0].collections if drawn.get_gid() == "zero"]
    return np.concatenate([path.vertices for path in found.get_paths()])


def test_the_heavy_line_is_where_the_score_is_zero() -> None:
    at = zero_line(plot.decision_boundary(to_the_right, SQUARE, SIDES, grid=20))
    assert len(at) > 10
    assert at[:, 0] == pytest.approx(np.full(len(at), 0.3), abs=1e-9)


def test_a_curved_line_is_found_between_the_points_of_the_grid() -> None:
    X, y = datasets.circles(n=40)
    figure = plot.decision_boundary(lambda x: 0.49 - x[0] ** 2 - x[1] ** 2, X, y, grid=24)
    radii = np.hypot(*zero_line(figure).T)
    assert radii == pytest.approx(np.full(len(radii), 0.7), abs=0.002)


def test_classes_are_told_by_shape_and_fill_and_the_wrong_side_by_a_ring() -> None:
    figure = plot.decision_boundary(to_the_right, [*SQUARE, [0.1, 0.5]], [*SIDES, 1], grid=12)
    below: Any
    above: Any
    wrong: Any
    below, above, wrong = figure.axes[0].lines
    assert (below.get_marker(), above.get_marker()) == ("o", "s")
    assert to_hex(below.get_markerfacecolor()).upper() == plot.SURFACE
    assert to_hex(above.get_markerfacecolor()).upper() == plot.INK
    assert list(zip(below.get_xdata(), below.get_ydata(), strict=True)) == [(0.0, 0.0), (0.0, 1.0)]
    assert list(zip(wrong.get_xdata(), wrong.get_ydata(), strict=True)) == [(0.1, 0.5)]
    assert to_hex(wrong.get_markeredgecolor()).upper() == plot.MISS
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["class −1, score below 0", "class +1, above 0", "1 of 5 on the wrong side"]


def test_a_score_of_zero_is_on_no_side() -> None:
    figure = plot.decision_boundary(lambda x: x[0], SQUARE, SIDES, grid=12)
    assert figure.legends[0].get_texts()[2].get_text() == "2 of 4 on the wrong side"


def test_higher_scores_are_darker() -> None:
    def lightness(colour: str) -> int:
        return sum(int(colour[i : i + 2], 16) for i in (1, 3, 5))

    steps = [lightness(band) for band in plot.BANDS]
    assert steps == sorted(steps, reverse=True)
    assert len(set(steps)) == len(steps)


def test_both_axes_have_one_scale_and_all_points_are_inside() -> None:
    X, y = datasets.moons(n=60)
    figure = plot.decision_boundary(to_the_right, X, y, grid=8)
    axes = figure.axes[0]
    box = figure.get_size_inches() * axes.get_position().size
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert (right - left) / box[0] == pytest.approx((top - bottom) / box[1])
    assert all(left < x1 < right and bottom < x2 < top for x1, x2 in X)


def test_the_model_is_asked_as_often_as_said_and_who_watches_sees_that_it_is_no_training() -> None:
    asked = []

    def model(x: list[float]) -> Value:
        asked.append(modes.recording())
        assert [type(c) for c in x] == [float, float]
        return Value(x[0]) - 0.5

    plot.decision_boundary(model, SQUARE, SIDES, grid=9)
    assert len(asked) == 4 + 9 * 9
    asked.clear()
    with anomaly():
        plot.decision_boundary(model, SQUARE, SIDES, grid=9)
    assert asked == [False] * (4 + 9 * 9)


@pytest.mark.parametrize("hidden", [[1], [4], [16, 16], [24, 24], [32, 32, 32]])
def test_the_grid_follows_the_size_of_the_model_so_that_none_takes_long(hidden: list[int]) -> None:
    model, asked = nn.MLP(2, [*hidden, 1]), []

    def counting(x: list[float]) -> float:
        asked.append(x)
        return to_the_right(x)

    counting.parameters = model.parameters  # type: ignore[attr-defined]
    plot.decision_boundary(counting, SQUARE, SIDES)
    side = round((len(asked) - len(SQUARE)) ** 0.5)
    assert plot.COARSEST <= side <= plot.FINEST
    assert side == plot.COARSEST or side * side * len(model.parameters()) <= plot.WORK


@pytest.mark.parametrize(
    "model",
    [lambda x: 1.0, lambda x: 0.0, lambda x: -5, lambda x: 1e300 * x[0], lambda x: 1e-310 * x[0],
     lambda x: np.float64(x[0]), lambda x: math.nan if x[0] < 0.5 else 1.0, lambda x: math.inf * (x[0] - 0.31)],
    ids=["one", "zero", "int", "huge", "tiny", "numpy", "half nan", "infinite"],
)  # fmt: skip
def test_odd_models_are_drawn_all_the_same(model: Any, tmp_path: Path) -> None:
    if model([0.2, 0.2]) == -math.inf:
        with pytest.raises(AnomalyError, match="no finite score anywhere on the map"):
            plot.decision_boundary(model, SQUARE, SIDES, grid=8)
        return
    assert plot.save(plot.decision_boundary(model, SQUARE, SIDES, grid=8), tmp_path / "map.png").exists()


def test_one_point_alone_has_a_map(tmp_path: Path) -> None:
    plot.save(plot.decision_boundary(to_the_right, [[0.3, 5.0]], [1], grid=8), tmp_path / "map.png")


@pytest.mark.parametrize(
    ("X", "y", "error", "words"),
    [
        ([], [], InputSizeError, "there are 0 points and 0 labels"),
        (SQUARE, [1], InputSizeError, "there are 4 points and 1 labels"),
        ([[1.0, 2.0, 3.0]], [1], InputSizeError, "point 0 has 3 coordinates"),
        ([[1.0, math.nan]], [1], SettingError, "point 0 does not lie on any map"),
        ([["a", "b"]], [1], NotANumberError, "points are pairs of numbers"),
        (None, [1], NotANumberError, "points are pairs of numbers"),
        (SQUARE, [0, 1, 0, 1], SettingError, r"labels are −1 or \+1, not 0; for 0 and 1 write"),
    ],
    ids=str,
)
def test_points_that_fit_no_map_are_refused(X: Any, y: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        plot.decision_boundary(to_the_right, X, y)


@pytest.mark.parametrize("answer", [[1.0, 2.0], "high", None])
def test_a_model_gives_one_score(answer: Any) -> None:
    with pytest.raises(InputSizeError, match=f"the model gives {type(answer).__name__}; map one of its outputs"):
        plot.decision_boundary(lambda x: answer, SQUARE, SIDES)


@pytest.mark.parametrize("grid", [0, 1, 1001, 2.0, "9", True])
def test_a_grid_is_a_whole_number(grid: Any) -> None:
    with pytest.raises(SettingError, match="grid, the evaluations along a side, is a whole number from 2 to 1000"):
        plot.decision_boundary(to_the_right, SQUARE, SIDES, grid=grid)


# --- files -----------------------------------------------------------------------------------------------------------

OPENINGS = {"loss.png": b"\x89PNG", "loss.svg": b"<?xml", "loss.pdf": b"%PDF", "LOSS.PNG": b"\x89PNG"}


@pytest.mark.parametrize(("name", "opening"), OPENINGS.items())
def test_the_ending_chooses_the_format(name: str, opening: bytes, tmp_path: Path) -> None:
    path = plot.save(plot.loss_curve([2.0, 1.0]), tmp_path / name)
    assert path == tmp_path / name
    assert path.read_bytes().startswith(opening)
    assert [entry.name for entry in tmp_path.iterdir()] == [name], "no draft is left behind"


@pytest.mark.parametrize("ending", plot.FORMATS)
def test_the_same_figure_makes_the_same_file(ending: str, tmp_path: Path) -> None:
    files = [plot.save(plot.decision_boundary(to_the_right, SQUARE, SIDES, grid=8), tmp_path / f"{i}{ending}")
             for i in range(2)]  # fmt: skip
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [("loss.gif", "'loss.gif' ends in '.gif'"), ("loss", "'loss' has no ending"), ("a.png/loss", "has no ending")],
)
def test_other_endings_are_refused(name: str, words: str) -> None:
    with pytest.raises(SettingError, match=f"saved as .png, .svg or .pdf, by its ending, and .*{words}"):
        plot.save(plot.loss_curve([1.0]), name)


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    figure = plot.loss_curve([1.0])
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").write_text("")
    for path, words in (
        (tmp_path / "no" / "folder" / "loss.png", "No such file or directory"),
        (tmp_path / "folder.png", "it is a folder"),
        (tmp_path / "file" / "loss.png", "Not a directory"),
    ):
        with pytest.raises(SettingError, match=f"cannot write .*: {words}; name a file in a folder that is there"):
            plot.save(figure, path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder.png"]


def test_a_link_goes_on_pointing_at_its_file(tmp_path: Path) -> None:
    (tmp_path / "link.png").symlink_to(tmp_path / "real.png")
    plot.save(plot.loss_curve([1.0]), tmp_path / "link.png")
    assert (tmp_path / "link.png").is_symlink()
    assert (tmp_path / "real.png").read_bytes().startswith(b"\x89PNG")


def test_a_save_that_fails_leaves_the_old_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = plot.save(plot.loss_curve([1.0]), tmp_path / "loss.png")
    before = path.read_bytes()

    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SettingError, match="No space left on device"):
        plot.save(plot.loss_curve([2.0]), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["loss.png"]


# --- matplotlib is an extra -------------------------------------------------------------------------------------------


def python(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_plot_imports_no_matplotlib() -> None:
    assert (
        python("import gradwalk.plot, sys; print('matplotlib' in sys.modules, 'numpy' in sys.modules)") == "False False"
    )


def test_drawing_touches_no_pyplot() -> None:
    program = "import sys; from gradwalk import plot; plot.loss_curve([1.0]); print('matplotlib.pyplot' in sys.modules)"
    assert python(program) == "False"


@pytest.mark.parametrize(
    "call", ["plot.loss_curve([1.0])", "plot.decision_boundary(len, [[0, 0]], [1])", "plot.require()"]
)
def test_without_matplotlib_the_error_holds_the_command_that_installs_it(call: str) -> None:
    program = f"""
import sys
sys.modules["matplotlib"] = None
from gradwalk import plot
from gradwalk.errors import MissingExtraError
try:
    {call}
except MissingExtraError as error:
    print(error)
"""
    assert python(program) == str(MissingExtraError.of("matplotlib", extra="plot", wanted_for="drawing plots"))
