"""Gradient clipping: a step that would go too far is made shorter. The numbers are those of `torch.nn.utils`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gradwalk.keepers import keeper_of
from gradwalk.node import Node
from gradwalk.optim.settings import at_least_zero, checked_parameters, gradients_of

__all__ = ["clip_grad_norm", "clip_grad_value"]


def clip_grad_norm(parameters: Iterable[Node], max_norm: float) -> float:
    """Scale all gradients down together until their norm, as one vector, is at most `max_norm`; gives the norm before.

    >>> x, y = Value(4.0), Value(3.0)
    >>> (x * y).backward()
    >>> optim.clip_grad_norm([x, y], 1.0)
    5.0
    >>> round(x.grad, 6), round(y.grad, 6)
    (0.6, 0.8)
    """
    limit = at_least_zero("max_norm", max_norm, highest=math.inf)
    owner = keeper_of(parameters)
    if owner is not None and isinstance(parameters, list):
        clipped = owner.clip_norm(parameters, limit)
        if clipped is not None:
            return float(clipped)
    found = checked_parameters(parameters, "clip_grad_norm")
    gradients = gradients_of(found)
    columns = [p.grad.reshape(-1).tolist() if p.many else [g] for p, g in zip(found, gradients, strict=True)]
    numbers: list[float] = [g for column in columns for g in column]
    norm = math.hypot(*numbers)  # does not overflow where a sum of squares would
    if any(g != g for g in numbers):
        norm = math.nan  # which hypot leaves out if there is also an inf
    factor = limit / (norm + 1e-6)  # torch adds as much, against a norm of 0
    if not factor >= 1.0:  # nan too: a gradient that is nan or inf spoils the others, and so is seen
        for p, g in zip(found, gradients, strict=True):
            p.grad = p.grad * factor if p.many else g * factor
    return norm


def clip_grad_value(parameters: Iterable[Node], limit: float) -> None:
    """Bring every gradient to between `-limit` and `limit`; nan stays nan.

    >>> x, y = Value(4.0), Value(0.3)
    >>> (x * y).backward()
    >>> optim.clip_grad_value([x, y], 1.0)
    >>> x.grad, y.grad
    (0.3, 1.0)
    """
    limit = at_least_zero("limit", limit, highest=math.inf)
    owner = keeper_of(parameters)
    if owner is not None and isinstance(parameters, list) and owner.clip_value(parameters, limit):
        return
    found = checked_parameters(parameters, "clip_grad_value")
    for p, g in zip(found, gradients_of(found), strict=True):
        if p.many:
            p.grad = p.grad.clip(-limit, limit)
            continue
        p.grad = limit if g > limit else -limit if g < -limit else g
