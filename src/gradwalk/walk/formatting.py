"""Numbers and labels short enough for a sentence; whoever wants every digit reads the event."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from gradwalk.walk.many import Many

__all__ = ["readable"]

LONGEST_NAME = 40  # characters of a label in a sentence
MOST_SHOWN = 3  # numbers of a tensor that are written out in a sentence
DECIMALS, MOST_DECIMALS = 4, 9  # of a number; the second where fewer would not add up


def readable(x: Any) -> str:
    """A number for people: four decimals at most, a real minus sign, powers of ten where those would hide it.

    >>> readable(0.4999999999999998), readable(-1.5), readable(6.8813735870195432), readable(1e-7), readable(None)
    ('0.5', '−1.5', '6.8814', '1e−7', 'nothing')
    """
    if x is None:
        return "nothing"
    return _many(x) if isinstance(x, Many) else written(x, DECIMALS)


def guarded(number: str) -> str:
    """A number as it stands behind a sign: a negative one in brackets.

    >>> guarded("2"), guarded("−2")
    ('2', '(−2)')
    """
    return f"({number})" if number.startswith("−") else number


def adding_up(parts: list[float], total: float) -> int:
    """How many decimals it takes for the numbers and their sum, as they are shown, to add up; four if none would do.

    >>> parts = [-0.10355339059327377, 0.14644660940672624]  # with four, −0.1036 + 0.1464 = 0.0429 would be wrong
    >>> [written(x, adding_up(parts, sum(parts))) for x in (*parts, sum(parts))]
    ['−0.1035534', '0.1464466', '0.0428932']
    >>> adding_up([6.0, 9.0], 15.0), adding_up([1e-9, 1.0], 1.000000001)
    (4, 4)
    """
    for decimals in range(DECIMALS, MOST_DECIMALS + 1):
        *shown, whole = (written(x, decimals).replace("−", "-") for x in (*parts, total))
        if any(c in text for text in (*shown, whole) for c in "en"):
            return DECIMALS  # powers of ten, inf or nan: no choice of decimals helps
        if sum(Decimal(text) for text in shown) == Decimal(whole):
            return decimals
    return DECIMALS


def written(x: float, decimals: int) -> str:
    """As `readable` writes it, with so many decimals at most.

    >>> written(-2 / 3, 6), written(999_999_999_999_999.0, 6), written(1e15, 6)
    ('−0.666667', '999999999999999', '1e15')
    """
    if not math.isfinite(x):
        text = str(float(x))
    elif abs(x) < 1e15 and x == int(x):
        text = str(int(x))
    elif 0.001 <= abs(x) < 1e6:
        text = f"{x:.{decimals}f}".rstrip("0").rstrip(".")
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


def ordinal(n: int) -> str:
    """Which one in a row.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 111, 113, 1_003)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '22nd', '111th', '113th', '1,003rd']
    """
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"
