"""Speed of the compiled path against its peers: `python benchmarks/compiled.py`.

All peers of a row take turns in one process, pinned to one core and one thread, warm, and the best of the repeats
counts. What is timed is what a user writes: our steps include the Python loop, the call with its arguments, clearing
the gradients and `backward()`; with Adam where the row says so. JAX is given arrays that are on the device already and
one compiled function for loss and gradients; PyTorch whole tensors; CasADi the whole graph in one call of its virtual
machine; C is benchmarks/gpt.c, one call a step, with -O3 and once more with -Ofast, which may reorder its sums.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))  # the GPT of the examples

import gpt
import numpy as np
import peers
import places
from contest import Figure, against, rows_of, shown, table_of
from measure import machine
from peers import Peer, Training
from rich.console import Console
from rich.table import Table
from workloads import micrograd_engine, moons

import gradwalk
from gradwalk import nn, optim


@dataclass
class Report:
    """Everything that was measured."""

    figures: list[Figure] = field(default_factory=list)
    limits: list[dict[str, Any]] = field(default_factory=list)  # times that have a limit of their own
    growth: list[dict[str, float]] = field(default_factory=list)  # cost against size
    small: list[Figure] = field(default_factory=list)  # programs in which Python around the native code counts most
    places: list[dict[str, Any]] = field(default_factory=list)  # places that were slow once, with their limits


# --- W1 --------------------------------------------------------------------------------------------------------------


def network(sizes: tuple[int, ...] = peers.SIZES) -> tuple[Any, peers.Floats]:
    """A 2-16-16-1 network, and its parameters as the peers want them: weights of a layer, then its biases."""
    random.seed(1)
    model = nn.MLP(sizes[0], list(sizes[1:]), activation="relu")
    flat: list[float] = []
    for layer in model.layers:
        flat += [w.data for neuron in layer.neurons for w in neuron.w]
        flat += [neuron.b.data for neuron in layer.neurons]
    return model, np.array(flat)


def points(samples: int) -> tuple[peers.Floats, peers.Floats]:
    """Inputs and labels."""
    draw = np.random.default_rng(1)
    return draw.uniform(-1, 1, (samples, 2)), draw.choice([-1.0, 1.0], samples)


def our_moons(
    samples: int, sizes: tuple[int, ...] = peers.SIZES
) -> tuple[Peer, peers.Floats, peers.Floats, peers.Floats]:
    """W1 as a user writes it, compiled."""
    model, parameters = network(sizes)
    X, y = points(samples)

    @gradwalk.compile
    def loss(X: Any, y: Any) -> Any:
        margins = [(1 - label * model(point)).relu() for point, label in zip(X, y, strict=True)]
        return sum(margins) * (1.0 / len(y)) + peers.PENALTY * sum(p * p for p in model.parameters())

    def step() -> float:
        total = loss(X, y)
        model.zero_grad()
        total.backward()
        return total.data  # type: ignore[no-any-return]

    return Peer("gradwalk", step), parameters, X, y


def micrograd_moons() -> Peer:
    """W1 as micrograd runs it: a network of the same size on as many samples, other random numbers."""
    job = moons(micrograd_engine())
    return Peer("micrograd", lambda: job.step()[0])


def single_graph(repeats: int) -> list[Figure]:
    """W1 as one graph of 65,000 operations."""
    ours, parameters, X, y = our_moons(100)
    others = [
        (peers.torch_moons(parameters, X, y), 20.0),
        (peers.jax_moons(parameters, X, y), 4.0),
        (peers.casadi_moons(parameters, X, y), 20.0),
    ]
    figures = against("W1 step", ours, others, repeats)
    slow = micrograd_moons()
    times = [_seconds(slow.step) for _ in range(max(2, min(repeats, 4)))]
    figures.insert(0, Figure("W1 step", "micrograd", figures[0].seconds, min(times), 30_000.0))
    return figures


def _seconds(job: Callable[[], Any]) -> float:
    began = time.perf_counter()
    job()
    return time.perf_counter() - began


def batches(sizes: tuple[int, ...], repeats: int) -> list[Figure]:
    """W1 on a batch: the function of one sample, many at once."""
    figures = []
    asked = {100: (3.0, 20.0), 10_000: (1.2, 2.5), 100_000: (1.5, 3.0)}
    for dtype in ("float64", "float32"):
        for samples in sizes:
            model, parameters = network()
            X, y = points(samples)

            @gradwalk.compile(batch="mean", dtype=dtype)
            def loss(point: Any, label: Any, model: Any = model) -> Any:
                penalty = peers.PENALTY * sum(p * p for p in model.parameters())
                return (1 - label * model(point)).relu() + penalty

            def step(model: Any = model, loss: Any = loss, X: Any = X, y: Any = y) -> float:
                total = loss(X, y)
                model.zero_grad()
                total.backward()
                return total.data  # type: ignore[no-any-return]

            small = "" if dtype == "float64" else " 32"
            others = [peers.jax_moons(parameters, X, y, dtype), peers.torch_moons(parameters, X, y, dtype)]
            targets = asked.get(samples, (0.0, 0.0)) if dtype == "float64" else (0.0, 0.0)
            renamed = [Peer(peer.name + small, peer.step) for peer in others]
            what = f"W1, batch of {samples:,}, {dtype}"
            figures += against(what, Peer("gradwalk" + small, step), zip(renamed, targets, strict=True), repeats)
    return figures


# --- the GPT ---------------------------------------------------------------------------------------------------------


def training(steps: int) -> Training:
    """So many documents, one a step."""
    names = gpt.read_names(gpt.NAMES)
    vocabulary = gpt.Vocabulary.of(names)
    documents = [vocabulary.encode(name) for name in names]
    random.Random(1).shuffle(documents)
    parameters = gpt.make_parameters(gpt.Config(len(vocabulary)), 1)
    chosen = [documents[i % len(documents)] for i in range(steps)]
    return Training(np.array([p.data for p in parameters.flat()]), chosen, vocabulary=len(vocabulary))


def our_gpt(given: Training, *, compiled: bool) -> peers.Train:
    """The ordinary training loop of the examples, on the compiled loss or on the plain one."""
    parameters = gpt.make_parameters(gpt.Config(given.vocabulary), 1)
    flat = parameters.flat()
    loss = gradwalk.compile(gpt.loss) if compiled else gpt.loss

    def train() -> tuple[list[float], float]:
        for p, x in zip(flat, given.parameters.tolist(), strict=True):
            p.data = x
        adam = optim.Adam(flat, given.lr, betas=given.betas)
        losses = []
        loss(parameters, given.documents[0])  # the new numbers move into the buffer, as the peers' arrays are made
        began = time.perf_counter()
        for step, document in enumerate(given.documents):
            adam.lr = given.rate(step)
            surprise = loss(parameters, document)
            adam.zero_grad()
            surprise.backward()
            adam.step()
            losses.append(surprise.data)
        return losses, time.perf_counter() - began

    return train


def trainings(steps: int, repeats: int) -> list[Figure]:
    """Whole trainings, one document a step, with Adam."""
    given = training(steps)
    ours = our_gpt(given, compiled=True)
    entrants: dict[str, peers.Train] = {"gradwalk": ours, "JAX jit": peers.jax_gpt(given)}
    entrants["torch"] = peers.torch_gpt(given)
    for level in ("-O3", "-Ofast"):
        in_c = peers.c_gpt(given, level)
        if in_c is not None:
            entrants[f"C, {level}"] = in_c
    best = dict.fromkeys(entrants, math.inf)
    reference, _ = ours()
    for turn in range(repeats + 1):  # the first turn warms up
        for name, train in entrants.items():
            if name == "torch" and turn > 2:
                continue
            losses, seconds = train()
            if turn:
                best[name] = min(best[name], seconds)
            worst = max(abs(a - b) / b for a, b in zip(losses, reference, strict=True))
            if worst > 1e-6:
                raise AssertionError(f"the losses of {name} differ from ours by {worst:.1e}")
    few = Training(given.parameters, given.documents[: min(steps, 10)], vocabulary=given.vocabulary)
    eager = our_gpt(few, compiled=False)
    eager_seconds = min(eager()[1] for _ in range(2)) / len(few.documents) * steps
    asked = {"JAX jit": 3.0, "torch": 25.0, "C, -O3": 1.0, "C, -Ofast": 0.0}
    what = f"GPT, {steps:,} steps with Adam"
    figures = [Figure(what, name, best["gradwalk"], best[name], asked[name]) for name in entrants if name in asked]
    return [Figure(what, "gradwalk eager", best["gradwalk"], eager_seconds, 1_500.0), *figures]


def gpt_batch(repeats: int) -> list[Figure]:
    """64 documents of seven letters at once, with Adam."""
    figures = []
    given = training(1)
    draw = random.Random(2)
    boundary = given.vocabulary - 1
    documents = [[boundary, *(draw.randrange(boundary) for _ in range(7)), boundary] for _ in range(64)]
    for dtype in ("float64", "float32"):
        parameters = gpt.make_parameters(gpt.Config(given.vocabulary), 1)
        flat = parameters.flat()
        for p, x in zip(flat, given.parameters.tolist(), strict=True):
            p.data = x

        @gradwalk.compile(batch="mean", dtype=dtype)
        def loss(tokens: Any, parameters: Any = parameters) -> Any:
            return gpt.loss(parameters, tokens)

        adam = optim.Adam(flat, 0.0, betas=given.betas)
        tokens = np.array(documents)

        def step(loss: Any = loss, adam: Any = adam, tokens: Any = tokens) -> float:
            surprise = loss(tokens)
            adam.zero_grad()
            surprise.backward()
            adam.step()
            return surprise.data  # type: ignore[no-any-return]

        small = "" if dtype == "float64" else " 32"
        peer = peers.jax_gpt_batch(given, documents, dtype)
        asked = 1.5 if dtype == "float64" else 0.0
        what = f"GPT, batch of 64, Adam, {dtype}"
        figures += against(what, Peer("gradwalk" + small, step), [(Peer(peer.name + small, peer.step), asked)], repeats)
    return figures


# --- latency and growth ----------------------------------------------------------------------------------------------

START = """
import random, time
began = time.perf_counter()
import gradwalk
from gradwalk import nn
random.seed(1)
model = nn.MLP(2, [16, 16, 1], activation="relu")
X = [[random.random(), random.random()] for _ in range(100)]

@gradwalk.compile
def loss(X):
    return sum((1 - model(x)).relu() for x in X)

total = loss(X)
total.backward()
print(time.perf_counter() - began)
"""


def latency(repeats: int) -> list[dict[str, Any]]:
    """What has to be waited for: tracing and analysis of 60,000 operations, and the first step of a new process."""
    model, _ = network()
    X, y = points(100)

    def loss(X: Any, y: Any) -> Any:
        return sum((1 - label * model(point)).relu() for point, label in zip(X, y, strict=True))

    best = math.inf
    for _ in range(repeats):
        compiled = gradwalk.compile(loss)
        best = min(best, _seconds(lambda compiled=compiled: compiled(X, y)))  # type: ignore[misc]
    limits = [{"what": "first call of W1: trace, analysis, bind", "seconds": best, "limit": 0.060}]
    warm = min(_started({}) for _ in range(max(3, repeats // 2)))
    with tempfile.TemporaryDirectory() as empty:
        cold = _started({"GRADWALK_CACHE": empty})
    return [
        *limits,
        {"what": "process start to first native step, exit included", "seconds": warm, "limit": 1.0},
        {"what": "the same with no kernel compiled yet", "seconds": cold, "limit": None},
    ]


def _started(settings: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", START], check=True, capture_output=True, env={**os.environ, **settings})
    return time.perf_counter() - began


def growth(sizes: Iterable[int]) -> list[dict[str, float]]:
    """Trace, analysis and replay of W1 on more and more samples; and a chain, which has no structure at all."""
    rows = []
    wanted = list(sizes)
    for nodes in [wanted[0], *wanted]:  # once for nothing: what is loaded only once belongs to no size
        samples = max(1, nodes // 650)
        model, _ = network()
        X, y = points(samples)

        @gradwalk.compile
        def loss(X: Any, y: Any, model: Any = model) -> Any:
            return sum((1 - label * model(point)).relu() for point, label in zip(X, y, strict=True))

        first = _seconds(lambda: loss(X, y))  # noqa: B023
        trace = loss.traces()[0]
        analysis = trace.prepared.timings["analysis"]

        def step() -> None:
            loss(X, y).backward()  # noqa: B023

        replay = min(_seconds(step) for _ in range(5))
        rows.append(
            {"nodes": trace.prepared.tape.rows, "trace": first - analysis, "analysis": analysis, "replay": replay}
        )
    return rows[1:]


def flat_cost(length: int, repeats: int) -> dict[str, Any]:
    """What a node costs in a graph without structure: a chain, forward and back."""
    factor = gradwalk.Value(1.0)

    @gradwalk.compile
    def chain(x: Any) -> Any:
        for _ in range(length // 2):
            x = x * factor + 1e-9
        return x

    chain(1.0).backward()
    seconds = min(_seconds(lambda: chain(1.0).backward()) for _ in range(10 * repeats))
    return {"what": "a node of a chain, forward and back", "seconds": seconds / length, "limit": 13.5e-9}


def small_figures(repeats: int) -> list[Figure]:
    """A small network on few points, and a loop of steps that follow from each other."""
    sizes = (2, 8, 8, 1)
    ours, parameters, X, y = our_moons(60, sizes)
    others = [
        (peers.jax_moons(parameters, X, y, sizes=sizes), 4.0),
        (peers.torch_moons(parameters, X, y, sizes=sizes), 0.0),
    ]
    figures = against("2-8-8-1 on 60 points", ours, others, repeats)
    figures += against("PID, 400 steps", places.our_pid(), [(peers.jax_pid(), 1.5)], repeats)
    return figures + against("RK4, 200 steps", places.our_hunt(), [(peers.jax_hunt(), 1.5)], repeats)


# --- the program -----------------------------------------------------------------------------------------------------


def main(argv: list[str] | None = None) -> int:
    """Measure, print, and write figures and plot to a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path("out/bench"), help="where JSON and plot go (default out/bench)"
    )
    parser.add_argument("--repeats", type=int, default=10, help="turns for each peer (default 10)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs; figures mean nothing")
    parser.add_argument("--only", choices=sorted(PARTS), action="append", help="only this part; may be repeated")
    options = parser.parse_args(argv)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, not {options.repeats}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    sys.setrecursionlimit(1_000_000)  # for micrograd, whose walk recurses; ours does not

    console = Console()
    report = Report()
    for name, part in PARTS.items():
        if not options.only or name in options.only:
            with console.status(f"measuring: {name}"):
                part(report, options.repeats, options.quick)
    show(report, console)
    options.out.mkdir(parents=True, exist_ok=True)
    facts = {"machine": machine(), "repeats": options.repeats, **asdict(report)}
    facts |= {"figures": rows_of(report.figures), "small": rows_of(report.small)}
    path = options.out / "compiled.json"
    path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    console.print(f"Figures: {path}")
    if report.growth:
        plot(report, options.out / "compiled.png")
        console.print(f"Plot:    {options.out / 'compiled.png'}")
    return 0


def _graph(report: Report, repeats: int, quick: bool) -> None:
    report.figures += single_graph(repeats)


def _batches(report: Report, repeats: int, quick: bool) -> None:
    report.figures += batches((100,) if quick else (100, 10_000, 100_000), repeats)


def _training(report: Report, repeats: int, quick: bool) -> None:
    report.figures += trainings(20 if quick else 1_000, max(2, repeats // 2))


def _gpt_batch(report: Report, repeats: int, quick: bool) -> None:
    report.figures += gpt_batch(repeats)


def _latency(report: Report, repeats: int, quick: bool) -> None:
    report.limits += latency(repeats)
    report.limits.append(flat_cost(10_000 if quick else 100_000, repeats))


def _growth(report: Report, repeats: int, quick: bool) -> None:
    report.growth += growth((1_000, 10_000) if quick else (1_000, 10_000, 100_000, 1_000_000, 10_000_000))


def _places(report: Report, repeats: int, quick: bool) -> None:
    report.small += small_figures(repeats)
    report.places += places.costs(repeats, quick)


PARTS: dict[str, Callable[[Report, int, bool], None]] = {
    "latency": _latency,  # first, while the process is small
    "graph": _graph,
    "batches": _batches,
    "training": _training,
    "gpt-batch": _gpt_batch,
    "growth": _growth,
    "places": _places,
}


def show(report: Report, console: Console) -> None:
    """Two or three small tables."""
    figures = [*report.figures, *report.small]
    if figures:
        console.print(table_of(figures, "Compiled: one core, one thread, warm, best of the repeats"))
    table = Table(title="What has to be waited for", title_justify="left")
    for column in ("what", "time", "at most"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in [*report.limits, *report.places]:
        mark = "" if row["limit"] is None or row["seconds"] <= row["limit"] else " [red]missed[/red]"
        table.add_row(row["what"], shown(row["seconds"]), "" if row["limit"] is None else shown(row["limit"]) + mark)
    if report.limits or report.places:
        console.print(table)
    table = Table(title="Cost against size", title_justify="left")
    for column in ("operations", "trace", "analysis", "replay", "replay, each"):
        table.add_column(column, justify="right")
    for row in report.growth:
        times = [shown(row[name]) for name in ("trace", "analysis", "replay")]
        table.add_row(f"{row['nodes']:,.0f}", *times, shown(row["replay"] / row["nodes"]))
    if report.growth:
        console.print(table)


def plot(report: Report, path: Path) -> None:
    """Cost against size, on logarithmic axes: straight lines of slope 1 are linear growth."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    nodes = [row["nodes"] for row in report.growth]
    for name, colour in (("trace", "#1A5C9E"), ("analysis", "#C2571A"), ("replay", "#2E7D4F")):
        axes.loglog(nodes, [row[name] for row in report.growth], "o-", label=name, color=colour)
    axes.set_xlabel("operations in the graph")
    axes.set_ylabel("seconds")
    axes.set_title("moons on more and more samples", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    raise SystemExit(main())
