"""Ints, which have as many digits as they need, or 64 bits: a trace computes with floats, which hold 53 bits of them.

Small arguments make small results, as far as that can be worked out while a function is traced; a replay only has to
see that its ints are as small. Where a result may be larger, that it is not becomes a guard. A number that is too large
for a float is asked for, and is on this path what it is; so NumPy's wrap around where they do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk.compile.trace.kinds import LARGEST, LIMITED, is_too_large
from gradwalk.compile.trace.limits import Unfollowable
from gradwalk.compile.trace.tape import INPUTS, ROWS
from gradwalk.ops import Op

if TYPE_CHECKING:
    from gradwalk.compile.trace.answers import Answers

__all__ = ["computed", "limited", "with_large"]

SMALL = 2**20  # an argument that is no larger may be another one of these

#: How large a result can be, by how large its operands are.
BOUNDS: dict[Callable[..., Any], Callable[[int, int], int]] = {
    operator.add: operator.add,
    operator.sub: operator.add,
    operator.mul: operator.mul,
}


def limited(tracer: Answers, x: Any) -> int:
    """How large a plain int is, or can be; what is an argument has to stay within that.

    >>> tracer = Tracer()
    >>> limited(tracer, tracer.input(3)), limited(tracer, -5), tracer.ints
    (1048576, 5, {0: 1048576})
    """
    if type(x) not in tracer.own:
        return abs(int(x))
    if x._kind not in LIMITED:  # a comparison, or a narrow one
        return int(np.iinfo(x._kind).max) + 1 if issubclass(x._kind, np.integer) else 1
    if INPUTS <= x._row < ROWS:
        place = x._row - INPUTS
        if abs(int(tracer.given[place])) >= LARGEST:
            raise Unfollowable(
                "{function} computes with ints of 2**53 or more in an array or of NumPy's",
                "pass them as Python's ints, one by one; or as floats, if they need not be exact",
            )
        return tracer.ints.setdefault(place, SMALL if abs(int(tracer.given[place])) <= SMALL else LARGEST - 1)
    return tracer.largest.get(x._row, LARGEST)


def computed(tracer: Answers, python: Callable[..., Any], op: Op, x: Any, y: Any, kind: type = int) -> Any:
    """What an operator gives of two ints, of this type: a row of the tape, or what it is where a float cannot hold it.

    >>> trace(lambda n: str(n * 2**60), [3]).result
    '3458764513820540928'
    """
    huge = is_too_large(x) or is_too_large(y)
    bound = LARGEST
    if not huge and python in BOUNDS:
        bound = BOUNDS[python](limited(tracer, x), limited(tracer, y))
    elif not huge and type(y) is int and 0 <= y < LARGEST.bit_length():
        bound = limited(tracer, x) ** y
    if bound < LARGEST:
        out = tracer.plain(tracer.codes[id(op)], tracer.operand(x), tracer.operand(y), kind)
        tracer.largest[out._row] = bound
        return out
    limited(tracer, x), limited(tracer, y)
    if huge or abs(python(int(tracer.number_of(x)), int(tracer.number_of(y)))) >= LARGEST:
        with np.errstate(all="ignore"):
            return tracer.ask(python, x, y)
    out = tracer.plain(tracer.codes[id(op)], tracer.operand(x), tracer.operand(y), kind)
    bool(abs(out) < LARGEST)
    return out


def with_large(question: Callable[..., Any], operands: Sequence[Any]) -> Callable[..., Any]:
    """A question with those of its operands that are too large; it is put to the others.

    >>> with_large(operator.mod, (2**53 + 1, 2))(2)
    1
    """

    def ask(*others: Any) -> Any:
        given = iter(others)
        return question(*[x if is_too_large(x) else next(given) for x in operands])

    return ask
