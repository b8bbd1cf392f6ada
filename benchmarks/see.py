"""How long it takes to see a graph: step events, drawings, spy plots, a refusal; and what all that costs the engine.

    python benchmarks/see.py

Each figure is the best of the repeats, the graph built beforehand, with the limit it has to stay under.
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
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))  # the GPT of the examples

from measure import machine
from rich.console import Console
from rich.table import Table
from workloads import gpt_name, gradwalk_engine, moons

from gradwalk import Value, draw, nn, spy, walk
from gradwalk.errors import GraphError


@dataclass(frozen=True)
class Figure:
    """One thing that was timed."""

    what: str
    nodes: int
    seconds: float
    limit: float


@dataclass(frozen=True)
class Sizes:
    """How large the graphs are, about."""

    events: int = 10_000
    small: tuple[int, ...] = (6, 5, 1)  # neurons of the network that is drawn as a small graph
    large: int = 3  # samples through a 16-16-1 network
    random: int = 2_000
    letters: int = 12
    huge: int = 1_000_000


QUICK = Sizes(events=300, small=(2, 1), large=1, random=60, letters=1, huge=3_000)


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write the figures to a folder; 1 if a limit was passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where the JSON goes (default out/bench)")
    parser.add_argument("--repeats", type=int, default=5, help="how often each is timed (default 5)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {options.repeats}")

    sizes = QUICK if options.quick else Sizes()
    before = step_time(options.repeats, sizes)
    figures = measure(options.repeats, sizes)
    after = step_time(options.repeats, sizes)
    console = Console()
    show(figures, before, after, console)
    options.out.mkdir(parents=True, exist_ok=True)
    record = {
        "machine": machine(),
        "repeats": options.repeats,
        "figures": [asdict(figure) for figure in figures],
        "W1 step": {"seconds before": before, "seconds after": after},
    }
    (options.out / "see.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    console.print(f"Figures: {options.out / 'see.json'}")
    return int(any(figure.seconds > figure.limit for figure in figures))


def measure(repeats: int, sizes: Sizes) -> list[Figure]:
    """Everything that has a limit."""
    figures = []

    def add(what: str, root: Any, job: Callable[[], object], limit: float) -> None:
        figures.append(Figure(what, sum(1 for _ in walk.topological(root)), best(job, repeats), limit))

    root = tangle(sizes.events, depth=40)
    add("events: record()", root, lambda: walk.record(root).events, 1.0)
    small = network(list(sizes.small), 1)
    add("draw: a network", small, lambda: draw(small).svg, 0.3)
    knot = tangle(len(list(walk.topological(small))), depth=40)
    add("draw: a tangle", knot, lambda: draw(knot).svg, 0.3)
    large = network([16, 16, 1], sizes.large)
    add("draw: a network", large, lambda: draw(large).svg, 5.0)
    snarl = tangle(sizes.random, depth=200)
    add("draw: a tangle", snarl, lambda: draw(snarl, max_nodes=5_000).svg, 5.0)
    model = nn.MLP(2, [16, 16, 1])
    batch = nn.mse([model([0.5, -0.5]) for _ in range(10 * sizes.large)], [1.0] * 10 * sizes.large)
    add("draw: by layer", batch, lambda: draw(batch, model=model, depth="layers").svg, 5.0)
    text = gpt_name(gradwalk_engine(), sizes.letters).loss()
    add("spy: a GPT, as SVG", text, lambda: spy(text).svg, 5.0)
    add("spy: a GPT, as PNG", text, lambda: spy(text).pipe("png"), 5.0)
    huge = Value(1.0)
    for _ in range(sizes.huge):
        huge = -huge
    add("draw: refused", huge, lambda: refused(huge), 1.0)
    return figures


def best(job: Callable[[], object], repeats: int) -> float:
    """The least seconds that a job took."""
    least = math.inf
    for _ in range(repeats):
        gc.collect()
        began = time.perf_counter()
        job()
        least = min(least, time.perf_counter() - began)
    return least


def step_time(repeats: int, sizes: Sizes) -> float:
    """Seconds for one step of the moons demo, forward and backward: what must not become slower."""
    return best(moons(gradwalk_engine(), samples=100 if sizes.huge > QUICK.huge else 5).step, 2 * repeats)


def refused(root: Value) -> None:
    """Ask for a drawing that cannot be."""
    try:
        draw(root)
    except GraphError:
        return
    raise AssertionError("a graph that is too large was drawn")


def network(sizes: list[int], samples: int) -> Value:
    """The loss of a network, walked."""
    random.seed(1)
    model = nn.MLP(3, sizes, activation="tanh")
    inputs = [[Value(random.uniform(-1, 1)) for _ in range(3)] for _ in range(samples)]
    loss = nn.mse([model(x) for x in inputs], [1.0] * samples)
    loss.backward()
    return loss


def tangle(nodes: int, depth: int) -> Value:
    """A random graph in which everything may read everything before it: the hardest kind to draw."""
    choose = random.Random(1)
    values = [Value(choose.uniform(-1, 1)) for _ in range(8)]
    unread = set(values)
    while len(values) + len(unread) < nodes:
        read = [choose.choice(values[-depth:]), choose.choice(values)][: choose.choice((1, 2, 2, 2))]
        values.append(read[0] * read[1] if len(read) == 2 else read[0].tanh())
        unread.difference_update(read)
        unread.add(values[-1])
    ends = [value for value in values if value in unread]
    while len(ends) > 1:  # in pairs, so that the graph does not become a long chain
        ends = [ends[i] + ends[i + 1] if i + 1 < len(ends) else ends[i] for i in range(0, len(ends), 2)]
    ends[0].backward()
    return ends[0]


def show(figures: list[Figure], before: float, after: float, console: Console) -> None:
    """One small table, and a line about the engine."""
    table = Table(title="Seeing a graph", title_justify="left")
    for column in ("what", "nodes", "seconds", "limit"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for figure in figures:
        table.add_row(figure.what, f"{figure.nodes:,}", f"{figure.seconds:.3f}", f"{figure.limit:g}")
    console.print(table)
    console.print(f"A moons step before and after all this: {before * 1e3:.1f} ms, {after * 1e3:.1f} ms")


if __name__ == "__main__":
    raise SystemExit(main())
