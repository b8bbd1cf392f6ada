"""What a learner is told about a try, in the one shape that the page shows: for an exercise and for a bug to mend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from gradwalk.matcher import same

__all__ = ["answer", "array_row", "row", "seven"]


def answer(
    status: str,
    headline: str,
    why: str,
    ask: str = "",
    lines: Iterable[int] = (),
    *,
    kind: str = "",
    rows: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """`status` is `passed`, `failed`, `missing` (still as it was found) or `error`; `rows` are the numbers beside it.

    >>> told = answer("failed", "Not yet", "One number is wrong.", rows=[row("x · x", "x.grad", 3.0, 6.0)])
    >>> told["passed"], told["total"], told["kind"]
    (0, 1, 'failed')
    """
    return {
        "status": status, "kind": kind or status, "headline": headline, "why": why, "ask": ask, "lines": list(lines),
        "ledger": None, "error": None, "checks": list(rows), "passed": sum(row["ok"] for row in rows),
        "total": len(rows),
    }  # fmt: skip


def row(check: str, name: str, got: float | None, right: float) -> dict[str, Any]:
    """One number of a check beside what is right.

    >>> row("x · x", "x.grad", 3.0, 6.0)
    {'check': 'x · x', 'name': 'x.grad', 'got': '3.0000000', 'expected': '6.0000000', 'ok': False}
    """
    ok = got is not None and same(got, right)
    shown = None if got is None else seven(got)
    return {"check": check, "name": name, "got": shown, "expected": seven(right), "ok": ok}


def array_row(check: str, name: str, got: str | None, right: str, ok: bool) -> dict[str, Any]:
    """As `row`, for an array: what is shown is its text, and whoever compared it says whether it is right.

    >>> array_row("x + b", "b.grad", "[1, 1]", "[2, 2]", ok=False)["got"]
    '[1, 1]'
    """
    return {"check": check, "name": name, "got": got, "expected": right, "ok": ok, "array": True}


def seven(x: float) -> str:
    """A number with seven decimals.

    >>> seven(0.5), seven(float("inf"))
    ('0.5000000', 'inf')
    """
    if not math.isfinite(x):
        return str(x)
    return f"{x:.7f}" if abs(x) < 1e12 else f"{x:.6e}"
