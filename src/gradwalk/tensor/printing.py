"""A tensor as text: its numbers, shortened, and its dtype where it is not the usual one."""

from __future__ import annotations

import math
from typing import Any

from gradwalk.tensor import arrays

__all__ = ["printed"]

MOST = 200  # numbers that are all shown
ENDS = 3  # … of which, else, so many from either end of each dim


def printed(tensor: Any) -> str:
    """As `repr` shows it.

    >>> printed(gradwalk.Tensor([[1.0, 0.33333333], [1e-7, 2.0]]))
    'Tensor([[1.0, 0.333333], [1e-07, 2.0]])'
    """
    numbers = arrays.now.tolist(tensor.array)
    size = math.prod(tensor.shape)
    text = _nested(numbers, size > MOST)
    shape = f", shape={tensor.shape}" if size > MOST or 0 in tensor.shape else ""
    dtype = f", dtype={tensor.dtype!r}" if tensor.dtype == "float32" else ""
    label = f", label={tensor.label!r}" if tensor.label else ""
    return f"Tensor({text}{shape}{dtype}{label})"


def _nested(x: Any, shortened: bool) -> str:
    if isinstance(x, list):
        parts = x
        if shortened and len(x) > 2 * ENDS:
            texts = [_nested(part, shortened) for part in [*x[:ENDS], *x[-ENDS:]]]
            return f"[{', '.join([*texts[:ENDS], '…', *texts[ENDS:]])}]"
        return f"[{', '.join(_nested(part, shortened) for part in parts)}]"
    if isinstance(x, float) and math.isfinite(x):
        text = f"{x:.6g}"
        return text if any(mark in text for mark in ".en") else f"{text}.0"
    return str(x)
