"""What a learner is told about a text: the kind of mistake, words, guilty lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradwalk.learn.page.exercises.ledger import Ledger
from gradwalk.learn.page.sandbox import LearnerError

__all__ = ["Feedback"]


@dataclass(frozen=True)
class Feedback:
    """What is wrong: its kind, a headline with the numbers, why, a question, guilty lines, and the ledger if it helps.

    >>> Feedback("overwritten", "3.0 where 6.0 is right", "", "").lines
    ()
    """

    kind: str
    headline: str
    why: str
    ask: str = ""
    lines: tuple[int, ...] = ()
    ledger: Ledger | None = None
    error: LearnerError | None = field(default=None, compare=False)
