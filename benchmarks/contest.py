"""Peers take turns at the same work, and the best of the repeats counts; what came out, as rows of a table."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from peers import Peer
from rich.table import Table

#: At least so much time goes into one turn of a peer, so that the clock's grain does not matter.
TURN = 0.02


@dataclass
class Figure:
    """One row: what was timed, our time and the peer's, and how many times faster is asked for; 0 where nothing is."""

    what: str
    peer: str
    seconds: float
    peer_seconds: float
    asked: float

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.peer_seconds / self.seconds


def take_turns(entrants: list[Peer], repeats: int) -> dict[str, float]:
    """The least seconds of a step of each, taking turns; a first step warms up and must agree on the loss."""
    losses = [entrant.step() for entrant in entrants]
    for entrant, loss in zip(entrants, losses, strict=True):
        if not math.isclose(loss, losses[0], rel_tol=1e-4 if "32" in entrant.name else 1e-9):
            raise AssertionError(f"{entrants[0].name} has a loss of {losses[0]!r}, {entrant.name} of {loss!r}")
    counts = []
    for entrant in entrants:
        for _ in range(3):
            began = time.perf_counter()
            entrant.step()
            took = time.perf_counter() - began
        counts.append(max(1, int(TURN / took)))
    best = [math.inf] * len(entrants)
    for _ in range(repeats):
        for i, entrant in enumerate(entrants):
            began = time.perf_counter()
            for _ in range(counts[i]):
                entrant.step()
            best[i] = min(best[i], (time.perf_counter() - began) / counts[i])
    return {entrant.name: seconds for entrant, seconds in zip(entrants, best, strict=True)}


def against(what: str, ours: Peer, others: Iterable[tuple[Peer, float]], repeats: int) -> list[Figure]:
    """A row for each peer."""
    asked = list(others)
    times = take_turns([ours, *(peer for peer, _ in asked)], repeats)
    return [Figure(what, peer.name, times[ours.name], times[peer.name], ratio) for peer, ratio in asked]


def rows_of(figures: list[Figure]) -> list[dict[str, Any]]:
    """Figures as they are kept."""
    return [{**asdict(figure), "ratio": figure.ratio} for figure in figures]


def table_of(figures: list[Figure], title: str) -> Table:
    """Figures as they are shown, with what is asked for."""
    table = Table(title=title, title_justify="left")
    table.add_column("what", no_wrap=True)
    table.add_column("peer", no_wrap=True)
    for column in ("its time", "our time", "faster", "asked for"):
        table.add_column(column, justify="right")
    for f in figures:
        asked = f"{f.asked:,.3g}×{'' if f.ratio >= f.asked else ' [red]missed[/red]'}" if f.asked else ""
        table.add_row(
            f.what,
            f.peer,
            shown(f.peer_seconds),
            shown(f.seconds),
            f"{f.ratio:,.2f}×" if f.ratio < 2 else f"{f.ratio:,.1f}×",
            asked,
        )
    return table


def shown(seconds: float) -> str:
    """A time in the unit that fits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
