"""What flows through a network: the activations of each layer over some inputs, and the gradients of its parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwalk import modes, tree
from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.messages import counted
from gradwalk.plot.style import (
    DATA,
    GRADIENT,
    INK,
    INK_2,
    INK_3,
    LINE,
    MEDIUM,
    MISS,
    MONO,
    SANS,
    SMALL,
    in_the_corner,
    plain_figure,
    plain_number,
    quiet_axes,
    require,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["layer_histograms"]

MOST_LAYERS = 12
BINS = 40
ROW = 0.92  # inches a layer
TOP, BOTTOM = 0.72, 0.34  # inches for the headings and for the numbers below
BOUNDS = {"Tanh": (-1.0, 1.0), "Sigmoid": (0.0, 1.0)}  # of activations that level off
SATURATED = 0.97  # of the way to a bound, where they hardly move any more


def layer_histograms(model: Any, X: Sequence[Any], *, title: str = "Layers", details: str = "") -> Figure:
    """How the activations of each layer are spread over the inputs `X`, and beside them its parameters' gradients.

    The gradients are those that the parameters hold: call `backward()` on a loss before. Each column has one scale for
    all layers, so that signals that die or explode from layer to layer show as such.

    >>> import random
    >>> random.seed(1)
    >>> model, X = nn.MLP(2, [8, 8, 1], activation="tanh"), [[0.5, -1.0], [2.0, 1.0], [-1.5, 0.3]]
    >>> nn.mse([model(x) for x in X], [1.0, -1.0, 1.0]).backward()
    >>> figure = plot.layer_histograms(model, X)
    >>> len(figure.axes), figure.texts[1].get_text()
    (6, '3 inputs')
    """
    require()
    layers = _checked_layers(model)
    samples = _checked_samples(X)
    activations = _activations(layers, samples)
    gradients = [[plain_number(p.grad) for p in layer.parameters()] for layer in layers]
    height = TOP + ROW * len(layers) + BOTTOM
    figure = plain_figure((6.8, height), 0.03, title)
    in_the_corner(figure, 0.98, [(details or counted(len(samples), "input"), INK_2)])
    arrived = any(g != 0.0 for of_layer in gradients for g in of_layer)
    columns = ((activations, 0.165, DATA, "activations"), (gradients, 0.60, GRADIENT, "gradients of the parameters"))
    for numbers, left, colour, words in columns:
        figure.text(left, 1.0 - 0.56 / height, words, color=colour, fontsize=MEDIUM, va="center", **SANS)
        low, high = _range(numbers)
        for i, of_layer in enumerate(numbers):
            bottom = (BOTTOM + ROW * (len(layers) - 1 - i) + 0.06) / height
            axes = quiet_axes(figure, (left, bottom, 0.38, (ROW - 0.30) / height))
            axes.set_xlim(low, high)
            axes.set_ylim(0.0, 1.04)
            axes.set_yticks([])
            if numbers is gradients and not arrived:
                _nothing_yet(axes, first=i == 0)
                continue
            _bars(axes, of_layer, low, high, colour)
            _say(axes, of_layer, _kind(layers[i]) if numbers is activations else "")
            _rule(axes, last=i == len(layers) - 1)
    for i, layer in enumerate(layers):
        middle = (BOTTOM + ROW * (len(layers) - 1 - i) + 0.06 + (ROW - 0.30) / 2.0) / height
        figure.text(0.03, middle + 0.085 / height, f"layer {i + 1}", color=INK, fontsize=MEDIUM, va="center", **SANS)
        figure.text(0.03, middle - 0.085 / height, _size(layer), color=INK_2, fontsize=SMALL, va="center", **SANS)
    return figure


# --- numbers ---------------------------------------------------------------------------------------------------------


def _checked_layers(model: Any) -> list[Any]:
    layers = getattr(model, "layers", None)
    if not isinstance(layers, (list, tuple)) or not layers or not all(callable(layer) for layer in layers):
        raise SettingError(
            f"histograms are drawn layer by layer, and {type(model).__name__} has no list of layers; give an nn.MLP "
            "or a module that keeps its layers in .layers"
        )
    if len(layers) > MOST_LAYERS:
        raise SettingError(f"at most {MOST_LAYERS} layers fit a picture, and the model has {len(layers)}")
    return list(layers)


def _checked_samples(X: Sequence[Any]) -> list[Any]:
    try:
        samples = list(X)
    except TypeError as error:
        raise NotANumberError(f"the inputs are a list of samples, each a list of numbers: {error}") from error
    if not samples:
        raise InputSizeError("the list of inputs is empty: there is no activation to draw")
    return samples


def _activations(layers: list[Any], samples: list[Any]) -> list[list[float]]:
    found: list[list[float]] = [[] for _ in layers]
    with modes.no_grad():
        for x in samples:
            for layer, numbers in zip(layers, found, strict=True):
                x = layer(x)
                numbers += map(plain_number, tree.flatten(x)[0])
    return found


def _range(numbers: list[list[float]]) -> tuple[float, float]:
    """The stretch that shows 0 and nearly all of each layer."""
    ends = []
    for of_layer in numbers:
        finite = sorted(x for x in of_layer if math.isfinite(x))
        if finite:
            few = len(finite) // 200
            ends += [finite[few], finite[-1 - few]]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    low, high = min(low, 0.0), max(high, 0.0)
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


# --- drawing ---------------------------------------------------------------------------------------------------------


def _bars(axes: Axes, numbers: list[float], low: float, high: float, colour: str) -> None:
    import numpy as np

    finite = np.clip([x for x in numbers if math.isfinite(x)], low, high)
    shares, edges = np.histogram(finite, bins=BINS, range=(low, high))
    top = shares.max() if len(finite) else 1
    axes.stairs(shares / max(top, 1), edges, fill=True, color=colour, alpha=0.25)
    axes.stairs(shares / max(top, 1), edges, color=colour, linewidth=1.0, baseline=None)


def _say(axes: Axes, numbers: list[float], kind: str) -> None:
    finite = [x for x in numbers if math.isfinite(x)]
    colour = INK_3
    if len(finite) < len(numbers):
        words, colour = [f"{len(numbers) - len(finite)} of {len(numbers)} are nan or inf"], MISS
    else:
        words = _described(finite, kind)
    axes.annotate("  ".join(words).replace("-", "−"), (0.0, 1.0), (0, 4), xycoords="axes fraction",
                  textcoords="offset points", color=colour, fontsize=7.5, **MONO)  # fmt: skip


def _described(numbers: list[float], kind: str) -> list[str]:
    mean = sum(numbers) / len(numbers)
    spread = math.sqrt(sum((x - mean) ** 2 for x in numbers) / len(numbers))
    words = [f"mean {mean:.2g}", f"spread {spread:.2g}"]
    zeros = sum(x == 0.0 for x in numbers) / len(numbers)
    words += [f"{zeros:.0%} at 0"] * (zeros > 0.005)
    if kind in BOUNDS:
        low, high = BOUNDS[kind]
        margin = (1.0 - SATURATED) * (high - low) / 2.0
        flat = sum(not low + margin < x < high - margin for x in numbers) / len(numbers)
        words += [f"{flat:.0%} saturated"] * (flat > 0.005)
    return words


def _nothing_yet(axes: Axes, *, first: bool) -> None:
    """An empty slot: a gradient that has not arrived is not 0."""
    axes.set_xticks([])
    for side in axes.spines.values():
        side.set(visible=True, color=LINE, linestyle=(0, (4, 3)))
    if first:
        axes.text(0.5, 0.48, "none yet: call backward() on a loss", transform=axes.transAxes, ha="center", va="center",
                  color=INK_3, fontsize=SMALL, **SANS)  # fmt: skip


def _rule(axes: Axes, *, last: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.axhline(0.0, color=INK_3, linewidth=0.8, clip_on=False)
    axes.axvline(0.0, color=LINE, linewidth=1.0, zorder=0)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}".replace("-", "−"))
    if not last:
        axes.tick_params(labelbottom=False)


def _kind(layer: Any) -> str:
    """What a layer's neurons are called, such as Tanh; nothing for layers of another making."""
    neurons = getattr(layer, "neurons", None) or [None]
    name = repr(neurons[0])
    return name.partition("Neuron(")[0] if "Neuron(" in name else ""


def _size(layer: Any) -> str:
    kind = _kind(layer)
    return f"{len(layer.neurons)} {kind}" if kind else type(layer).__name__
