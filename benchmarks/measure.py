"""Timing and weighing: peers take turns in one run, and the best of the repeats counts."""

from __future__ import annotations

import gc
import math
import platform
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from workloads import Job

from gradwalk import walk


def interleaved(
    jobs: list[Job], repeats: int, *, collector: bool, tick: Callable[[], None], steps: int = 1
) -> list[float]:
    """The least seconds each job took for a step, taking turns, the garbage collector on or off for all of them.

    A turn is so many steps in a row. It begins with nothing left to collect; what its steps leave is collected within
    it only as far as Python does so by itself.
    """
    best = [math.inf] * len(jobs)
    try:
        for _ in range(repeats):
            for i, job in enumerate(jobs):
                gc.enable()
                gc.collect()
                if not collector:
                    gc.disable()
                began = time.perf_counter()
                for _ in range(steps):
                    job.step()
                best[i] = min(best[i], (time.perf_counter() - began) / steps)
                tick()
    finally:
        gc.enable()
    return best


def check_that_they_agree(jobs: list[Job]) -> None:
    """Raise unless every engine computes the same loss and the same gradients: else a ratio would mean nothing."""
    first, *others = jobs
    loss, gradients = first.step()
    for other in others:
        names = f"{first.engine.name} and {other.engine.name}"
        other_loss, other_gradients = other.step()
        if not math.isclose(loss, other_loss, rel_tol=1e-10):
            raise AssertionError(f"{names} differ in the loss: {loss!r}, {other_loss!r}")
        for i, (x, y) in enumerate(zip(gradients, other_gradients, strict=True)):
            if not math.isclose(x, y, rel_tol=1e-8, abs_tol=1e-12):
                raise AssertionError(f"{names} differ in gradient {i}: {x!r}, {y!r}")


def bytes_a_node(job: Job) -> tuple[int, float, float]:
    """How many nodes a graph has, and the bytes each takes while it is held: once built, and once walked."""
    gc.collect()
    tracemalloc.start()
    try:
        empty = tracemalloc.get_traced_memory()[0]
        root = job.loss()
        gc.collect()
        built = tracemalloc.get_traced_memory()[0] - empty
        root.backward()
        gc.collect()
        walked = tracemalloc.get_traced_memory()[0] - empty
    finally:
        tracemalloc.stop()
    nodes = sum(1 for _ in walk.topological(root))
    return nodes, built / nodes, walked / nodes


def machine() -> dict[str, str]:
    """Where the figures come from."""
    processor = platform.processor() or platform.machine()
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        lines = listing.read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = f"{names[0]}, {len(names)} cores" if names else processor
    return {"python": platform.python_version(), "system": platform.system(), "processor": processor}
