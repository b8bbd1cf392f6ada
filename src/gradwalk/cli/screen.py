"""What a run looks like on the screen: the console, its colours, and a training that is followed step by step.

On a terminal there is a bar with the loss and the accuracy in it. In a file or a pipe there is a plain line now and
then, without control characters. NO_COLOR is respected.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.theme import Theme

if TYPE_CHECKING:
    from rich.progress import Progress

    from gradwalk.train import Step, Training

__all__ = ["FAILED", "STOPPED", "THEME", "bar", "complain", "console", "counted", "follow", "is_live", "percent"]

FAILED, STOPPED = 1, 130  # exit codes: something went wrong on the way; Ctrl-C
Item = TypeVar("Item")

#: Colours with a meaning, chosen to read on light and dark terminals alike.
THEME = Theme(
    {
        "data": "#2f80d0",  # a number the forward pass wrote
        "grad": "#d2622a",  # a number the backward pass wrote
        "play": "#17212a on #ffd142",  # the local derivative of the edge in play
        "ok": "#0f9d8a",
        "miss": "#c2337b",
        "quiet": "bright_black",
        "strong": "bold",
    }
)
PLAIN_LINES = 10  # in a whole run
SMOOTHED_OVER = 20  # at most so many mini-batches


def console(*, stderr: bool = False) -> Console:
    """A console in gradwalk's colours.

    >>> console().print("loss [data]0.25[/data]")
    loss 0.25
    """
    return Console(theme=THEME, stderr=stderr, highlight=False)


def complain(command: str, words: object) -> None:
    """Say on the error stream what is wrong.

    >>> complain("train", "--lr is too large")
    """
    print(f"gradwalk {command}: {words}", file=sys.stderr)  # noqa: T201


def is_live(screen: Console) -> bool:
    """Whether a bar can move there: a terminal that is one, whatever FORCE_COLOR says.

    >>> import io
    >>> is_live(Console(file=io.StringIO(), force_terminal=True))
    False
    """
    return screen.is_terminal and not screen.is_dumb_terminal and screen.file.isatty()


def bar(screen: Console, *columns: str) -> Progress:
    """A bar, behind it columns of text as Rich writes them, and the time that is left.

    >>> bar(console(), "{task.description}").columns[1].text_format
    '{task.description}'
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        BarColumn(bar_width=22, style="quiet", complete_style="data", finished_style="data"),
        *map(TextColumn, columns),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=screen,
    )


def follow(training: Training, steps: int, screen: Console) -> Iterator[Step]:
    """Run a training and show it; yields the steps, so that the caller can do something beside.

    >>> from gradwalk import datasets
    >>> from gradwalk.train import Training
    >>> model = nn.MLP(2, [1])
    >>> training = Training(model, optim.SGD(model.parameters(), 0.1), *datasets.moons(n=10))
    >>> len(list(follow(training, 1, console())))  # doctest: +ELLIPSIS
    step 1/1   loss ...   accuracy ...
    1
    """
    followed = enumerate(_smoothed(training, steps), start=1)
    if not is_live(screen):
        every, digits = max(1, steps // PLAIN_LINES), len(str(steps))
        for number, (step, loss, accuracy) in followed:
            if number % every == 0 or number in (1, steps) or training.done:
                screen.print(f"step {number:>{digits}}/{steps}   loss {loss:.4f}   accuracy {percent(accuracy)}")
                sys.stdout.flush()
            yield step
        return
    count = f" step {{task.completed:>{len(str(steps))}}}/{steps} "
    with bar(screen, count, "loss [data]{task.fields[loss]}[/data] ", "accuracy {task.fields[accuracy]} ") as progress:
        task = progress.add_task("", total=steps, loss="  …   ", accuracy="  … ")
        for number, (step, loss, accuracy) in followed:
            total = number if training.done else steps
            progress.update(task, completed=number, total=total, loss=f"{loss:.4f}", accuracy=percent(accuracy))
            yield step


def _smoothed(training: Training, steps: int) -> Iterator[tuple[Step, float, float]]:
    """The steps with loss and accuracy to show: of mini-batches the mean over one pass, for one batch says little."""
    passes = 1 if training.batch is None else min(SMOOTHED_OVER, max(1, len(training.X) // training.batch))
    recent: deque[Step] = deque(maxlen=passes)
    for step in training.run(steps):
        recent.append(step)
        yield step, sum(s.loss for s in recent) / len(recent), sum(s.accuracy for s in recent) / len(recent)


def counted(items: Iterable[Item], total: int, doing: str, screen: Console) -> Iterator[Item]:
    """The items, with a bar that says how many of them there were; plain lines where no bar can move.

    >>> list(counted("ab", 2, "judging", console()))
    judging 1/2
    judging 2/2
    ['a', 'b']
    """
    if not is_live(screen):
        every = max(1, total // PLAIN_LINES)
        for number, item in enumerate(items, start=1):
            if number % every == 0 or number == total:
                screen.print(f"{doing} {number}/{total}")
                screen.file.flush()  # for whoever follows the file
            yield item
        return
    with bar(screen, f" {doing} {{task.completed:>{len(str(total))}}}/{total} ") as progress:
        task = progress.add_task("", total=total)
        for item in items:
            progress.advance(task)
            yield item


def percent(share: float) -> str:
    """A share as it is shown: three figures, and 100% only where all are right.

    >>> percent(0.875), percent(1.0), percent(0.9999)
    ('87.5%', ' 100%', '99.9%')
    """
    return " 100%" if share == 1.0 else f"{int(share * 1000) / 10:4.1f}%"
