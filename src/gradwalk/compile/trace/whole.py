"""Python's ints, which have as many digits as they need: a trace computes with floats, which hold 53 bits of them.

Small arguments make small results, as far as that can be worked out while a function is traced; a replay only has to
see that its ints are as small. Where a result may be larger, that it is not becomes a guard. A number that is too large
for a float is asked for, and is on this path what it is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from gradwalk.compile.trace.tape import INPUTS, ROWS
from gradwalk.ops import Op

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__ = ["LARGEST", "computed", "is_huge", "limited"]

SMALL = 2**20  # an argument that is no larger may be another one of these
LARGEST = 2**53  # below it, every int is a float

#: How large a result can be, by how large its operands are.
BOUNDS: dict[Callable[..., Any], Callable[[int, int], int]] = {
    operator.add: operator.add,
    operator.sub: operator.add,
    operator.mul: operator.mul,
}


def is_huge(x: Any) -> bool:
    """Whether something is an int that a float need not hold.

    >>> is_huge(2**53 - 1), is_huge(-(2**53)), is_huge(1e300)
    (False, True, False)
    """
    return type(x) is int and not -LARGEST < x < LARGEST


def limited(tracer: Tracer, x: Any) -> int:
    """How large a plain int is, or can be; what is an argument has to stay within that.

    >>> from gradwalk.compile.trace.tracer import Tracer
    >>> tracer = Tracer()
    >>> limited(tracer, tracer.input(3)), limited(tracer, -5), tracer.ints
    (1048576, 5, {0: 1048576})
    """
    if type(x) not in tracer.own:
        return abs(int(x))
    if x._kind is not int:  # a comparison
        return 1
    if INPUTS <= x._row < ROWS:
        place = x._row - INPUTS
        return tracer.ints.setdefault(place, SMALL if abs(tracer.given[place]) <= SMALL else LARGEST - 1)
    return tracer.largest.get(x._row, LARGEST)


def computed(tracer: Tracer, python: Callable[..., Any], op: Op, x: Any, y: Any) -> Any:
    """What an operator gives of two ints: a row of the tape, or what it is where a float cannot hold it.

    >>> from gradwalk.compile.trace.tracer import trace
    >>> trace(lambda n: str(n * 2**60), [3]).result
    '3458764513820540928'
    """
    huge = is_huge(x) or is_huge(y)
    bound = LARGEST
    if not huge and python in BOUNDS:
        bound = BOUNDS[python](limited(tracer, x), limited(tracer, y))
    elif not huge and type(y) is int and 0 <= y < LARGEST.bit_length():
        bound = limited(tracer, x) ** y
    if bound < LARGEST:
        out = tracer.plain(tracer.codes[id(op)], tracer.operand(x), tracer.operand(y), int)
        tracer.largest[out._row] = bound
        return out
    if huge or abs(python(tracer.number_of(x), tracer.number_of(y))) >= LARGEST:
        if is_huge(x):  # constants of a tape are floats
            return tracer.ask(partial(python, x), y)
        return tracer.ask(_with(python, y), x) if is_huge(y) else tracer.ask(python, x, y)
    limited(tracer, x), limited(tracer, y)
    out = tracer.plain(tracer.codes[id(op)], tracer.operand(x), tracer.operand(y), int)
    bool(abs(out) < LARGEST)
    return out


def _with(python: Callable[..., Any], y: int) -> Callable[[Any], Any]:
    return lambda x: python(x, y)
