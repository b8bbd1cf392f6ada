"""Numbers of NumPy's narrow types: float32, which rounds after every op, and ints that wrap around.

A trace computes in float64. What is float32 for the function is rounded to float32 after each op, by an op of its own:
the sum, product or quotient of two float32 numbers, computed in float64 and rounded, is exactly NumPy's. An int that
stays within its type is exact as it is, and that it does is a guard; one that does not is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk.compile.trace.kinds import LARGEST
from gradwalk.compile.trace.limits import limit
from gradwalk.compile.trace.tape import NONE
from gradwalk.compile.trace.whole import limited
from gradwalk.ops import Op

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["as_single", "fitted", "single"]

LARGEST_SINGLE = 3.4028235677973366e38  # what is larger rounds to inf …
NORMAL = 2.0**-126  # … and what is smaller has fewer digits
SHIFTED = 1.5 * 2.0 ** (52 - 149)
SPLIT = 2.0**29 + 1.0


def _single(x: float) -> float:
    if math.fabs(x) >= LARGEST_SINGLE:
        return x * math.inf
    if math.fabs(x) < NORMAL:
        return (x + SHIFTED) - SHIFTED if x != 0.0 else x
    return x * SPLIT - (x * SPLIT - x)  # a product that leaves 24 digits when it is taken off again


#: The nearest float32.
single: Op = Op("single", "single", _single, (lambda x, out: 1.0,))


def as_single(tracer: Tracer, x: Any) -> Any:
    """An operand of an op whose result is a float32: a float, or a large int, is rounded before."""
    if tracer.samples:
        return x
    kind = tracer.kind_of(x)
    if type(x) not in tracer.own:
        with np.errstate(all="ignore"):
            return np.float32(x)
    return tracer.plain(tracer.code(single), x._row, NONE, np.float32) if kind in (float, int) else x


def fitted(tracer: Tracer, out: Any, kind: Any, question: Callable[..., Any], *operands: Any) -> Any:
    """What a trace computed for `question(*operands)`, as a number of this narrow type."""
    if tracer.samples:  # which are computed in the type that the batch has
        if issubclass(kind, np.unsignedinteger) or kind is np.int8:
            raise limit("narrow", f" ({kind.__name__})")
        return out
    if kind is np.float32:
        return tracer.plain(tracer.code(single), out._row, NONE, kind)
    if issubclass(kind, np.integer):
        ends = np.iinfo(kind)
        if ends.bits == 64:  # unsigned
            _ = [limited(tracer, x) for x in operands]
        if out >= float(ends.min) and out <= float(min(ends.max, LARGEST - 1)):
            return out
    with np.errstate(all="ignore"):
        return tracer.ask(question, *operands)
