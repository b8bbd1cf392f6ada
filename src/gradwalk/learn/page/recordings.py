"""What the page shows before Python has arrived: each preset's walk and search, the training view's first sight."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, TypedDict

from gradwalk import walk
from gradwalk.explain.views import HeatMap, TensorView, tensor_view
from gradwalk.layout import Layout, layout_of
from gradwalk.learn.page import training
from gradwalk.learn.page.programs import built, without_words
from gradwalk.presets import PRESETS, Preset

__all__ = ["Material", "PresetEntry", "TensorEntry", "TrainingEntry", "material"]

#: Programs with tensors, by name: title and text. They are walked in one order alone, so not in the playground.
TENSORS = {
    "tensor-layer": (
        "A layer, in tensors",
        "X = Tensor([[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]])\n"
        "W = Tensor([[2.0, -1.0], [1.0, 0.0]])\n"
        "b = Tensor([-2.0, 2.0])\n"
        "Z = X @ W + b\n"
        "L = (Z * Z).sum()",
    ),
}
STEPS = 100  # of the loss curve that a run without zero_grad is held against


class _Entry(TypedDict):
    name: str
    title: str
    text: str
    inputs: dict[str, float]
    recording: dict[str, Any]
    layout: Layout


class PresetEntry(_Entry):
    """A preset with its recording, where its cards stand, and the search for its order.

    >>> entry = material()["presets"][0]
    >>> entry["name"], entry["inputs"]
    ('sum-times', {'a': 2.0, 'b': -3.0, 'c': 10.0})
    """

    search: list[dict[str, Any]]


class TensorEntry(_Entry):
    """A program with tensors: a preset whose recording points at heat maps.

    >>> entry = material()["tensors"][0]
    >>> entry["name"], len(entry["maps"]) > 5
    ('tensor-layer', True)
    """

    maps: list[HeatMap]
    spreads: dict[str, str]


class TrainingEntry(TypedDict):
    """The points, the network before its first step, and the losses of the first steps with the settings it has.

    >>> len(material()["training"]["losses"])
    101
    """

    points: training.Points
    start: training.Training
    rate: float
    losses: list[float]


class Material(TypedDict):
    """All of it.

    >>> sorted(material())
    ['presets', 'tensors', 'training']
    """

    presets: list[PresetEntry]
    tensors: list[TensorEntry]
    training: TrainingEntry


def material() -> Material:
    """What the build takes from here.

    >>> [entry["name"] for entry in material()["presets"]][:3]
    ['sum-times', 'expression-l', 'neuron']
    """
    presets = [_entry(preset) for preset in PRESETS.values()]
    return Material(presets=presets, tensors=[_of_tensors(name) for name in TENSORS], training=_training())


def _entry(preset: Preset) -> PresetEntry:
    recording = walk.record(preset.build().root)
    return PresetEntry(
        name=preset.name,
        title=preset.title,
        text=preset.text,
        inputs=dict(preset.inputs),
        recording=without_words(json.loads(recording.to_json())),
        layout=layout_of(recording.graph),
        search=[without_words(step.to_dict()) for step in walk.search_steps(recording.graph)],
    )


def _of_tensors(name: str) -> TensorEntry:
    title, text = TENSORS[name]
    view: TensorView = without_words(tensor_view(walk.record(built(text))))
    return TensorEntry(name=name, title=title, text=text, inputs={}, **view)


@cache
def _training() -> TrainingEntry:
    first = state = training.start()
    losses = [state["loss"]]
    for _ in range(STEPS):
        state = training.advance(state)
        losses.append(state["loss"])
    return TrainingEntry(points=training.points(), start=first, rate=training.RATE, losses=losses)
