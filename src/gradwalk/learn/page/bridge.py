"""Where the page's script and Python meet: a function's name and its arguments as JSON in, its result as JSON out.

`call("programs.run", '{"source": "…"}', emit)` calls `gradwalk.learn.page.programs.run(source="…")`. What is printed
meanwhile goes to `emit` in pieces, up to a limit, so that a megabyte of prints cannot freeze the page. A sentence of
ours crosses as its id and its parameters (`gradwalk.messages`): the page says it in the reader's language.
"""

from __future__ import annotations

import importlib
import io
import json
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, TypedDict

from gradwalk.learn.page.sandbox import Failure, failure_of, not_shown
from gradwalk.messages import Message, crossing

__all__ = ["MOST_PRINTED", "Answer", "call"]

#: So many characters of what a call prints are shown.
MOST_PRINTED = 20_000
_EVERY = 0.05  # seconds between two pieces


class Answer(TypedDict):
    """What a call gives; `more` is said after what it printed, where not all of that was shown.

    >>> call("training.sizes", '{"hidden": [8]}', print)
    '{"result": [8], "error": null, "more": null}'
    """

    result: Any
    error: Failure | None
    more: Message | None


def call(function: str, arguments: str, emit: Callable[[str], Any]) -> str:
    """Call a function of the page by its name; gives an `Answer`, as JSON.

    >>> json.loads(call("nothing.here", "{}", print))["error"]["message"]
    {'id': '{text}', 'parameters': {'text': 'the page has no function nothing.here'}}
    """
    printed = _Printed(emit)
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            result = _found(function)(**json.loads(arguments))
        return _as_json(Answer(result=result, error=None, more=printed.finish()))
    except BaseException as error:  # whatever it is, the page gets an answer, and Python lives on
        return _as_json(Answer(result=None, error=failure_of(error), more=printed.finish()))


def _as_json(answer: Answer) -> str:
    return json.dumps(crossing(answer), ensure_ascii=False, allow_nan=False)


def _found(function: str) -> Callable[..., Any]:
    module_name, _, name = function.rpartition(".")
    try:
        module = importlib.import_module(f"gradwalk.learn.page.{module_name}")
    except ModuleNotFoundError:
        module = None
    if module is None or name not in getattr(module, "__all__", ()):
        raise LookupError(f"the page has no function {function}")
    found: Callable[..., Any] = getattr(module, name)
    return found


class _Printed(io.TextIOBase):
    """Takes what is printed, passes it on in pieces, and stops passing on at the limit."""

    def __init__(self, emit: Callable[[str], Any]) -> None:
        self._emit = emit
        self._waiting: list[str] = []
        self._room = MOST_PRINTED
        self._dropped = 0
        self._last = 0.0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        taken = text[: self._room]
        self._room -= len(taken)
        self._dropped += len(text) - len(taken)
        if taken:
            self._waiting.append(taken)
        if self._waiting and time.monotonic() - self._last > _EVERY:
            self._pass_on()
        return len(text)

    def _pass_on(self) -> None:
        self._emit("".join(self._waiting))
        self._waiting.clear()
        self._last = time.monotonic()

    def flush(self) -> None:
        """Pass on what waits, for whoever must be heard now."""
        if self._waiting:
            self._pass_on()

    def finish(self) -> Message | None:
        """Pass on the rest; gives what is to be said after it, if something was left out."""
        self.flush()
        return not_shown(self._dropped) if self._dropped else None
