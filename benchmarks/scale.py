"""What it costs to scale out: start, cost of a job, and how much two workers gain, for each engine that jobs run on.

    python benchmarks/scale.py [--out FOLDER]

A training is the moons demo with 500 compiled steps (2-16-16-1 network, 100 points, Adam), from a seed of its own; the
kernels are in the cache before anything is timed. `loop` is a plain `for` over the settings in this process. Times are
wall-clock and include the sending of jobs and results, not the start of workers, which has a column of its own: the
first trivial job of a fresh engine. The cost of a job is that of a trivial one, over many, with workers that are warm.
An engine pays from so many trainings on: its start, divided by what it saves for each of them. What is kept costs as
much as a trivial job with `keep=` takes more than one without. `two loops` is what the machine itself allows: the
same `for`, over one half of the settings each, in two plain processes of Python's, with nothing of `parallel` in them.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))  # what measure.py's neighbours import

from measure import machine

import gradwalk
from gradwalk import datasets, nn, optim, parallel

TRAININGS, STEPS, WORKERS = 64, 500, 2


def training(setting: dict[str, Any]) -> float:
    """One whole training: what a job should be."""
    X, y = datasets.moons(n=100, seed=1)
    model = nn.MLP(2, [16, 16, 1])
    loss = gradwalk.compile(lambda X: nn.hinge([model(x) for x in X], y))
    descent = optim.Adam(model.parameters(), lr=setting["lr"])
    value: Any = None
    for _ in range(STEPS):
        value = loss(X)
        descent.zero_grad()
        value.backward()
        descent.step()
    return float(value.data)


def trivial(x: int) -> int:
    """A job that costs nothing but the sending."""
    return x


def seconds(work: Callable[[], Any]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def loop(settings: Sequence[dict[str, Any]]) -> list[float]:
    """What one would write without `parallel.map`."""
    results = []
    for setting in settings:
        random.seed(1)
        results.append(training(setting))
    return results


def main() -> None:
    """Measure each engine, print a table, and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--engines", nargs="+", default=["processes", "dask", "ray"])
    options = parser.parse_args()
    settings = [{"lr": 0.01 * (1 + i / TRAININGS)} for i in range(TRAININGS)]
    training(settings[0])  # kernels into the cache
    figures: dict[str, Any] = {"machine": machine(), "trainings": TRAININGS, "steps": STEPS, "workers": WORKERS}
    times: dict[str, list[float]] = {
        "loop": [],
        "one worker": [],
        "two loops": [],
        **{engine: [] for engine in options.engines},
    }
    starts: dict[str, float] = {}
    costs: dict[str, float] = {}
    connections: dict[str, Any] = {}
    for engine in options.engines:
        connections[engine] = begun = _connected(engine)
        starts[engine] = begun[1] + seconds(partial(_map, engine, trivial, [0]))
        costs[engine] = min(seconds(partial(_map, engine, trivial, range(200))) / 200 for _ in range(3))
    costs["one worker"] = min(seconds(lambda: parallel.map(trivial, range(200), workers=1)) / 200 for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        places = [f"{folder}/{i}" for i in range(3)]
        kept = min(seconds(partial(parallel.map, trivial, range(200), workers=1, keep=x)) / 200 for x in places)
    figures["kept_ms"] = 1e3 * (kept - costs["one worker"])
    bare = multiprocessing.get_context("spawn").Pool(WORKERS)
    halves = [settings[i::WORKERS] for i in range(WORKERS)]
    bare.map(loop, halves, chunksize=1)  # warm, as the other engines are
    for _ in range(options.repeats):  # interleaved, so that a busy moment hits all alike
        times["loop"].append(seconds(lambda: loop(settings)))
        times["one worker"].append(seconds(lambda: parallel.map(training, settings, workers=1)))
        times["two loops"].append(seconds(lambda: bare.map(loop, halves, chunksize=1)))
        for engine in options.engines:
            times[engine].append(seconds(partial(_map, engine, training, settings)))
    bare.terminate()
    base = min(times["one worker"])
    figures["training_s"] = base / TRAININGS
    print(f"{TRAININGS} trainings of {STEPS} compiled steps, {WORKERS} workers")
    rows = {}
    for name, found in times.items():
        saved = (base - min(found)) / TRAININGS
        rows[name] = row = {
            "start_s": starts.get(name, 0.0), "job_ms": 1e3 * costs.get(name, 0.0), "trainings_s": min(found),
            "gain": base / min(found),
            "pays_from": math.ceil(starts[name] / saved) if name in starts and saved > 0 else None,
        }  # fmt: skip
        print(f"{name:<11} start {row['start_s']:5.2f} s   a job {row['job_ms']:6.3f} ms   "
              f"all {row['trainings_s']:6.2f} s   {row['gain']:4.2f} times one worker"
              + (f"   pays from {row['pays_from']} trainings" if row["pays_from"] else ""))  # fmt: skip
    print(f"keeping a result: {figures['kept_ms']:.2f} ms; a training: {1e3 * figures['training_s']:.0f} ms")
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "scale.json").write_text(json.dumps({**figures, "rows": rows}, indent=1) + "\n")
    for client, _ in connections.values():
        if client is not None:
            client()


def _connected(engine: str) -> tuple[Any, float]:
    """An engine that is up for the whole benchmark, how to end it, and how long it took to start."""
    began = time.perf_counter()
    if engine == "dask":
        client = import_module("distributed").Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
        return client.close, time.perf_counter() - began
    if engine == "ray":
        ray: Any = import_module("ray")
        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        return ray.shutdown, time.perf_counter() - began
    return None, 0.0


def _map(engine: str, work: Callable[[Any], Any], settings: Sequence[Any]) -> list[Any]:
    return parallel.map(work, settings, backend=engine, workers=WORKERS, progress=False)


if __name__ == "__main__":
    main()
