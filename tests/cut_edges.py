"""Programs in which an edge is cut: eager, compiled and recorded walks are all held to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwalk

#: Functions of x and u that do not take what has an infinite slope (or worse) at x = 0, u = 2; and du.
CUT: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "where, a quotient": (lambda x, u: gradwalk.where(x < 1e-9, u, u / x), 1.0),
    "where, the other way": (lambda x, u: gradwalk.where(x > 1e-9, u / x, u), 1.0),
    "where, a root": (lambda x, u: gradwalk.where(x > 0, gradwalk.sqrt(x), u * u), 4.0),
    "where, inside another": (
        lambda x, u: gradwalk.where(x > 0, gradwalk.where(x > 1, u / x, gradwalk.log(x)), 3 * u),
        3.0,
    ),
    "where, deep below": (lambda x, u: gradwalk.where(x > 0, (gradwalk.sqrt(x) * u + 1).tanh() * 5, u), 1.0),
    "where, what overflows": (lambda x, u: gradwalk.where(u > 100, gradwalk.exp(u * 1e4) * x, u), 1.0),
    "maximum": (lambda x, u: gradwalk.maximum(gradwalk.sqrt(x), u), 1.0),
    "minimum": (lambda x, u: gradwalk.minimum(1 / gradwalk.sqrt(x), u), 1.0),
    "max": (lambda x, u: gradwalk.max([gradwalk.sqrt(x), u, u - 1]), 1.0),
    "min": (lambda x, u: gradwalk.min([3 + gradwalk.sqrt(x), u, u + 1]), 1.0),
    "clamp, below": (lambda x, u: gradwalk.clamp(gradwalk.sqrt(x), 1.0, 2.0) * u, 1.0),
    "clamp, a bound": (lambda x, u: gradwalk.clamp(u, gradwalk.sqrt(x), 3.0), 1.0),
    "take": (lambda x, u: gradwalk.take([gradwalk.sqrt(x), u], 1), 1.0),
    "detach": (lambda x, u: (gradwalk.sqrt(x) + 1).detach() * u, 1.0),
    "the slope of a leaky relu": (lambda x, u: gradwalk.leaky_relu(u, gradwalk.sqrt(x)), 1.0),
    "reached the other way": (lambda x, u: gradwalk.where(x > 0, gradwalk.sqrt(x), u) + u * x, 1.0),
}


def wanted(name: str) -> tuple[float, float]:
    return (2.0 if name == "reached the other way" else 0.0), CUT[name][1]
