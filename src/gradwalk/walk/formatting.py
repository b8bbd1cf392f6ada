"""Numbers and labels short enough for a sentence; whoever wants every digit reads the event."""

from __future__ import annotations

import math
from typing import Any

from gradwalk.walk.many import Many

__all__ = ["readable"]

LONGEST_NAME = 40  # characters of a label in a sentence
MOST_SHOWN = 3  # numbers of a tensor that are written out in a sentence


def readable(x: Any) -> str:
    """A number for people: four decimals at most, a real minus sign, powers of ten where those would hide it.

    >>> readable(0.4999999999999998), readable(-1.5), readable(6.8813735870195432), readable(1e-7), readable(None)
    ('0.5', '−1.5', '6.8814', '1e−7', 'nothing')
    """
    if x is None:
        return "nothing"
    if isinstance(x, Many):
        return _many(x)
    if not math.isfinite(x):
        text = str(float(x))
    elif abs(x) < 1e15 and x == int(x):
        text = str(int(x))
    elif 0.001 <= abs(x) < 1e6:
        text = f"{x:.4f}".rstrip("0").rstrip(".")
    else:
        digits, _, power = f"{x:.3e}".partition("e")
        text = f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
    return text.replace("-", "−")


def _many(x: Many) -> str:
    """A few numbers as they are; of more of them, how many there are along each dim."""
    if not x.shape:
        return readable(x.numbers[0])
    if len(x.shape) == 1 and 0 < len(x.numbers) <= MOST_SHOWN:
        return f"[{', '.join(map(readable, x.numbers))}]"
    return str(x.shape)


def clean(label: str) -> str:
    """A label that fits a sentence: one line, not endless."""
    text = "".join(c if c.isprintable() else " " for c in label)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
