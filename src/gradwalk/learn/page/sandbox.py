"""Runs what a learner wrote: with a limit on its steps, without input, and with errors told by the learner's own line.

`execute` runs a text and gives the names it defined. What the text defined, functions and classes, is called later
`with guarded():`. Both raise `LearnerError`, whatever went wrong.

The limit counts steps through the learner's text, so it is the same on every machine. Code that never comes back to
that text (`sum(iter(int, 1))`) escapes it: the page then ends the whole worker.
"""

from __future__ import annotations

import ast
import builtins
import dis
import linecache
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FrameType, TracebackType
from typing import Any, NoReturn, TypedDict

from gradwalk.collecting import collector_off
from gradwalk.errors import GradwalkError
from gradwalk.messages import Message, reason_of, say, verbatim

__all__ = ["BUDGET", "Failure", "LearnerError", "execute", "failure_of", "guarded", "not_shown", "watch_over"]

#: So many steps through a learner's text may be done in one go.
BUDGET = 1_000_000

_texts: set[str] = set()  # the file names under which learners' texts were compiled
_DEEPEST = sys.getrecursionlimit()  # calls that may be open at once


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


def failure_of(error: BaseException) -> Failure:
    """An error as the page is told of it; some of ours know their line, as that of a program that cannot be read.

    >>> failure_of(ZeroDivisionError("division by zero"))
    {'kind': 'ZeroDivisionError', 'message': 'division by zero', 'line': None, 'where': None}
    """
    kind, line = getattr(error, "kind", type(error).__name__), getattr(error, "line", None)
    return Failure(kind=kind, message=reason_of(error), line=line, where=getattr(error, "where", None))


def not_shown(count: int) -> Message:
    """What is said after a part of what was printed.

    >>> not_shown(1200)
    '\\n… and 1,200 more characters, which are not shown\\n'
    """
    return say("\n… and {count} more characters, which are not shown\n", count=f"{count:,}")


class LearnerError(GradwalkError, RuntimeError):
    """What went wrong in a learner's text: the kind of error, what it says, and the line, counted from 1.

    >>> try:
    ...     execute("a = 1\\nb = a + c")
    ... except LearnerError as error:
    ...     print(error.kind, error.line, error)
    NameError 2 name 'c' is not defined
    """

    def __init__(self, kind: str, message: str, line: int | None = None, where: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.reason, self.line, self.where = kind, verbatim(message), line, where


class _OutOfSteps(BaseException):
    """Not an Exception, so that a learner's `except Exception` does not swallow it."""


def execute(
    source: str, given: Mapping[str, Any] | None = None, *, name: str = "your code", budget: int = BUDGET,
    tree: ast.Module | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Run a text with some names given, and give all names there are then; `name` is what errors call the text.

    With a `tree`, that is run in its place: the same lines with small changes in them.

    >>> execute("b = a * a", {"a": Value(3.0)})["b"].data
    9.0
    >>> execute("while True: pass", budget=1000)
    Traceback (most recent call last):
    ...
    gradwalk.learn.page.sandbox.LearnerError: stopped after 1,000 steps: is there a loop that never ends?
    """
    file = f"<{name}>"
    _texts.add(file)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "__learner__", **(given or {})}
    try:
        code = compile(tree or source, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise LearnerError(type(error).__name__, error.msg, error.lineno, name) from None
    except ValueError as error:  # a null character
        raise LearnerError("SyntaxError", str(error), None, name) from None
    except (RecursionError, MemoryError):
        message = say("this nests too deeply for Python: can you give a part of it a name, in a line of its own?")
        raise LearnerError("SyntaxError", message, None, name) from None
    with guarded(budget=budget):
        exec(code, namespace)
    return namespace


def watch_over(file: str) -> None:
    """Count the steps through this file too, which was not run by `execute`.

    >>> watch_over("engine.py")
    >>> with guarded(budget=1000):
    ...     exec(compile("while True: pass", "engine.py", "exec"))
    Traceback (most recent call last):
    ...
    gradwalk.learn.page.sandbox.LearnerError: stopped after 1,000 steps: is there a loop that never ends?
    """
    _texts.add(file)


@contextmanager
def guarded(*, budget: int = BUDGET) -> Iterator[None]:
    """While this lasts, steps through learners' texts are counted, input() is refused, errors become LearnerErrors.

    >>> half = execute("def half(x):\\n    return 1 / x")["half"]
    >>> with guarded():
    ...     half(0)
    Traceback (most recent call last):
    ...
    gradwalk.learn.page.sandbox.LearnerError: division by zero
    """
    try:
        with _watched(budget):
            yield
    except LearnerError:
        raise
    except _OutOfSteps as stop:
        message = out_of_steps(budget)
        raise LearnerError("OutOfSteps", message, *_place(stop.__traceback__)) from None
    except RecursionError as error:
        raise LearnerError("RecursionError", *_circle(error.__traceback__)) from None
    except SystemExit as error:
        message = say("exit() ends a program, and here it would end the page's Python; leave it out")
        raise LearnerError("SystemExit", message, *_place(error.__traceback__)) from None
    except SyntaxError as error:  # from an exec or an import of the learner's
        raise LearnerError(type(error).__name__, error.msg, *_place(error.__traceback__)) from None
    except Exception as error:
        raise LearnerError(type(error).__name__, _said(error), *_place(error.__traceback__)) from error
    except BaseException as error:  # KeyboardInterrupt and its like would get past everybody
        name = type(error).__name__
        message = say(
            "{error} is for ending a whole program, and here it would end the page's Python; raise another error",
            error=name,
        )
        raise LearnerError(name, message, *_place(error.__traceback__)) from None


def out_of_steps(budget: int) -> Message:
    """What is said where a text did not end."""
    return say("stopped after {steps} steps: is there a loop that never ends?", steps=f"{budget:,}")


@contextmanager
def _watched(budget: int) -> Iterator[None]:
    before, ask, limit = sys.gettrace(), builtins.input, sys.getrecursionlimit()
    builtins.input = _no_input
    with collector_off():  # what it calls where a text has recursed to the end of the stack can end Python
        sys.settrace(_counter(budget))
        try:
            yield
        finally:
            sys.settrace(before)
            builtins.input = ask
            sys.setrecursionlimit(limit)  # a text that recurses may raise it; the next one must not end Python


def _counter(budget: int) -> Any:
    left, open_calls = budget, 0

    def count(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left, open_calls
        left -= 1
        if left < 0:
            raise _OutOfSteps
        if event == "return":
            open_calls -= 1
        return count

    def enter(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal open_calls
        if frame.f_code.co_filename not in _texts:
            return None
        open_calls += 1
        if open_calls > _DEEPEST:  # Python would not stop it in time: somebody has raised its own limit
            raise RecursionError
        frame.f_trace_opcodes = _by_instruction(frame.f_code)
        return count(frame, event, arg)

    return enter


@lru_cache(maxsize=1024)
def _by_instruction(code: CodeType) -> bool:
    """A step is a line; but Python 3.11 does not tell the lines of a loop in one line, such as `while True: pass`."""
    if sys.version_info >= (3, 12):
        return False
    lines = [(start, end, line) for start, end, line in code.co_lines() if line is not None]
    for instruction in dis.get_instructions(code):
        if "JUMP_BACKWARD" in instruction.opname:
            loop = {line for start, end, line in lines if end > instruction.argval and start <= instruction.offset}
            if len(loop) <= 1:
                return True
    return False


def _no_input(*_: object) -> NoReturn:
    raise EOFError(say("input() has nobody to ask here: write the number into the code instead"))


def _circle(traceback: TracebackType | None) -> tuple[Message, int | None, str | None]:
    """Which functions lead back to themselves, and the line and text in which one of them does so.

    They are those that come again and again among the innermost calls; at the very end others may have been called.
    The one that was called first is named first: which comes last depends on how deep Python goes.
    """
    calls: list[tuple[str, int | None, str | None]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in _texts or code.co_filename == "<engine>":
            text = code.co_filename[1:-1] if code.co_filename in _texts else None
            calls.append((code.co_name, traceback.tb_lineno if text else None, text))
        traceback = traceback.tb_next
    names = Counter(name for name, _, _ in calls[-40:] if not name.startswith("<"))
    often = max(names.values(), default=0)
    circle = {name for name, count in names.items() if count > often / 4}
    round_and_round = [name for name in dict.fromkeys(name for name, _, _ in calls) if name in circle]
    led = [call for call, then in pairwise(calls) if {call[0], then[0]} <= circle and call[2]]
    line, text = led[0][1:] if led else (None, None)
    message = say("a function calls itself over and over: what should make it stop?")
    if len(round_and_round) == 1:
        message = say("a function calls itself over and over: `{name}` leads back to `{name}`", name=round_and_round[0])
    if len(round_and_round) == 2:
        message = say(
            "a function calls itself over and over: `{first}` leads to `{second}`, and that leads back to `{first}`",
            first=round_and_round[0],
            second=round_and_round[1],
        )
    return message, line, text


def _place(traceback: TracebackType | None) -> tuple[int | None, str | None]:
    """The innermost line of a learner's text on the way to an error, and which text it is."""
    found: tuple[int | None, str | None] = (None, None)
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file in _texts:
            found = traceback.tb_lineno, file[1:-1]
        traceback = traceback.tb_next
    return found


def _said(error: Exception) -> str:
    try:
        if len(error.args) == 1 and isinstance(error.args[0], Message):
            return error.args[0]  # one of our own sentences, which knows its words
        return str(error) or type(error).__name__
    except BaseException:  # a learner's own error class may fail to speak
        return type(error).__name__
