"""`gradwalk warmup`: compile the kernels of the compiled path in advance."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from gradwalk.cli.screen import FAILED, complain, console, is_live
from gradwalk.errors import GradwalkError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

__all__ = ["SUMMARY", "add_arguments", "run"]

SUMMARY = "compile the kernels of gradwalk.compile in advance"

DESCRIPTION = """\
The first use of gradwalk.compile on a machine compiles native code for what the
function is made of, which takes seconds. This command does that in advance, for
dense layers, attention, every op and the optimisers, and keeps the code on
disk; later processes load it in milliseconds. Code that is there already is not
compiled again.
"""

EXAMPLES = """\
examples:
  gradwalk warmup
  gradwalk warmup --fresh
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk warmup`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["--fresh"]).fresh
    True
    """
    parser.add_argument("--fresh", action="store_true", help="throw away what was compiled before")
    parser.add_argument("--no-batches", action="store_true", help="leave out the kernels of batch=")


def run(options: argparse.Namespace) -> int:
    """Compile, with a bar on a terminal and a line for each piece elsewhere.

    >>> main(["warmup", "--warp"])
    2
    """
    screen = console()
    try:
        from gradwalk.compile import compile

        compile(abs)  # says what is missing, if it is
        from gradwalk.compile import warming
        from gradwalk.compile.native import kept
    except MissingExtraError as error:
        complain("warmup", error)
        return FAILED
    if options.fresh:
        kept.clear()
    began = time.perf_counter()
    compiled = loaded = 0
    try:
        wanted = warming.pieces(batches=not options.no_batches)
        for _, new, known in _followed(warming.warm(wanted), [name for name, _ in wanted], screen):
            compiled, loaded = compiled + new, loaded + known
    except GradwalkError as error:
        complain("warmup", error)
        return FAILED
    folder = kept.folder()
    files = sorted(folder.glob("*.bin")) if folder else []
    place = folder or "no folder: there is no home folder"
    screen.print(
        f"[ok]ready[/ok] in {time.perf_counter() - began:.1f} s: {compiled} functions compiled, {loaded} were there; "
        f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB in {place}",
        soft_wrap=True,
    )
    return 0


def _followed(
    work: Iterator[tuple[str, int, int]], names: list[str], screen: Console
) -> Iterator[tuple[str, int, int]]:
    if not is_live(screen):
        for number, (name, new, known) in enumerate(work, start=1):
            screen.print(f"{number:>2}/{len(names)}  {name}: {new} compiled, {known} loaded", highlight=False)
            yield name, new, known
        return
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    from gradwalk.compile.native import objects

    class Compiled(ProgressColumn):
        """Grows while a piece is under way: some take long."""

        def render(self, task: Any) -> Text:
            return Text(f"{objects.record['compiled']:.0f} functions", style="quiet")

    columns: list[Any] = [
        SpinnerColumn(style="data"),
        BarColumn(bar_width=22, style="quiet", complete_style="data", finished_style="data"),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.description}"),
        Compiled(),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(names[0] if names else "", total=len(names))
        for done, (name, new, known) in enumerate(work, start=1):
            progress.update(task, advance=1, description=names[min(done, len(names) - 1)])
            yield name, new, known
