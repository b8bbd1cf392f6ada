"""Speed, as a courtesy: how long an engine takes, beside the teaching engine. Nothing depends on it."""

from __future__ import annotations

import time

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.checks import CHECKS
from gradwalk.diagnose.museum.faults import engine_with
from gradwalk.diagnose.trial import Trial

__all__: list[str] = []

NODES = 1000


def speed_notes(trial: Trial) -> tuple[str, ...]:
    """A note on the time that an engine takes for a chain of additions; nothing for one that gets them wrong."""
    if any(trial.judge(CHECKS[name]).status != "passed" for name in ("chain-add", "deep")):
        return ()
    ours, theirs = _microseconds(engine_with(())), _microseconds(trial.engine)
    return (f"an addition and its way back take {theirs:.2g} µs; the teaching engine takes {ours:.2g} µs",)


def _microseconds(engine: Engine) -> float:
    """For one addition and its share of the walk, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        nodes = [engine.leaf(1.0)]
        for _ in range(NODES):
            nodes.append(engine.op("add", nodes[-1], nodes[0]))
        engine.backward(nodes[-1])
        best = min(best, time.perf_counter() - start)
        while nodes:  # newest first, which takes no deep stack
            nodes.pop()
    return best / NODES * 1e6
