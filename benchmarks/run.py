"""Speed and memory of the eager engine against its peers: `make bench`.

Peers take turns in one process and the best of the repeats counts, so that a busy machine slows all of them alike.
micrograd is measured before PyTorch is even imported: the objects PyTorch brings along make every full garbage
collection dearer, and micrograd, whose nodes are reference cycles, lives off those.

With the collector on, a turn is five steps in a row, as in a training, where the nodes of one step are collected while
the next ones are made; and, in a row of its own, a single step right after a full collection, whose nodes are left to a
collection that nobody times. With it off, a turn is a single step.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))  # W2 is the GPT of the examples

from measure import bytes_a_node, check_that_they_agree, interleaved, machine
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from workloads import Engine, Job, chain, gpt_name, gradwalk_engine, micrograd_engine, moons, torch_engine

WORKLOADS: dict[str, Callable[[Engine], Job]] = {"W1 moons step": moons, "W2 GPT step": gpt_name}
CHAINS = (10_000, 100_000, 1_000_000)
#: How many steps a turn has, and whether the collector is on.
TURNS = ((5, True), (1, True), (1, False))

QUICK_WORKLOADS: dict[str, Callable[[Engine], Job]] = {
    "W1 with 5 samples": partial(moons, samples=5),
    "W2 with 1 letter": partial(gpt_name, letters=1),
}
QUICK_CHAINS = (100, 1_000, 10_000)


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write figures and plot to a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("out/bench"), help="where JSON and plot go (default out/bench)"
    )
    parser.add_argument("--repeats", type=int, default=10, help="turns for each peer (default 10)")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, to see that it runs; the figures mean nothing"
    )
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {options.repeats}")

    sys.setrecursionlimit(1_000_000)  # for micrograd, whose walk recurses; ours does not
    console = Console()
    figures = measure(options.repeats, options.quick, console)
    show(figures, console)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "eager.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    console.print(f"Figures: {options.out / 'eager.json'}")
    if importlib.util.find_spec("matplotlib"):
        plot(figures, options.out / "eager.png")
        console.print(f"Plot:    {options.out / 'eager.png'}")
    return 0


def measure(repeats: int, quick: bool, console: Console) -> dict[str, Any]:
    """All figures, as they go into the JSON file."""
    workloads, chains = (QUICK_WORKLOADS, QUICK_CHAINS) if quick else (WORKLOADS, CHAINS)
    figures: dict[str, Any] = {"machine": machine(), "repeats": repeats, "times": [], "memory": [], "chain": []}
    have_torch = importlib.util.find_spec("torch") is not None
    turns = repeats * 2 * len(TURNS) * len(workloads) + (3 * 2 * len(workloads) if have_torch else 0)
    with progress(console, turns + len(chains) * 3) as tick:
        for name, workload in workloads.items():
            figures["times"] += against(name, workload, micrograd_engine(), repeats, tick, TURNS)
            for engine in (gradwalk_engine(), micrograd_engine()):
                nodes, built, walked = bytes_a_node(workload(engine))
                figures["memory"].append(
                    {"workload": name, "engine": engine.name, "nodes": nodes, "built": built, "walked": walked}
                )
        for length in chains:
            (seconds,) = interleaved([chain(gradwalk_engine(), length)], 3, collector=True, tick=tick)
            figures["chain"].append({"length": length, "microseconds_a_node": seconds / length * 1e6})
        if have_torch:
            for name, workload in workloads.items():
                figures["times"] += against(name, workload, torch_engine(), 3, tick, ((1, True),))
    return figures


def against(
    name: str,
    workload: Callable[[Engine], Job],
    peer: Engine,
    repeats: int,
    tick: Callable[[], None],
    kinds: tuple[tuple[int, bool], ...],
) -> list[dict[str, Any]]:
    """One workload on our engine and a peer's, a row for each kind of turn: how many steps, the collector on or off."""
    jobs = [workload(gradwalk_engine()), workload(peer)]
    check_that_they_agree(jobs)
    rows = []
    for steps, on in kinds:
        ours, theirs = interleaved(jobs, repeats, collector=on, tick=tick, steps=steps)
        what = name if steps == 1 else f"{name} of {steps} in a row"
        rows.append(
            {"workload": what, "peer": peer.name, "collector": on, "ms": ours * 1e3, "peer_ms": theirs * 1e3,
             "ratio": theirs / ours}
        )  # fmt: skip
    return rows


@contextmanager
def progress(console: Console, total: int) -> Iterator[Callable[[], None]]:
    """A bar that moves on by one for each call."""
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("measuring", total=total)
        yield lambda: bar.advance(task)


def show(figures: dict[str, Any], console: Console) -> None:
    """Three small tables."""
    table = Table(title="Forward + backward, collector on or off for both", title_justify="left")
    for column, justify in (("workload", "left"), ("peer", "left"), ("collector", "left"), ("its ms", "right"),
                            ("our ms", "right"), ("faster", "right")):  # fmt: skip
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for row in figures["times"]:
        state = "on" if row["collector"] else "off"
        numbers = f"{row['peer_ms']:.1f}", f"{row['ms']:.1f}", f"{row['ratio']:.1f}×"
        table.add_row(row["workload"], row["peer"], state, *numbers)
    console.print(table)

    table = Table(title="Bytes a node, graph held", title_justify="left")
    for column in ("workload", "engine", "nodes", "built", "walked"):
        table.add_column(column, justify="left" if column in ("workload", "engine") else "right")
    for row in figures["memory"]:
        table.add_row(
            row["workload"], row["engine"], f"{row['nodes']:,}", f"{row['built']:.0f}", f"{row['walked']:.0f}"
        )
    console.print(table)

    table = Table(title="A chain of products, forward + backward, collector on", title_justify="left")
    table.add_column("nodes", justify="right")
    table.add_column("µs a node", justify="right")
    for row in figures["chain"]:
        table.add_row(f"{row['length']:,}", f"{row['microseconds_a_node']:.2f}")
    console.print(table)


def plot(figures: dict[str, Any], path: Path) -> None:
    """Ratios as bars, and the chain's cost against its length."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    FigureCanvasAgg(figure)
    bars, line = figure.subplots(1, 2, width_ratios=(3, 2))
    labels = [
        f"{row['workload']}\nvs {row['peer']}\ncollector {'on' if row['collector'] else 'off'}"
        for row in figures["times"]
    ]
    drawn = bars.barh(labels, [row["ratio"] for row in figures["times"]], color="#1A5C9E")
    bars.bar_label(drawn, fmt="%.1f×", padding=4)
    bars.set_title("times faster, forward + backward", loc="left")
    bars.margins(x=0.15)
    bars.invert_yaxis()
    bars.tick_params(labelsize=8)
    lengths = [row["length"] for row in figures["chain"]]
    line.loglog(
        lengths, [row["length"] * row["microseconds_a_node"] / 1e6 for row in figures["chain"]], "o-", color="#1A5C9E"
    )
    line.set_title("a chain: seconds against nodes", loc="left")
    line.grid(alpha=0.3)
    for axes in (bars, line):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    raise SystemExit(main())
