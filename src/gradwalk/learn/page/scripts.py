"""Code that stands in a lesson, run in the page: an engine in one of its versions, or the left side of a comparison.

The code comes in parts that share their names, as the cells of a notebook do. What each part prints is given back.
"""

from __future__ import annotations

import gc
import io
import random
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any, TypedDict

from gradwalk.learn.page.sandbox import Failure, LearnerError, execute, failure_of, not_shown
from gradwalk.messages import Message, say, verbatim

__all__ = ["Ran", "run"]

MOST_PRINTED = 10_000  # characters of one part
SEED = 1337


class Ran(TypedDict):
    """What each part printed, and the error that ended it: its kind, its words, and the line of that part.

    >>> run(["print(1 / 0)"])["error"]["kind"]
    'ZeroDivisionError'
    """

    printed: list[Message]
    error: Failure | None


def run(parts: Sequence[str], engine: str = "") -> Ran:
    """Run parts of a program one after the other, after the text of an engine if one is given; stops at an error.

    >>> run(["a = 2", "print(a)", "print(double(a))"], engine="def double(x):\\n    return 2 * x")["printed"]
    ['', '2\\n', '4\\n']
    """
    random.seed(SEED)
    names: dict[str, Any] = {}
    printed: list[Message] = []
    try:
        if engine:
            names = execute(engine, name="the engine")
        for part in parts:
            out = io.StringIO()
            try:
                with redirect_stdout(out):
                    names = execute(part, names)
            finally:  # also what came before an error
                text = out.getvalue()
                left_out = len(text) - MOST_PRINTED
                if left_out > 0:
                    text = say("{shown}{more}", shown=text[:MOST_PRINTED], more=not_shown(left_out))
                printed.append(verbatim(text))
    except LearnerError as error:
        return Ran(printed=printed, error=failure_of(error))
    finally:
        _let_go(names)
    return Ran(printed=printed, error=None)


def _let_go(names: dict[str, Any]) -> None:
    """Take apart what the text made, object by object.

    A long chain frees its links one within the other. That is deeper than a page's stack, which Python does not know.
    """
    kinds = {x for x in names.values() if isinstance(x, type) and x.__module__ == "__learner__"}
    for x in [x for x in gc.get_objects() if type(x) in kinds]:
        getattr(x, "__dict__", {}).clear()
