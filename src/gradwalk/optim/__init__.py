"""Optimisers, gradient clipping and learning-rate schedules: what changes parameters once gradients are known.

The numbers are those of `torch.optim`, step for step. A gradient that is nan or inf is not hidden: it spoils the
parameter, as it does there.

- `optimizers.py`: `Optimizer`, and SGD, Adam and AdamW as rules; `loops.py` applies a rule to all parameters,
  `tensors.py` to tensors;
- `clipping.py`: gradients before a step; `reduction.py`: gradients added up over processes;
- `schedules.py`: learning rates from step to step; `settings.py`: checks.
"""

from typing import Any

from gradwalk.optim.clipping import clip_grad_norm, clip_grad_value
from gradwalk.optim.optimizers import SGD, Adam, AdamW, Optimizer
from gradwalk.optim.schedules import CosineSchedule, LinearSchedule, Schedule

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CosineSchedule",
    "LinearSchedule",
    "Optimizer",
    "Schedule",
    "clip_grad_norm",
    "clip_grad_value",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'gradwalk.optim' has no attribute {name!r}")
    from gradwalk.instead import missing

    raise missing("gradwalk.optim", name)
