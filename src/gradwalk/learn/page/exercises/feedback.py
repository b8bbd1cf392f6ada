"""What a learner is told about a text: the kind of mistake, words, guilty lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradwalk.learn.page.answer import NOTHING, LedgerShown
from gradwalk.learn.page.sandbox import LearnerError
from gradwalk.messages import Message

__all__ = ["Feedback"]


@dataclass(frozen=True)
class Feedback:
    """What is wrong: its kind, a headline with the numbers, why, a question, guilty lines, and the ledger if it helps.

    >>> from gradwalk.messages import say
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
