"""The instrument: what an engine says about each leaf, and what nudging that leaf says about the engine.

A leaf is moved a little up and a little down, the program is run again on the engine itself, and the results are
compared. So the instrument sees a gradient that does not belong to the value, and is blind to a value that is wrong:
that is why the value stands beside it, as plain arithmetic has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from gradwalk.diagnose.adapter import Engine
from gradwalk.diagnose.probes import STEPS, Probe, run
from gradwalk.engine import Value
from gradwalk.learn.page.hunting.recorder import RecordedEngine
from gradwalk.learn.page.hunting.shapes import Instrument, Measured, Stopped
from gradwalk.matcher import Outcome

__all__ = ["Counts", "agree", "checked"]

#: Which walks a leaf's gradient should hold: all since the program last set it to 0, or the last one alone.
Counts = Literal["since zeroed", "last walk"]

STEP = 1e-5
NEAR = 1e-5


def agree(said: float, measured: float) -> bool:
    """Whether a gradient is what was measured, as nearly as a nudge can tell.

    >>> agree(6.0, 6.0000000004), agree(3.0, 6.0)
    (True, False)
    """
    return abs(said - measured) <= NEAR * max(1.0, abs(measured))


class _Nudged(Engine):
    """An engine that moves one leaf, and adds up what is walked back from."""

    def __init__(self, cls: type[Any], namespace: Mapping[str, Any], leaf: int, step: float, counts: Counts) -> None:
        super().__init__(cls, namespace)
        self.at, self.step, self.counts = leaf, step, counts
        self.leaves: list[Any] = []
        self.total = 0.0

    def leaf(self, x: float) -> Any:
        node = super().leaf(x + self.step * max(1.0, abs(x)) if len(self.leaves) == self.at else x)
        self.leaves.append(node)
        return node

    def backward(self, root: Any) -> None:
        before = 0.0 if self.counts == "last walk" else self.total
        self.total = before + self.data(root)

    def set_grad(self, node: Any, x: float) -> None:
        if any(leaf is node and number == self.at for number, leaf in enumerate(self.leaves)):
            self.total = 0.0


def checked(
    program: str,
    cls: type[Any],
    namespace: Mapping[str, Any],
    outcome: Outcome,
    watched: RecordedEngine,
    counts: Counts,
) -> Instrument:  # fmt: skip
    """The instrument's table: the result beside plain arithmetic, and for each leaf what is said and what is measured.

    >>> from gradwalk.learn.page.hunting.recorder import engine_of, watch
    >>> program, engine = "a = Value(3.0); b = a * a; b.backward()", engine_of(museum.find("overwriting").source())
    >>> seen = watch(program, *engine)
    >>> table = checked(program, *engine, seen.outcome, seen.watched, "since zeroed")
    >>> [(row["name"], row["said"], round(row["measured"], 6), row["ok"]) for row in table["leaves"]]
    [('a', 3.0, 6.0, False)]
    """
    if outcome.kind != "numbers":
        return {"value": None, "leaves": [], "stopped": stopped(outcome)}
    leaves = [place for place, operands in enumerate(watched.operands) if not operands]
    rows = []
    for number, place in enumerate(leaves):
        node = watched.made[place]
        x = watched.first[place]
        up, down = (_total(program, cls, namespace, number, sign * STEP, counts) for sign in (1, -1))
        if place not in watched.labels or up is None or down is None:
            continue
        measured = (up - down) / (2 * STEP * max(1.0, abs(x)))
        said = watched.grad(node)
        rows.append(Measured(name=watched.labels[place], said=said, measured=measured, ok=agree(said, measured)))
    return {"value": _value(program, watched), "leaves": rows, "stopped": None}


def stopped(outcome: Outcome) -> Stopped:
    """Why there are no numbers."""
    return Stopped(
        kind=outcome.kind,
        error=outcome.error,
        line=outcome.line,
        steps=outcome.steps or STEPS,
    )


def _total(
    program: str, cls: type[Any], namespace: Mapping[str, Any], leaf: int, step: float, counts: Counts
) -> float | None:
    nudged = _Nudged(cls, namespace, leaf, step, counts)
    return nudged.total if run(Probe("", program, ()), nudged).kind == "numbers" else None


def _value(program: str, watched: RecordedEngine) -> Measured | None:
    """The last node that a walk began from, or else the last that was made; what plain arithmetic gives for it."""
    walked = [place for place in watched.roots if place >= 0]
    place = walked[-1] if walked else len(watched.made) - 1
    if place < 0:
        return None
    ours = RecordedEngine(Value, {})
    run(Probe("", program, ()), ours)
    said, plain = watched.data(watched.made[place]), ours.data(ours.made[place])
    return {"name": watched.labels.get(place, "…"), "said": said, "measured": plain, "ok": agree(said, plain)}
