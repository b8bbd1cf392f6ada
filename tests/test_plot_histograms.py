from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import StepPatch

from gradwalk import Value, datasets, modes, nn, plot
from gradwalk.errors import InputSizeError, NotANumberError, SettingError


@pytest.fixture
def trained() -> tuple[nn.MLP, list[list[float]]]:
    random.seed(1337)
    X, y = datasets.moons(40)
    model = nn.MLP(2, [8, 8, 1], activation="tanh")
    nn.hinge([model(x) for x in X], y).backward()
    return model, X


def bars(axes: Any) -> tuple[Any, Any, str]:
    """Heights, edges and colour of a histogram."""
    filled: Any = next(patch for patch in axes.patches if isinstance(patch, StepPatch))
    return filled.get_data().values, filled.get_data().edges, to_hex(filled.get_facecolor()).upper()


def said(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_each_layer_has_its_activations_in_blue_and_its_gradients_in_vermilion(trained: Any) -> None:
    model, X = trained
    figure = plot.layer_histograms(model, X)
    assert len(figure.axes) == 6
    activations, gradients = figure.axes[:3], figure.axes[3:]
    inputs = [list(x) for x in X]
    for layer, left, right in zip(model.layers, activations, gradients, strict=True):
        with modes.no_grad():
            outputs = [layer(x) for x in inputs]
        flat = [v.data for out in outputs for v in (out if isinstance(out, list) else [out])]
        inputs = outputs
        for axes, numbers, colour in (
            (left, flat, plot.DATA),
            (right, [p.grad for p in layer.parameters()], plot.GRADIENT),
        ):
            heights, edges, shown = bars(axes)
            counts, _ = np.histogram(np.clip(numbers, edges[0], edges[-1]), bins=edges)
            assert heights == pytest.approx(counts / counts.max())
            assert shown == colour
            assert f"mean {sum(numbers) / len(numbers):.2g}".replace("-", "−") in said(axes)[0]
    words = [text.get_text() for text in figure.texts]
    assert words[:2] == ["Layers", "40 inputs"]
    assert [w for w in words if "layer" in w or "Tanh" in w or "Linear" in w] == [
        "layer 1", "8 Tanh", "layer 2", "8 Tanh", "layer 3", "1 Linear",
    ]  # fmt: skip


def test_a_column_has_one_scale_and_it_shows_0(trained: Any) -> None:
    figure = plot.layer_histograms(*trained)
    for column in (figure.axes[:3], figure.axes[3:]):
        assert len({axes.get_xlim() for axes in column}) == 1
        low, high = column[0].get_xlim()
        assert low < 0.0 < high


def test_gradients_that_have_not_arrived_are_an_empty_slot_and_not_0(trained: Any) -> None:
    model, X = trained
    model.zero_grad()
    figure = plot.layer_histograms(model, X)
    assert [said(axes) for axes in figure.axes[3:]] == [["none yet: call backward() on a loss"], [], []]
    assert not any(axes.patches for axes in figure.axes[3:])
    assert all(axes.patches for axes in figure.axes[:3])


def test_the_model_and_its_gradients_are_left_alone(trained: Any) -> None:
    model, X = trained
    before = [(p.data, p.grad) for p in model.parameters()]
    plot.layer_histograms(model, X)
    assert [(p.data, p.grad) for p in model.parameters()] == before


def test_words_for_zeros_and_saturation() -> None:
    random.seed(3)
    X = [[random.uniform(-1, 1), random.uniform(-1, 1)] for _ in range(50)]
    relu = plot.layer_histograms(nn.MLP(2, [8, 1]), X)
    assert "% at 0" in said(relu.axes[0])[0]
    hot = nn.MLP(2, [8, 1], activation="tanh", init=lambda nin, nout: 40.0 * random.choice([-1, 1]))
    assert "% saturated" in said(plot.layer_histograms(hot, X).axes[0])[0]
    dark = nn.MLP(2, [4, 1], activation="sigmoid", init=lambda nin, nout: 60.0)
    assert "% saturated" in said(plot.layer_histograms(dark, X).axes[0])[0]
    calm = nn.MLP(2, [8, 1], activation="tanh", init=lambda nin, nout: 0.1)
    assert "saturated" not in said(plot.layer_histograms(calm, X).axes[0])[0]


def test_nan_and_inf_are_counted(trained: Any, tmp_path: Path) -> None:
    model, X = trained
    model.layers[1].neurons[0].w[0].data = math.nan
    model.layers[2].neurons[0].b.grad = math.inf
    figure = plot.layer_histograms(model, X)
    assert said(figure.axes[1]) == ["40 of 320 are nan or inf"]
    assert said(figure.axes[2]) == ["40 of 40 are nan or inf"]
    assert said(figure.axes[5]) == ["1 of 9 are nan or inf"]
    assert to_hex(figure.axes[5].texts[0].get_color()).upper() == plot.MISS
    plot.save(figure, tmp_path / "layers.png")


@pytest.mark.parametrize(
    "model",
    [nn.MLP(2, [1]), nn.MLP(2, [1, 1]), nn.MLP(2, [3], init="zeros"), nn.MLP(2, [4] * 12)],
    ids=["one", "thin", "zeros", "deep"],
)
def test_small_and_deep_models_are_drawn(model: nn.MLP, tmp_path: Path) -> None:
    path = plot.save(plot.layer_histograms(model, [[1.0, 2.0]], details="one sample"), tmp_path / "layers.png")
    assert path.stat().st_size > 5000


def test_a_module_of_ones_own_with_layers_will_do() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            self.factor = Value(2.0)

        def __call__(self, x: Any) -> Any:
            return [xi * self.factor for xi in x]

    class Model(nn.Module):
        def __init__(self) -> None:
            self.layers = [Twice(), Twice()]

    figure = plot.layer_histograms(Model(), [[1.0, 2.0]])
    assert [text.get_text() for text in figure.texts].count("Twice") == 2


@pytest.mark.parametrize(
    ("model", "X", "error", "words"),
    [
        (nn.Neuron(2), [[1.0, 2.0]], SettingError, "Neuron has no list of layers; give an nn.MLP"),
        (3, [[1.0]], SettingError, "int has no list of layers"),
        (nn.MLP(2, [2] * 13), [[1.0, 2.0]], SettingError, "at most 12 layers fit a picture, and the model has 13"),
        (nn.MLP(2, [2]), [], InputSizeError, "the list of inputs is empty"),
        (nn.MLP(2, [2]), None, NotANumberError, "the inputs are a list of samples"),
        (nn.MLP(2, [2]), [[1.0, 2.0, 3.0]], InputSizeError, "takes 2 inputs and was given 3"),
        (nn.MLP(2, [2]), [["a", "b"]], NotANumberError, "input 1"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_refused(model: Any, X: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        plot.layer_histograms(model, X)
