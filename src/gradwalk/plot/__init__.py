"""Pictures of training: loss curves, a model's score as a map, functions with their slopes, histograms by layer.

- `style.py`: how every picture looks, and how it becomes a file;
- `curves.py`: `loss_curve`;
- `functions.py`: `function`, with its derivative and tangent;
- `boundary.py`: `decision_boundary`;
- `histograms.py`: `layer_histograms` of activations and gradients;
- `sweeps.py`: `loss_bands` and `heat_map` of many trainings.

matplotlib is an extra (`pip install "gradwalk[plot]"`) and is imported only when something is drawn.
"""

from __future__ import annotations

from gradwalk.plot.boundary import BANDS, COARSEST, FINEST, WORK, decision_boundary
from gradwalk.plot.curves import loss_curve
from gradwalk.plot.functions import function
from gradwalk.plot.histograms import layer_histograms
from gradwalk.plot.style import (
    DATA,
    FORMATS,
    GRADIENT,
    INK,
    INK_2,
    INK_3,
    LINE,
    MISS,
    SURFACE,
    checked_ending,
    require,
    save,
)
from gradwalk.plot.sweeps import heat_map, loss_bands

__all__ = [
    "BANDS",
    "COARSEST",
    "DATA",
    "FINEST",
    "FORMATS",
    "GRADIENT",
    "INK",
    "INK_2",
    "INK_3",
    "LINE",
    "MISS",
    "SURFACE",
    "WORK",
    "checked_ending",
    "decision_boundary",
    "function",
    "heat_map",
    "layer_histograms",
    "loss_bands",
    "loss_curve",
    "require",
    "save",
]
