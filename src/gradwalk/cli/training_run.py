"""A training run from the first line on the screen to the last file: what `gradwalk train` does once all is checked."""

from __future__ import annotations

import json
import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradwalk import datasets, plot, store
from gradwalk.cli import screen
from gradwalk.cli.screen import STOPPED, complain
from gradwalk.cli.train_settings import Settings, command
from gradwalk.collecting import collector_off
from gradwalk.errors import GradwalkError
from gradwalk.messages import counted
from gradwalk.train import Best, Training

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Job", "do", "plot_paths"]

CHECKPOINT_EVERY = 5.0  # seconds: an end that nothing can catch costs no more than that
GOOD = 0.97  # an accuracy with which one goes on to the next thing


@dataclass(frozen=True)
class Job:
    """What is to be trained, and what is to be kept of it.

    >>> Job.__match_args__
    ('dataset', 'settings', 'training', 'save', 'plot', 'as_json')
    """

    dataset: str
    settings: Settings
    training: Training
    save: Path | None
    plot: Path | None
    as_json: bool


def do(job: Job) -> int:
    """Train, keep, tell; gives the exit code.

    >>> from gradwalk.cli.train import training_for
    >>> settings = Settings(hidden=(4,), steps=2, samples=10, lr=0.1)
    >>> do(Job("xor", settings, training_for("xor", settings), None, None, as_json=True))  # doctest: +ELLIPSIS
    {
      "dataset": "xor",
      ...
    }
    0
    """
    out = screen.console()
    if not job.as_json:
        _announce(job, out)
    code, started, saved = 0, time.perf_counter(), _Saved(job)
    steps = job.settings.steps
    try:
        with collector_off():  # a graph has no cycles; looking for some costs a third of the time
            for _ in job.training.run(steps) if job.as_json else screen.follow(job.training, steps, out):
                if time.monotonic() - saved.when >= CHECKPOINT_EVERY:
                    saved.now()
    except KeyboardInterrupt:
        code = STOPPED
    except GradwalkError as error:
        complain("train", error)
        code = 1
    finally:  # whatever ended it, the best model goes to its file first of all
        seconds = time.perf_counter() - started
        saved.now()
    best = job.training.best
    if best is None:
        complain("train", "stopped before the first step was done: there is nothing to keep")
        return code
    last = job.training.measure() if code == 0 else None  # a step that was broken off leaves half-changed weights
    if last is not None and not math.isfinite(last[0]):  # the very last update was one too many
        last = None
    job.training.restore_best()
    drawn = _drawn(job)
    done = len(job.training.losses)
    facts = {
        "dataset": job.dataset,
        "settings": asdict(job.settings),
        "stopped": code == STOPPED,
        "steps": done,
        "seconds": seconds,
        "steps_per_second": done / seconds,
        "last": None if last is None else {"loss": last[0], "accuracy": last[1], "updates": done},
        "best": {"loss": best.loss, "accuracy": best.accuracy, "updates": best.updates},
        "saved": None if saved.path is None else str(saved.path),
        "plots": [str(path) for path in drawn],
    }
    if job.as_json:
        print(json.dumps(facts, indent=2, allow_nan=False))  # noqa: T201
    else:
        _report(job, facts, out)
    failed = saved.failed or (job.plot is not None and not drawn)
    return code or int(failed)


def plot_paths(path: Path) -> tuple[Path, Path]:
    """Where the two pictures of a run go: the decision boundary, and the loss beside it.

    >>> [picture.name for picture in plot_paths(Path("out.png"))]
    ['out.png', 'out-loss.png']
    """
    return path, path.with_name(f"{path.stem}-loss{path.suffix}")


# --- what is kept --------------------------------------------------------------------------------------------------


class _Saved:
    """The best model in its file."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.path: Path | None = None  # set once there is something in it
        self.failed = False
        self._best: Best | None = None
        self.when = time.monotonic()

    def now(self) -> None:
        best, self.when = self.job.training.best, time.monotonic()
        if self.job.save is None or best is None or best is self._best:
            return
        try:
            store.write(best.state, self.job.save)
        except GradwalkError as error:
            if not self.failed:
                complain("train", f"--save: {error}")
            self.failed = True
            return
        self._best, self.path, self.failed = best, self.job.save, False


def _drawn(job: Job) -> list[Path]:
    if job.plot is None:
        return []
    boundary, loss = plot_paths(job.plot)
    settings, training = job.settings, job.training
    words = f"{settings.activation}, {job.dataset}, {settings.samples} points"
    window = 1 if settings.batch is None else max(1, settings.samples // settings.batch)
    try:
        figure = plot.decision_boundary(training.model, training.X, training.y, title=settings.shape, details=words)
        pictures = [plot.save(figure, boundary)]
        if training.losses:
            pictures.append(plot.save(plot.loss_curve(training.losses, details=job.dataset, window=window), loss))
    except GradwalkError as error:
        complain("train", f"--plot: {error}")
        return []
    return pictures


# --- what is told --------------------------------------------------------------------------------------------------


def _announce(job: Job, out: Console) -> None:
    s = job.settings
    count = len(job.training.model.parameters())
    points = f"{s.samples} points, noise {s.noise:g}" + (f", {s.batch} at a time" if s.batch else "")
    out.print(f"[strong]{job.dataset}[/strong]   {points}")
    out.print(f"{s.shape}, {s.activation}, {count} parameters")
    out.print(f"{s.optimizer}, learning rate {s.lr:g}, {s.steps} steps, seed {s.seed}")
    out.print()


def _report(job: Job, facts: dict[str, Any], out: Console) -> None:
    done, samples = facts["steps"], job.settings.samples
    out.print()
    if facts["stopped"]:
        out.print(f"[strong]Stopped[/strong] after {counted(done, 'step')} of {job.settings.steps}.")
    elif job.training.done:
        out.print(
            f"[strong]Done[/strong] after {counted(done, 'step')}: the loss is 0, and there is nothing left to learn."
        )
    for name in ("last", "best"):
        numbers = facts[name]
        if numbers is not None:
            share = f"{screen.percent(numbers['accuracy'])}  {round(numbers['accuracy'] * samples)} of {samples}"
            kept = name == "best" and (facts["saved"] or facts["plots"])
            note = f"after {counted(numbers['updates'], 'step')}" + (": kept" if kept else "")
            out.print(f"{name}   loss [data]{numbers['loss']:.4f}[/data]   accuracy {share}   [quiet]{note}[/quiet]")
    out.print(f"time   {facts['seconds']:.1f} s, {facts['steps_per_second']:.0f} steps a second")
    if facts["saved"]:
        out.print(f"saved  {facts['saved']}", soft_wrap=True, markup=False)
    for path in facts["plots"]:
        out.print(f"drawn  {path}", soft_wrap=True, markup=False)
    out.print()
    for number, (what, line) in enumerate(_next(job, facts)):
        out.print(f"[quiet]{'next ' if number == 0 else '     '}[/quiet]  [quiet]{what}[/quiet]")
        out.print(f"         {line}", soft_wrap=True, markup=False)


def _next(job: Job, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """What to do next: in words, and as a line to copy."""
    s, train = job.settings, command(job.dataset, job.settings)
    ideas = []
    if facts["saved"]:
        again = f"model = nn.{s.shape[:-1]}, activation={s.activation!r}); model.load({facts['saved']!r})"
        ideas.append(("use the model in Python, after `from gradwalk import nn`", again))
    elif facts["stopped"]:
        ideas.append(("keep the best model, whatever ends the run", f"{train} --save {job.dataset}.json"))
    if facts["best"]["accuracy"] < GOOD and not facts["stopped"]:
        ideas.append(("give it more time", command(job.dataset, replace(s, steps=2 * s.steps))))
    elif not facts["plots"]:
        ideas.append(("see where the score is 0", f"{train} --plot {job.dataset}.png"))
    else:
        names = list(datasets.BY_NAME)
        ideas.append(("another shape", f"gradwalk train {names[(names.index(job.dataset) + 1) % len(names)]}"))
    return ideas
