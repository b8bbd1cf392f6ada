"""What should have arrived at a node, contribution by contribution, and what became of each."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Literal

from gradwalk import walk
from gradwalk.diagnose.probes import Probe
from gradwalk.engine import Value
from gradwalk.learn.page.answer import Contribution, LedgerShown, seven
from gradwalk.matcher import same

__all__ = ["ledger"]


def ledger(check: Probe, name: str, got: float, right: float) -> LedgerShown | None:
    """The ledger of one gradient of a check that came out wrong, where the wrong number is a part of the right sum.

    >>> check = on("b = a + 1; c = a * 3; d = b * c", "a.grad", a=2)
    >>> [(part["value"], part["source"], part["state"]) for part in ledger(check, "a.grad", 9.0, 15.0)["parts"]]
    [(9.0, 'c', 'kept'), (6.0, 'b', 'lost')]
    """
    found = _contributions(check, name)
    if len(found) < 2 or not same(sum(value for value, _ in found), right):
        return None
    values = [value for value, _ in found]
    kept = _kept(values, got)
    if kept is None:
        return None
    gone: Literal["replaced", "lost"] = "replaced" if kept == {len(values) - 1} else "lost"
    parts = [
        Contribution(value=value, source=source, state="kept" if i in kept else gone)
        for i, (value, source) in enumerate(found)
    ]
    return LedgerShown(name=name, parts=parts, got=seven(got), expected=seven(right))


def _contributions(check: Probe, name: str) -> list[tuple[float, str]]:
    """What arrives at the node that `name` speaks of, in the order of the engine's own walk."""
    node, _, attribute = name.partition(".")
    if attribute != "grad" or not check.text.endswith(".backward()"):
        return []
    names: dict[str, Any] = {"Value": Value}
    exec(check.text, names)
    for each, value in names.items():
        if isinstance(value, Value):
            value.label = each
    root = names[check.text.splitlines()[-1].removesuffix(".backward()")]
    recording = walk.record(root)
    shown = {info.id: info.name for info in recording.graph.nodes}
    return [
        (event.contribution, shown[event.node])
        for event in recording.events
        if isinstance(event, walk.Push) and shown[event.operand] == node
    ]


def _kept(values: list[float], got: float) -> set[int] | None:
    """Which contributions add up to `got`: the last alone if that will do, else as many as possible."""
    if same(values[-1], got):
        return {len(values) - 1}
    for count in range(len(values) - 1, 0, -1):
        for chosen in combinations(range(len(values)), count):
            if same(sum(values[i] for i in chosen), got):
                return set(chosen)
    return None
