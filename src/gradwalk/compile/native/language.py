"""How steps are written in kernels: Python for Numba, over the functions of `vmath`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from gradwalk.formulas import Language
from gradwalk.formulas.lines import in_python, literal

__all__ = ["SIMPLE_POWERS", "numba_language"]

#: Whole and half powers that are products and roots; all others are left to `pow`.
SIMPLE_POWERS = {0.5: "power_half", -0.5: "power_minus_half", -1.0: "power_minus_one", -1.5: "power_minus_three_halves",
                 1.0: "power_one", 2.0: "power_two", -2.0: "power_minus_two", 3.0: "power_three"}  # fmt: skip


@cache
def numba_language(dtype: str = "float64") -> Language:
    """The language of kernels that compute in float64 or float32.

    >>> from gradwalk.formulas import Sheet, lines
    >>> sheet = Sheet()
    >>> (x,) = sheet.inputs("x")
    >>> lines(sheet, [(x + 1) ** 2], numba_language("float32"))
    (['t1 = x + float32(1.0)', 't2 = power_two(t1)'], ['t2'])
    """
    return Language(_expression, literal if dtype == "float64" else lambda x: f"{dtype}({literal(x)})")


def _expression(op: str, texts: Sequence[str], operands: Sequence[Any]) -> str:
    if op == "**" and isinstance(operands[1], float) and operands[1] in SIMPLE_POWERS:
        return f"{SIMPLE_POWERS[operands[1]]}({texts[0]})"
    return in_python(op, texts, operands)
