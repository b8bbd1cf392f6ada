"""Habits of a training loop that spoil it: gradients that pile up, an old graph, parameters that never move."""

from __future__ import annotations

from collections.abc import Iterator

from gradwalk.doctor.findings.connections import grouped
from gradwalk.doctor.history import ModelHistory
from gradwalk.doctor.report import Finding

IDLE = 3  # calls of backward() without any change of a parameter, before it is a habit


def training_loop(history: ModelHistory) -> Iterator[Finding]:
    """What the loop around the model does wrong.

    >>> from gradwalk import doctor
    >>> w = Value(2.0, label="w")
    >>> with doctor.watch([w]) as visit:
    ...     for _ in range(3):
    ...         (w * w).backward()
    ...         w.data -= 0.1 * w.grad
    >>> visit.report()[0].what
    'forgotten zero_grad: gradients pile up from step to step'
    """
    if history.stale:
        yield _stale(history)
    elif history.piled:
        yield _piled(history)
    if history.idle >= IDLE and not history.moved:
        yield _idle(history)


def _piled(history: ModelHistory) -> Finding:
    step, _ = history.piled[0]
    parameters = history.names.parameters
    cleared = history.cleared - history.piled_up
    piled = [p for p in parameters if id(p) not in cleared]
    worst, times = max(history.piled, key=lambda entry: entry[1])
    return Finding(
        "no-zero-grad",
        "error",
        "forgotten zero_grad: gradients pile up from step to step",
        where=(f"all {len(parameters):,} parameters",) if not cleared else grouped(history, piled),
        line=history.site,
        why=(
            f"{len(history.piled)} of {history.looked} calls of backward() found the gradients of the step before "
            f"still there, and added to them; at step {worst} they were {times:.3g} times as large as those of the "
            "loss itself"
        ),
        remedy=("call model.zero_grad() or optimiser.zero_grad() before each backward()",),
        step=step,
        numbers={"times": times, "steps": [step for step, _ in history.piled[:50]]},
    )


def _stale(history: ModelHistory) -> Finding:
    return Finding(
        "stale-graph",
        "error",
        "the same graph is walked again after the parameters have changed",
        line=history.site,
        why=(
            f"{len(history.stale)} calls of backward() were on a loss that had been computed before the last step: its "
            "number and its slopes are those of the old parameters, so it never changes"
        ),
        remedy=("compute the loss anew in each step, inside the loop: scores = model(x); loss = …",),
        step=history.stale[0],
    )


def _idle(history: ModelHistory) -> Finding:
    what = "the parameters never change"
    why = f"backward() was called {history.steps} times and gave gradients, and no parameter moved in between"
    remedy: tuple[str, ...] = (
        "call optimiser.step() after backward(), or p.data -= rate * p.grad for each parameter",
        "make sure that the optimiser was given the parameters of this model, and not of another one",
    )
    if history.emptied:
        what = "the gradients are set to 0 between backward() and the optimiser's step()"
        why = f"{history.emptied} steps saw nothing but zeros, so no parameter moved"
        remedy = ("zero_grad() first, then backward(), then step()",)
    return Finding("no-step", "error", what, line=history.site, why=why, remedy=remedy, step=1)
