"""A long run of mixed use: does memory stay flat, and is nothing left behind?

    python benchmarks/soak.py [--minutes 60] [--out FOLDER]

One process goes round and round: it trains eagerly, trains compiled (a function made anew each round), walks a graph
that is deep, draws and saves pictures, grades somebody's engine in a process of its own, serves the course to eight
browsers, pickles a training, and runs into errors on purpose. After each round the collector runs, the C library gives
back what it holds in reserve, and the memory of the process is read. The end is compared with the time after the start:
the median of the last tenth of the rounds with that of the second tenth. So is the number of blocks that Python has
handed out for small objects, which is nearly the same after every round. Exits with 1 if memory grew by more than 5% or
these blocks by more than 1%, or if a file, an open file, a thread or a process is left.

glibc gives each thread a heap of its own, and never gives back the free end of one, except of the first. Each round
has nine new threads, eight of them the browsers'. Whichever of them happens to move Python's table of interned strings
(2 to 4 MB, every few thousand rounds) leaves that much room behind, and memory grows in steps of that size; it does so
in a program without gradwalk, too. So all threads are given one heap here. What is then measured is still all the
memory that the process has: nothing is left out or subtracted.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import pickle
import random
import sys
import tempfile
import threading
import time
import urllib.request
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import gradwalk
from gradwalk import Value, datasets, draw_dot, nn, optim
from gradwalk.diagnose.sandbox import grade_file
from gradwalk.errors import GradwalkError
from gradwalk.learn.built_site import find_site, site_files
from gradwalk.learn.server import make_server

GROWTH = 1.05
MORE_BLOCKS = 1.01
M_ARENA_MAX = -8  # of glibc's malloc.h
ENGINE = Path(__file__).resolve().parents[1] / "examples" / "versions" / "v09_functions.py"


def main() -> int:
    """Go round until the time is up; print and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    options = parser.parse_args()
    if not options.minutes > 0:
        parser.error("--minutes must be above 0")
    if not sys.platform.startswith("linux"):
        parser.error("what a process holds is read from /proc, which only Linux has")
    options.out.mkdir(parents=True, exist_ok=True)
    if not ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1):
        parser.error("the C library does not keep to one heap")
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = os.environ["TMPDIR"] = folder  # of this process, and of those it starts
        figures = soak(60 * options.minutes, Path(folder), JOBS)
    (options.out / "soak.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps({name: x for name, x in figures.items() if name not in ("memory", "blocks")}, indent=1))
    return int(bool(figures["failures"]))


def soak(seconds: float, folder: Path, jobs: Sequence[Callable[[random.Random, Path], None]]) -> dict[str, Any]:
    """The figures of a run."""
    memory = array("q")  # bytes, after each round; no list, whose ints would be small objects of our own
    blocks = array("q")  # that Python has handed out for small objects
    times: dict[str, float] = {}
    began = time.monotonic()
    draw = random.Random(0)
    before = held()
    trim = ctypes.CDLL(None).malloc_trim
    while time.monotonic() - began < seconds or len(memory) < 20:
        for job in jobs:
            start = time.perf_counter()
            job(draw, folder)
            times[job.__name__] = times.get(job.__name__, 0.0) + time.perf_counter() - start
        gc.collect()
        trim(0)
        memory.append(resident())
        blocks.append(sys.getallocatedblocks())
        if len(memory) == 2:
            before = held()  # what is opened once and kept
        print(f"round {len(memory)}: {memory[-1] / 1e6:.1f} MB, {blocks[-1]} blocks", flush=True)
    tenth = max(1, len(memory) // 10)
    first, last = median(memory[tenth : 2 * tenth]), median(memory[-tenth:])
    first_blocks, last_blocks = median(blocks[tenth : 2 * tenth]), median(blocks[-tenth:])
    after, left = held(), sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    failures = [
        f"{what}: {after[what]}, where there were {before[what]}" for what in after if after[what] > before[what]
    ]
    failures += [f"left behind: {name}" for name in left]
    if last > GROWTH * first:
        failures.append(f"memory grew from {first / 1e6:.1f} to {last / 1e6:.1f} MB")
    if last_blocks > MORE_BLOCKS * first_blocks:
        failures.append(f"blocks of small objects grew from {first_blocks:.0f} to {last_blocks:.0f}")
    return {
        "minutes": (time.monotonic() - began) / 60,
        "rounds": len(memory),
        "seconds_for": times,
        "first_MB": first / 1e6,
        "last_MB": last / 1e6,
        "largest_MB": max(memory) / 1e6,
        "growth": last / first - 1,
        "first_blocks": first_blocks,
        "last_blocks": last_blocks,
        "numba_loaded": "numba" in sys.modules,
        "held": after,
        "failures": failures,
        "python": sys.version.split()[0],
        "memory": memory.tolist(),
        "blocks": blocks.tolist(),
    }


def resident() -> int:
    """The bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def held() -> dict[str, int]:
    """What a process can forget to give back."""
    children = (Path(f"/proc/self/task/{os.getpid()}/children").read_text()).split()
    return {
        "open files": len(os.listdir("/proc/self/fd")),  # noqa: PTH208
        "threads": threading.active_count(),
        "processes": len(children),
    }


# --- what is done in a round ---------------------------------------------------------------------------------------


def train(draw: random.Random, folder: Path) -> None:
    """Some steps on the moons, op by op; the model to a file and back."""
    points, labels = datasets.moons(30, seed=draw.randrange(1000))
    model = nn.MLP(2, [8, 1], activation="tanh")
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.mse([model(x) for x in points], labels)
        loss.backward()
        optimizer.step()
    model.save(folder / "model.json")
    model.load(folder / "model.json")
    (folder / "model.json").unlink()


def train_compiled(draw: random.Random, folder: Path) -> None:
    """The same, compiled: a new function, new parameters, one of a few shapes; and in batches."""
    size = draw.choice((4, 8, 12))
    model = nn.MLP(2, [size, 1], activation="tanh")
    optimizer = optim.SGD(model.parameters(), lr=0.05)

    @gradwalk.compile
    def loss(x: list[float], y: float) -> Any:
        return (model(x) - y) ** 2

    for _ in range(100):
        optimizer.zero_grad()
        loss([draw.uniform(-1, 1), draw.uniform(-1, 1)], 1.0).backward()
        optimizer.step()
    batched = gradwalk.compile(lambda x: x * x + gradwalk.tanh(x), batch="mean")
    batched([draw.uniform(-1, 1) for _ in range(64)]).backward()


def walk_deep(draw: random.Random, folder: Path) -> None:
    """A chain of 50,000 nodes, and gradients of gradients."""
    x = y = Value(draw.uniform(0.5, 1.0))
    for _ in range(25_000):
        y = y * 0.9999 + 1e-5
    y.backward()
    gradwalk.hessian(lambda v: (v[0] * v[1]).exp() + v[0].tanh())([x.data, 0.3])


def see(draw: random.Random, folder: Path) -> None:
    """Drawings, a recording, an explanation, each to a file."""
    a, b = Value(draw.random(), label="a"), Value(2.0, label="b")
    out = (a * b + b).tanh() * a
    drawing = draw_dot(out)
    for ending in ("svg", "png", "html", "dot"):
        path = folder / f"graph.{ending}"
        drawing.save(path)
        path.unlink()
    gradwalk.walk.record(out).to_json()
    gradwalk.explain(out).save(folder / "walk.html")
    (folder / "walk.html").unlink()


def judge(draw: random.Random, folder: Path) -> None:
    """Somebody's engine, in a process of its own; every tenth round, as it takes a second."""
    if draw.random() < 0.1:
        assert grade_file(ENGINE).checks


def serve(draw: random.Random, folder: Path) -> None:
    """The course, to eight browsers at once."""
    site = find_site()
    files = [path.as_posix() for path in site_files(site)]
    with make_server(site, port=0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with ThreadPoolExecutor(8) as browsers:
                wanted = [server.address + name for name in draw.sample(files, 16)]
                assert all(browsers.map(_fetched, wanted))
        finally:
            server.shutdown()
            thread.join()


def _fetched(address: str) -> int:
    with urllib.request.urlopen(address, timeout=30) as answer:  # our own server, on this machine
        size = 0  # piece by piece: the largest file would show in the memory of whoever fetches it, not of the server
        while piece := answer.read(1 << 16):
            size += len(piece)
        return size


def travel(draw: random.Random, folder: Path) -> None:
    """A model with its optimiser and a graph to a pickle and back."""
    model = nn.MLP(3, [4, 1])
    optimizer = optim.Adam(model.parameters())
    loss = model([1.0, 2.0, 3.0])
    loss.backward()
    pickle.loads(pickle.dumps((model, optimizer, loss)))[2].backward()


def fail(draw: random.Random, folder: Path) -> None:
    """Errors, which hold on to nothing either."""

    def broken() -> None:
        raise ZeroDivisionError

    out = Value(1.0, (Value(2.0),), "broken")
    out._backward = broken
    attempts: list[Callable[[], object]] = [
        out.backward,
        lambda: Value("three"),
        lambda: nn.MLP(2, [1]).load(folder / "nothing.json"),
        lambda: gradwalk.program("L = a^2", a=3),
        lambda: pickle.dumps(out),
    ]
    for attempt in attempts:
        try:
            attempt()
        except GradwalkError:
            continue
        raise AssertionError("no error")


JOBS = (train, train_compiled, walk_deep, see, judge, serve, travel, fail)

if __name__ == "__main__":
    sys.exit(main())
