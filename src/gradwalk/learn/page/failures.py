"""What the page is told where something went wrong, or was cut short."""

from __future__ import annotations

from typing import TypedDict

from gradwalk.messages import Message, say

__all__ = ["Failure", "not_shown"]


class Failure(TypedDict):
    """Why a call gave nothing: the kind of error, what it says, and the line of which text of the learner's.

    >>> from gradwalk.learn.page.scripts import run
    >>> run(["print(1 / 0)"])["error"]["line"]
    1
    """

    kind: str
    message: Message
    line: int | None
    where: str | None


def not_shown(count: int) -> Message:
    """What is said after a part of what was printed.

    >>> not_shown(1200)
    '\\n… and 1,200 more characters, which are not shown\\n'
    """
    return say("\n… and {count} more characters, which are not shown\n", count=f"{count:,}")
