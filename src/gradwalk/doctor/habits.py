"""Habits of a training loop that spoil it: gradients that pile up, an old graph, parameters that never move."""

from __future__ import annotations

from collections.abc import Iterator

from gradwalk.doctor.record import Record
from gradwalk.doctor.report import Finding

__all__ = ["habits"]

IDLE = 3  # calls of backward() without any change of a parameter, before it is a habit


def habits(record: Record) -> Iterator[Finding]:
    """What the loop around the model does wrong.

    >>> from gradwalk import Value, doctor
    >>> w = Value(2.0, label="w")
    >>> with doctor.watch([w]) as visit:
    ...     for _ in range(3):
    ...         (w * w).backward()
    ...         w.data -= 0.1 * w.grad
    >>> visit.report()[0].what
    'forgotten zero_grad: gradients pile up from step to step'
    """
    if record.stale:
        yield _stale(record)
    elif record.piled:
        yield _piled(record)
    if record.idle >= IDLE and not record.moved:
        yield _idle(record)


def _piled(record: Record) -> Finding:
    step, _ = record.piled[0]
    worst, times = max(record.piled, key=lambda entry: entry[1])
    return Finding(
        "no-zero-grad",
        "error",
        "forgotten zero_grad: gradients pile up from step to step",
        where=(f"all {len(record.names.parameters):,} parameters",),
        line=record.site,
        why=(
            f"{len(record.piled)} of {record.steps} calls of backward() found the gradients of the step before still "
            f"there, and added to them; at step {worst} they were {times:.3g} times as large as those of the loss "
            "itself"
        ),
        remedy=("call model.zero_grad() or optimiser.zero_grad() before each backward()",),
        step=step,
        sure="certain" if record.piled_surely else "likely",
        numbers={"times": times, "steps": [step for step, _ in record.piled[:50]]},
    )


def _stale(record: Record) -> Finding:
    return Finding(
        "stale-graph",
        "error",
        "the same graph is walked again after the parameters have changed",
        line=record.site,
        why=(
            f"{len(record.stale)} calls of backward() were on a loss that had been computed before the last step: its "
            "number and its slopes are those of the old parameters, so it never changes"
        ),
        remedy=("compute the loss anew in each step, inside the loop: scores = model(x); loss = …",),
        step=record.stale[0],
    )


def _idle(record: Record) -> Finding:
    if record.emptied:
        return Finding(
            "no-step",
            "error",
            "the gradients are set to 0 between backward() and the optimiser's step()",
            line=record.site,
            why=f"{record.emptied} steps saw nothing but zeros, so no parameter moved",
            remedy=("zero_grad() first, then backward(), then step()",),
            step=1,
        )
    return Finding(
        "no-step",
        "error",
        "the parameters never change",
        line=record.site,
        why=f"backward() was called {record.steps} times and gave gradients, and no parameter moved in between",
        remedy=(
            "call optimiser.step() after backward(), or p.data -= rate * p.grad for each parameter",
            "make sure that the optimiser was given the parameters of this model, and not of another one",
        ),
        step=1,
    )
