"""What watching costs a training: the same run with and without the doctor, in turn; and that it costs nothing after.

    python benchmarks/doctor.py

The step is the moons demo's (2-16-16-1 network, 100 samples, hinge and L2, some 65,000 nodes) and that of the scalar
GPT. The limit is on the mean step of a run: its first step, which is followed line by line, and the steps that are
examined in full cost more, and are shown by themselves. Times are those of the processor, so that a busy machine counts
less.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))  # the GPT of the examples

import gpt
from measure import machine
from rich.console import Console
from rich.table import Table

from gradwalk import datasets, doctor, nn, optim

LIMIT = 3.0  # times a step that nobody watches
EVERY = 10


@dataclass(frozen=True)
class Figure:
    """A run, watched and not: seconds a step, on average; and the kinds of steps of the watched one."""

    what: str
    steps: int
    plain: float
    watched: float
    first: float
    examined: float
    others: float
    after: float

    @property
    def ratio(self) -> float:
        """How many times as long a watched step takes."""
        return self.watched / self.plain


Step = Callable[[], None]


def moons(samples: int) -> tuple[Any, Step]:
    """The moons demo: its model, and one step."""
    random.seed(1337)
    X, y = datasets.moons(samples)
    model = nn.MLP(2, [16, 16, 1])
    optimiser = optim.SGD(model.parameters(), lr=0.5)

    def step() -> None:
        loss = nn.hinge([model(x) for x in X], y) + 1e-4 * sum(p * p for p in model.parameters())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return model, step


def letters(width: int) -> tuple[Any, Step]:
    """The scalar GPT on one name."""
    parameters = gpt.make_parameters(gpt.Config(27, width=width))
    optimiser = optim.Adam(parameters.flat(), 0.01)
    tokens = [26, 4, 12, 12, 0, 8, 13, 4, 26]

    def step() -> None:
        loss = gpt.loss(parameters, tokens)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return parameters, step


def run(make: Callable[[], tuple[Any, Step]], steps: int, *, watch: bool) -> tuple[list[float], set[int]]:
    """Seconds of each step of a fresh run, and of stopping to watch; and which steps were examined in full."""
    model, step = make()
    gc.collect()
    times = []
    visit = doctor.watch(model, every=EVERY) if watch else None
    if visit is not None:
        visit.start()
    for _ in range(steps):
        began = time.process_time()
        step()
        times.append(time.process_time() - began)
    began = time.process_time()
    if visit is not None:
        visit.stop()
        if (report := visit.report()) or report.remarks:
            raise AssertionError(str(report))
    times.append(time.process_time() - began)
    return times, {exam.step for watched in visit.models for exam in watched.history.exams} if visit else set()


def measured(what: str, make: Callable[[], tuple[Any, Step]], steps: int, repeats: int) -> Figure:
    """The same run watched and not, in turn; the quickest of each counts."""
    plain, watched, full = math.inf, [math.inf], {1}
    for _ in range(repeats):
        plain = min(plain, sum(run(make, steps, watch=False)[0]) / steps)
        watched, full = min((watched, full), run(make, steps, watch=True), key=lambda each: sum(each[0]))
    after = min(sum(run(make, steps, watch=False)[0]) / steps for _ in range(repeats))
    examined = [t for i, t in enumerate(watched[:-1], start=1) if i > 1 and i in full]
    others = [t for i, t in enumerate(watched[:-1], start=1) if i not in full and i - 1 not in full]
    return Figure(what, steps, plain, sum(watched) / steps, watched[0], median(examined), median(others), after)


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write the figures to a folder; 1 if the limit was passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where the JSON goes (default out/bench)")
    parser.add_argument("--repeats", type=int, default=3, help="how often each run is timed (default 3)")
    parser.add_argument("--steps", type=int, default=50, help="steps of a run (default 50)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {options.repeats}")
    if options.steps < 12:
        parser.error(f"--steps must be at least 12, not {options.steps}")

    samples, width = (4, 4) if options.quick else (100, 16)
    figures = [
        measured("moons", lambda: moons(samples), options.steps, options.repeats),
        measured("GPT", lambda: letters(width), options.steps, options.repeats),
    ]
    console = Console()
    show(figures, console)
    options.out.mkdir(parents=True, exist_ok=True)
    history = {
        "machine": machine(),
        "repeats": options.repeats,
        "limit": LIMIT,
        "figures": [{**asdict(figure), "ratio": figure.ratio} for figure in figures],
    }
    (options.out / "doctor.json").write_text(json.dumps(history, indent=2) + "\n", encoding="utf-8")
    console.print(f"Figures: {options.out / 'doctor.json'}")
    return int(any(figure.ratio > LIMIT for figure in figures))


def show(figures: list[Figure], console: Console) -> None:
    """One small table; times in milliseconds."""
    table = Table(
        title=f"Watching a training: ms a step, and the ratio, which must stay below {LIMIT:g}", title_justify="left"
    )
    for column in ("run", "steps", "plain", "watched", "ratio", "first", "full", "others", "after"):
        table.add_column(column, justify="left" if column == "run" else "right")
    for f in figures:
        times = [f"{1e3 * x:.1f}" for x in (f.first, f.examined, f.others, f.after)]
        table.add_row(
            f.what,
            str(f.steps),
            f"{1e3 * f.plain:.1f}",
            f"{1e3 * f.watched:.1f}",
            f"{f.ratio:.2f}",
            *times,
        )
    console.print(table)


if __name__ == "__main__":
    raise SystemExit(main())
