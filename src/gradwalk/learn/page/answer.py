"""What a learner is told about a try, in the one shape that the page shows: for an exercise and for a bug to mend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NotRequired, TypedDict

from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.matcher import same
from gradwalk.messages import Message, say

__all__ = [
    "CheckRow", "Contribution", "Feedback", "LedgerShown", "LineOfError", "Result",
    "answer", "array_row", "row", "seven",
]  # fmt: skip


class CheckRow(TypedDict):
    """One number of a check, or one array, beside what is right.

    >>> row(say("x · x"), "x.grad", 3.0, 6.0)["ok"]
    False
    """

    check: Message
    name: str
    got: str | None
    expected: str
    ok: bool
    array: NotRequired[bool]


class Contribution(TypedDict):
    """One contribution to a gradient: how much, from which node, and whether it was kept, replaced or lost.

    >>> Contribution(value=3.0, source="y", state="kept")["state"]
    'kept'
    """

    value: float
    source: str
    state: Literal["kept", "replaced", "lost"]


class LedgerShown(TypedDict):
    """The contributions to one gradient that came out wrong.

    >>> LedgerShown(name="x.grad", parts=[], got="3.0000000", expected="6.0000000")["name"]
    'x.grad'
    """

    name: str
    parts: list[Contribution]
    got: str
    expected: str


class LineOfError(TypedDict):
    """The error that a text stopped with.

    >>> LineOfError(kind="NameError", line=2)["line"]
    2
    """

    kind: str
    line: int | None


#: Where there is nothing to say.
NOTHING = say("")
Status = Literal["passed", "failed", "missing", "error"]


class Result(TypedDict):
    """What came of a try: `missing` is still as it was found.

    >>> answer("passed", say("Mended"))["status"]
    'passed'
    """

    status: Status
    kind: str
    headline: Message
    why: Message
    ask: Message
    lines: list[int]
    ledger: LedgerShown | None
    error: LineOfError | None
    checks: list[CheckRow]
    passed: int
    total: int


@dataclass(frozen=True)
class Feedback:
    """What is wrong: its kind, a headline with the numbers, why, a question, guilty lines, and the ledger if it helps.

    >>> Feedback("overwritten", say("{got} where {right} is right", got=3.0, right=6.0)).lines
    ()
    """

    kind: str
    headline: Message
    why: Message = NOTHING
    ask: Message = NOTHING
    lines: tuple[int, ...] = ()
    ledger: LedgerShown | None = None
    error: LearnerError | None = field(default=None, compare=False)


def answer(
    status: Status,
    headline: Message,
    why: Message = NOTHING,
    ask: Message = NOTHING,
    lines: Iterable[int] = (),
    *,
    kind: str = "",
    rows: Sequence[CheckRow] = (),
) -> Result:
    """`status` is `passed`, `failed`, `missing` (still as it was found) or `error`; `rows` are the numbers beside it.

    >>> told = answer("failed", say("Not yet"), rows=[row(say("x · x"), "x.grad", 3.0, 6.0)])
    >>> told["passed"], told["total"], told["kind"]
    (0, 1, 'failed')
    """
    return {
        "status": status, "kind": kind or status, "headline": headline, "why": why, "ask": ask, "lines": list(lines),
        "ledger": None, "error": None, "checks": list(rows), "passed": sum(row["ok"] for row in rows),
        "total": len(rows),
    }  # fmt: skip


def row(check: Message, name: str, got: float | None, right: float) -> CheckRow:
    """One number of a check beside what is right.

    >>> row(say("x · x"), "x.grad", 3.0, 6.0)
    {'check': 'x · x', 'name': 'x.grad', 'got': '3.0000000', 'expected': '6.0000000', 'ok': False}
    """
    ok = got is not None and same(got, right)
    shown = None if got is None else seven(got)
    return {"check": check, "name": name, "got": shown, "expected": seven(right), "ok": ok}


def array_row(check: Message, name: str, got: str | None, right: str, ok: bool) -> CheckRow:
    """As `row`, for an array: what is shown is its text, and whoever compared it says whether it is right.

    >>> array_row(say("x + b"), "b.grad", "[1, 1]", "[2, 2]", ok=False)["got"]
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
