"""Two processes that talk in lines of JSON, as the one with the engine in it sees them.

What the engine prints, reads or does to the standard streams is no part of it: before the engine is loaded, the
conversation has moved to descriptors of its own. An engine that looks for them finds them, and can write what it
likes; that is why nothing but numbers and words is ever asked for, and whoever asked is the one to judge them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

__all__ = ["Ask", "Say", "own_streams"]

Ask = Callable[[], dict[str, Any] | None]
Say = Callable[[dict[str, Any]], None]


def own_streams() -> tuple[Ask, Say]:
    """A way to be asked, which gives None at the end, and a way to answer; the standard streams lead nowhere.

    >>> import subprocess, sys
    >>> script = "from gradwalk.diagnose.conversation import own_streams as own; ask, say = own(); print(9); say(ask())"
    >>> subprocess.run([sys.executable, "-c", script], input='{"a": 1}', capture_output=True, text=True).stdout
    '{"a": 1}\\n'
    """
    questions = os.fdopen(os.dup(0), "r", encoding="utf-8")
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)

    def ask() -> dict[str, Any] | None:
        line = questions.readline()
        asked: dict[str, Any] | None = json.loads(line) if line else None
        return asked

    def say(what: dict[str, Any]) -> None:
        text = (json.dumps(what) + "\n").encode("ascii")
        while text:
            text = text[os.write(answers, text) :]

    return ask, say
