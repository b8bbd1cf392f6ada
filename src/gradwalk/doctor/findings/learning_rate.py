"""A learning rate that overshoots: the loss on the same data rises with a step that, by its gradient, must lower it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from gradwalk.check.nodes import local
from gradwalk.doctor.history import ModelHistory, TriedUpdate
from gradwalk.doctor.report import Finding
from gradwalk.engine import Value
from gradwalk.errors import GradwalkError
from gradwalk.replay import Replay

QUARTERINGS = 20
DIVERGED = 10.0  # times the first loss
JUMP = 2.0  # times the loss before the step
RECENT = 6  # losses that a lasting rise is compared with


def replay_of(order: Sequence[Value]) -> Replay:
    """A graph to be computed again; a node made by hand has to be known by its text.

    >>> w = Value(2.0)
    >>> replay_of([w, w * w])({id(w): 3.0})
    9.0
    """

    def function_of(v: Value) -> Any:
        if v.is_leaf:
            return None, ()
        try:
            return None if v.closure is None else local(v).computed()
        except GradwalkError:
            return None

    return Replay(order, function_of)


def tried(
    replay: Replay,
    step: int,
    before: float,
    parameters: Sequence[Value],
    old: Sequence[float],
    gradients: Sequence[float],
    rate: float | None,
    *,
    search: bool,
) -> TriedUpdate | None:
    """The update that has just been made, tried on the graph it was made for; None if nothing can be said.

    >>> from gradwalk.doctor.order import ordered
    >>> w = Value(1.0)
    >>> replay = replay_of(ordered(w * w))
    >>> w.data -= 3.0 * 2.0
    >>> trial = tried(replay, 1, 1.0, [w], [1.0], [2.0], 3.0, search=True)
    >>> trial.after, trial.overshot, trial.better, trial.then
    (25.0, True, 0.125, 0.0625)
    """
    if replay.unknown is not None:
        return None
    moves = [p.data - x for p, x in zip(parameters, old, strict=True)]
    foretold = sum(g * move for g, move in zip(gradients, moves, strict=True))
    if not math.isfinite(foretold):
        return None
    trial = TriedUpdate(step, before, replay(), foretold, rate or _rate(gradients, moves))
    if not (search and trial.overshot):
        return trial

    def after(share: float) -> float:
        return replay({id(p): x + share * move for p, x, move in zip(parameters, old, moves, strict=True)})

    share = 1.0
    for _ in range(QUARTERINGS):
        share /= 4.0
        then, larger = after(share), after(2.0 * share)
        if then < before + 0.25 * share * foretold:  # at least a quarter of what the slope promises
            if larger < then:
                share, then = 2.0 * share, larger
            return TriedUpdate(step, before, trial.after, foretold, trial.rate, share, then)
    return trial


def _rate(gradients: Sequence[float], moves: Sequence[float]) -> float | None:
    """The learning rate of a plain step, seen from what it did; None if the step was not plain."""
    ratios = [-move / g for g, move in zip(gradients, moves, strict=True) if g and move]
    if not ratios or not all(math.isclose(r, ratios[0], rel_tol=1e-6) for r in ratios):
        return None
    return float(f"{ratios[0]:.6g}") if ratios[0] > 0.0 else None


def overshoot(history: ModelHistory) -> Iterator[Finding]:
    """Whether the learning rate is too large, by the trials of a run.

    >>> from gradwalk import doctor
    >>> w = Value(1.0, label="w")
    >>> with doctor.watch([w]) as visit:
    ...     for _ in range(6):
    ...         w.grad = 0.0
    ...         (w * w).backward()
    ...         w.data -= 3.0 * w.grad
    >>> finding = visit.report()[0]
    >>> finding.kind, finding.numbers["rate"], finding.numbers["suggested"]
    ('overshoot', 3.0, 0.375)
    """
    over = [trial for trial in history.trials if trial.overshot]
    if not over or not history.losses:
        return
    lasting = next((trial for trial in over if _lasting(history, trial)), None)
    finite = [x for x in history.losses if math.isfinite(x)]
    often = len(over) >= 0.5 * len(history.trials)
    diverged = often and (len(finite) < len(history.losses) or finite[-1] > DIVERGED * abs(finite[0]))
    if lasting is None and not diverged and not _bouncing(history, over):
        return
    searched = next((trial for trial in over if trial.better is not None), over[0])
    worst = lasting if lasting is not None and lasting.better is not None else searched
    yield _too_long(history, worst, over[0].step, len(over))


def _lasting(history: ModelHistory, trial: TriedUpdate) -> bool:
    """Whether a step made the loss much worse, and it stayed worse than any loss of late, by batch and chance, was."""
    recent, later = history.losses[max(0, trial.step - RECENT) : trial.step], history.losses[trial.step :]
    if trial.after < JUMP * trial.before and math.isfinite(trial.after):
        return False
    enough = len(later) >= max(3, len(history.losses) // 10)
    return enough and not median(later) <= max(recent)


def _bouncing(history: ModelHistory, over: list[TriedUpdate]) -> bool:
    """Whether most steps overshoot and nothing gets better for all of them."""
    third = len(history.losses) // 3
    if len(history.trials) < 6 or len(over) < 0.6 * len(history.trials):
        return False
    return median(history.losses[-third:]) > 0.8 * median(history.losses[:third])


def _too_long(history: ModelHistory, worst: TriedUpdate, onset: int, count: int) -> Finding:
    rate, share = worst.rate, worst.better
    suggested = rate * share if rate and share else None
    of = f" of {rate:g}" if rate else ""
    remedy = []
    if suggested is not None:
        remedy.append(
            f"a learning rate of about {suggested:.1g}: with a step of that size the loss would have fallen from "
            f"{worst.before:.4g} to {worst.then:.4g}"
        )
    elif share:
        remedy.append(f"a learning rate of {share:g} times this one: the loss would have fallen to {worst.then:.4g}")
    else:
        remedy.append("a learning rate many times smaller, and first of all a look at how large the gradients are")
    remedy.append("or clip the gradients: optim.clip_grad_norm(parameters, 1.0)")
    return Finding(
        "overshoot",
        "error",
        f"the learning rate{of} overshoots",
        where=(history.optimiser,) if history.optimiser else (),
        line=history.stepped or history.site,
        why=(
            f"{f'step {worst.step} raised' if worst.step else 'one step raises'} the loss from {worst.before:.4g} to "
            f"{worst.after:.4g} on the same data, where its gradient says that it falls"
            + (f"; so did {count} of the {len(history.trials)} steps that were tried out" if worst.step else "")
        ),
        remedy=tuple(remedy),
        step=onset,
        numbers={
            "rate": rate,
            "suggested": suggested,
            "before": worst.before,
            "after": worst.after,
            "overshot": count,
            "tried": len(history.trials),
        },
    )


def one_step(history: ModelHistory, trial: TriedUpdate) -> Iterator[Finding]:
    """The finding for a single step that was tried, if it raises the loss."""
    if trial.overshot:
        yield _too_long(history, trial, 0, 1)
