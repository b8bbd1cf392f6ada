"""`gradwalk sweep`: one training function over a grid of settings and seeds, on all cores or on a cluster."""

from __future__ import annotations

import argparse
import math
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradwalk import files, parallel, plot
from gradwalk.cli import options as option
from gradwalk.cli.screen import FAILED, STOPPED, bar, complain, console, is_live
from gradwalk.errors import GradwalkError, MissingExtraError, SettingError
from gradwalk.parallel.backends import BACKENDS
from gradwalk.parallel.progress import Report
from gradwalk.parallel.sweeps import (
    Run,
    Summary,
    called_with,
    function_at,
    grid_of,
    runs_csv,
    summaries,
    summaries_csv,
)

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["SUMMARY", "add_arguments", "run"]

SUMMARY = "train with many settings and seeds, side by side"

DESCRIPTION = """\
Call one function of a script with every combination of some settings, each with
several seeds, on all cores of this machine or on a cluster. The function
returns its loss, or a list of losses, or a dict with "loss", further numbers
and a "model". Out come a table, its CSV, a plot, and the best model.

Finished runs are kept: after Ctrl-C, or with more settings, the same command
goes on where it was. A run that fails does not stop the others.
"""

EXAMPLES = """\
examples:
  gradwalk sweep script.py:train --grid lr=0.1,0.01 hidden=8,16 --seeds 10
  gradwalk sweep script.py:train --grid lr=0.1,0.01 --time-limit 60 --workers 2
  gradwalk sweep script.py:train --grid lr=0.1 --backend dask

exit codes: 0 all runs done; 1 some failed; 2 nothing was begun; 130 stopped
"""

ROWS = 20  # of the table on the screen; the CSV has all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradwalk sweep`.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["script.py:train", "--grid", "lr=0.1,0.01", "--seeds", "3"]).seeds
    3
    """
    add = parser.add_argument
    add("function", metavar="SCRIPT:FUNCTION", help="as in script.py:train")
    add(
        "--grid",
        nargs="+",
        default=[],
        metavar="NAME=A,B",
        help="settings, with the values to try (default: as the function has them)",
    )
    add("--seeds", type=option.whole(1), default=1, metavar="N", help="runs of each setting (default: 1)")
    add("--out", type=Path, default=Path("sweep"), metavar="FOLDER", help="where results go (default: sweep)")
    add("--workers", type=option.whole(1), metavar="N", help="runs at a time (default: one a core)")
    add(
        "--time-limit",
        type=option.positive,
        metavar="SECONDS",
        help="how long a run may take (default: as long as it likes)",
    )
    add("--backend", choices=BACKENDS, default="processes", help="where they run (default: processes)")
    add("--address", metavar="URL", help="of the cluster (default: one that is started here)")
    add("--fresh", action="store_true", help="forget the runs that were kept")


def run(options: argparse.Namespace) -> int:
    """Train, tell how it goes, and leave table, plot and model behind.

    >>> main(["sweep", "nowhere.py:train"])
    2
    """
    screen = console()
    function = function_at(options.function)
    choices = grid_of(options.grid)
    if "seed" in choices:
        raise SettingError("seeds are counted with --seeds, and not part of the grid")
    call = called_with(function, list(choices))
    settings = [{**setting, "seed": seed} for setting in parallel.grid(**choices) for seed in range(options.seeds)]
    with _alone_in(options.out):
        kept = options.out / "runs"
        if options.fresh:
            shutil.rmtree(kept, ignore_errors=True)
        try:
            with _bar(screen) as tell:
                results = parallel.map(
                    call,
                    settings,
                    backend=options.backend,
                    workers=options.workers,
                    address=options.address,
                    keep=kept,
                    time_limit=options.time_limit,
                    progress=tell,
                    failures="return",
                )
        except KeyboardInterrupt:
            done = len(list(kept.glob("*.job"))) if kept.is_dir() else 0
            complain("sweep", f"stopped; {done} finished runs are kept, and the same command goes on from there")
            return STOPPED
        runs = [Run.of(setting, result) for setting, result in zip(settings, results, strict=True)]
        found = summaries(runs)
        written = _write(options.out, runs, found, choices, screen)
    _show(found, list(choices), screen)
    _tell_failures(runs, screen)
    screen.print(f"written to {options.out}: {', '.join(written)}", soft_wrap=True, markup=False)
    return FAILED if any(run.trouble for run in runs) else 0


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """The folder, made if need be, for this sweep alone: two of them would write over each other's tables."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("a")
    except OSError as error:
        raise SettingError(f"cannot write to {folder}: {error.strerror or error}") from error
    with lock:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise SettingError(
                    f"another sweep is writing to {folder}; give this one a folder of its own: --out"
                ) from None
        yield


@contextmanager
def _bar(screen: Console) -> Iterator[Report]:
    if not is_live(screen):
        tenth = [-1]

        def tell(done: int, failed: int, total: int) -> None:
            if (now := done * 10 // max(total, 1)) > tenth[0]:
                tenth[0] = now
                screen.print(f"training {done}/{total}" + (f", {failed} failed" if failed else ""))

        yield tell
        return
    with bar(screen, "{task.description}") as progress:
        task = progress.add_task("starting", total=None)
        yield lambda done, failed, total: progress.update(
            task, completed=done, total=total,
            description=f"training {done}/{total}" + (f", [miss]{failed} failed[/miss]" if failed else ""),
        )  # fmt: skip


def _named(setting: dict[str, Any]) -> str:
    return " ".join(f"{name} {value}" for name, value in setting.items()) or "as it is"


def _show(found: Sequence[Summary], names: list[str], screen: Console) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="quiet")
    for name in (*names, "loss", "±", "runs", "failed"):
        table.add_column(name, justify="right")
    for place, summary in enumerate(found[:ROWS]):
        losses = len(summary.done)
        mean = f"{summary.mean:.4g}" if math.isfinite(summary.mean) else "–"
        spread = f"{summary.deviation:.2g}" if math.isfinite(summary.deviation) else "–"
        cells = [*map(str, summary.setting.values()), mean, spread, str(losses), str(len(summary.runs) - losses)]
        table.add_row(*cells, style="strong" if place == 0 and math.isfinite(summary.mean) else "")
    screen.print(table)
    if len(found) > ROWS:
        screen.print(f"[quiet]and {len(found) - ROWS} more settings in table.csv[/quiet]")


def _tell_failures(runs: Sequence[Run], screen: Console) -> None:
    """Each kind of failure once, with the first run that it happened to."""
    kinds: dict[tuple[str, str], list[Run]] = {}
    for one in runs:
        if one.trouble is not None:
            kinds.setdefault((one.trouble.error, one.trouble.traceback or one.trouble.message), []).append(one)
    for (error, trace), failed in kinds.items():
        trouble, others = failed[0].trouble, len(failed) - 1
        assert trouble is not None
        and_others = f" and {others} more" if others else ""
        screen.print(
            f"[miss]failed[/miss] {_named(failed[0].setting)} seed {failed[0].seed}{and_others}", soft_wrap=True
        )
        words = trace if trouble.traceback else f"{error}: {trouble.message}"
        screen.print(words.rstrip(), markup=False, soft_wrap=True)


def _write(
    folder: Path, runs: list[Run], found: list[Summary], choices: dict[str, list[Any]], screen: Console
) -> list[str]:
    written = ["table.csv", "runs.csv"]
    files.write(folder / "table.csv", summaries_csv(found).encode())
    files.write(folder / "runs.csv", runs_csv(runs).encode())
    best = min((r for r in runs if math.isfinite(r.loss)), key=lambda r: r.loss, default=None)
    if best is not None and hasattr(best.model, "save"):
        best.model.save(folder / "best.json")
        written.append(f"best.json ({_named(best.setting)}, seed {best.seed}, loss {best.loss:.4g})")
    curves = [(_named(s.setting), [r.losses for r in s.done if r.losses]) for s in found]
    curves = [(name, lists) for name, lists in curves if lists]
    wide = [name for name, values in choices.items() if len(values) > 1]
    try:
        if curves:
            plot.save(plot.loss_bands(curves), folder / "curves.png")
            written.append("curves.png")
        if len(wide) == 2:
            means = {tuple(s.setting[name] for name in wide): s.mean for s in found}
            rows, columns = ((name, choices[name]) for name in wide)
            cells = [[means.get((y, x), math.nan) for x in columns[1]] for y in rows[1]]
            plot.save(plot.heat_map(cells, rows, columns, title="Mean loss"), folder / "heat.png")
            written.append("heat.png")
    except (MissingExtraError, GradwalkError) as error:
        screen.print(f"[quiet]no plot: {error}[/quiet]", soft_wrap=True)
    return written
