"""How far a run is: a bar on a terminal, one in a notebook, and silence where nobody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

__all__ = ["Report", "shown"]

#: Called with how many jobs are done, how many failed among them, and how many there are.
Report = Callable[[int, int, int], None]


@contextmanager
def shown(wanted: bool | Report | None, things: str = "jobs") -> Iterator[Report]:
    """Where progress is told: to a function that was given, or else to whoever is looking.

    >>> with shown(None) as tell:
    ...     tell(1, 0, 2)
    """
    if callable(wanted):
        yield wanted
    elif wanted is False:
        yield lambda done, failed, total: None
    elif _in_a_notebook():
        yield _notebook_bar(things)
    elif sys.stderr.isatty():
        with _terminal_bar(things) as tell:
            yield tell
    else:
        yield _lines(things) if wanted else lambda done, failed, total: None


def _words(things: str, done: int, failed: int, total: int) -> str:
    return (f"{done}/{total} {things}" if total else f"{done} {things}") + (f", {failed} failed" if failed else "")


@contextmanager
def _terminal_bar(things: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns: list[Any] = [
        BarColumn(bar_width=22), TextColumn("{task.description}"), TimeRemainingColumn(elapsed_when_finished=True),
    ]  # fmt: skip
    with Progress(*columns, console=Console(stderr=True, highlight=False)) as progress:
        task = progress.add_task("starting")
        yield lambda done, failed, total: progress.update(
            task, completed=done, total=total or None, description=_words(things, done, failed, total)
        )


def _lines(things: str) -> Report:
    told = [0]

    def tell(done: int, failed: int, total: int) -> None:
        if done * 10 // (total or 100) > told[0]:  # where nobody knows how many there are, every tenth
            told[0] = done * 10 // (total or 100)
            print(_words(things, done, failed, total), file=sys.stderr, flush=True)  # noqa: T201

    return tell


def _in_a_notebook() -> bool:
    shell = sys.modules.get("IPython")
    active = shell.get_ipython() if shell is not None else None
    return type(active).__name__ == "ZMQInteractiveShell"


def _notebook_bar(things: str) -> Report:
    show: Any = import_module("IPython.display")
    handle: list[Any] = []
    last = [0.0]

    def tell(done: int, failed: int, total: int) -> None:
        if done != total and time.monotonic() - last[0] < 0.1:
            return
        last[0] = time.monotonic()
        words = _words(things, done, failed, total)
        bar = show.HTML(
            f'<progress value="{done}" max="{total or 2 * done + 1}" aria-label="{words}"></progress> {words}'
        )
        if handle:
            handle[0].update(bar)
        else:
            handle.append(show.display(bar, display_id=True))

    return tell
