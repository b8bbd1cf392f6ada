"""Writes docs/ops.md from the op table; a test holds the file to what this gives."""

from __future__ import annotations

import inspect
import math
from pathlib import Path

from gradwalk.formulas import derivatives_as_text, rule_as_text
from gradwalk.ops import TABLE, Interval, Op

INTRODUCTION = """\
# The ops

Made from the op table (`src/gradwalk/ops.py`) by `python docs/make_ops.py`. A derivative is written in the operands'
names and `out`, the result. Where an op is not smooth, gradwalk gives what PyTorch gives, in float64; the last column
says what that is.

| op | symbol | derivatives | smooth for | elsewhere |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return INTRODUCTION + "".join(row(op) for op in TABLE.values())


def row(op: Op) -> str:
    """One op as a row of the table."""
    names = list(inspect.signature(op.partials[0]).parameters)[: op.arity]
    derivatives = "<br>".join(
        f"∂/∂{name} = `{text}`" for name, text in zip(names, derivatives_as_text(op), strict=True)
    )
    regions = [
        f"{name} in {region(interval)}"
        for name, interval in zip(names, op.domain, strict=True)
        if interval != (-math.inf, math.inf)
    ]
    if op.rough is not None:
        regions.append(f"`{rule_as_text(op.rough)}` ≠ 0")
    cells = (f"`{op.name}({', '.join(names)})`", f"`{op.symbol}`", derivatives, ", ".join(regions) or "all", op.there)
    return f"| {' | '.join(cells)} |\n"


def region(interval: Interval) -> str:
    """An open interval as mathematicians write it."""
    low, high = ("−∞" if x == -math.inf else "∞" if x == math.inf else f"{x:g}".replace("-", "−") for x in interval)
    return f"({low}, {high})"


if __name__ == "__main__":
    Path(__file__).with_name("ops.md").write_text(page(), encoding="utf-8")
