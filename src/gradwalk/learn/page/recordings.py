"""What the page shows before Python has arrived: each preset's walk and search, the training view's first sight."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, TypedDict

from gradwalk import walk
from gradwalk.layout import Layout, layout_of
from gradwalk.learn.page import training
from gradwalk.presets import PRESETS, Preset

__all__ = ["Material", "PresetEntry", "TrainingEntry", "material"]

STEPS = 100  # of the loss curve that a run without zero_grad is held against


class PresetEntry(TypedDict):
    """A preset with its recording, where its cards stand, and the search for its order.

    >>> entry = material()["presets"][0]
    >>> entry["name"], entry["inputs"]
    ('sum-times', {'a': 2.0, 'b': -3.0, 'c': 10.0})
    """

    name: str
    title: str
    text: str
    inputs: dict[str, float]
    note: str
    recording: dict[str, Any]
    layout: Layout
    search: list[dict[str, Any]]


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
    ['presets', 'training']
    """

    presets: list[PresetEntry]
    training: TrainingEntry


def material() -> Material:
    """What the build takes from here.

    >>> [entry["name"] for entry in material()["presets"]][:3]
    ['sum-times', 'expression-l', 'neuron']
    """
    return Material(presets=[_entry(preset) for preset in PRESETS.values()], training=_training())


def _entry(preset: Preset) -> PresetEntry:
    recording = walk.record(preset.build().root)
    return PresetEntry(
        name=preset.name,
        title=preset.title,
        text=preset.text,
        inputs=dict(preset.inputs),
        note=preset.note,
        recording=json.loads(recording.to_json()),
        layout=layout_of(recording.graph),
        search=[step.to_dict() for step in walk.search_steps(recording.graph)],
    )


@cache
def _training() -> TrainingEntry:
    first = state = training.start()
    losses = [state["loss"]]
    for _ in range(STEPS):
        state = training.advance(state)
        losses.append(state["loss"])
    return TrainingEntry(points=training.points(), start=first, rate=training.RATE, losses=losses)
