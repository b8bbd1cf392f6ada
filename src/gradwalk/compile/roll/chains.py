"""Chains of sums and differences, `total = total + a - b`, as sums alone, which are rolled up at any length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradwalk import ops
from gradwalk.compile.array_types import Ints, Longs
from gradwalk.compile.roll.dataflow import renumbered
from gradwalk.compile.trace.tape import NONE, Tape

__all__ = ["as_sums"]


#: With fewer differences a chain stays as it is: a difference here and there is in nobody's way.
MANY = 9


def as_sums(tape: Tape) -> tuple[Tape, Longs] | None:
    """The tape with `x - y` written as `x + y * -1` in long chains, and where each of its rows stands; or None.

    The numbers are the same to the last bit.

    >>> def chain(*xs):
    ...     total = xs[0]
    ...     for x in xs[1:]:
    ...         total = total - x
    ...     return total
    >>> tape = trace(chain, [1.0] * 12).tape
    >>> [op.name for op in as_sums(tape)[0].ops], as_sums(trace(chain, [1.0] * 4).tape)
    (['sub', 'mul', 'add'], None)
    """
    which = _in_long_chains(tape)
    if not len(which):
        return None
    first, names = tape.first_row, [op.name for op in tape.ops]
    new_ops = (*tape.ops, *[op for op in (ops.mul, ops.add) if op.name not in names])
    add, mul = (next(i for i, op in enumerate(new_ops) if op is wanted) for wanted in (ops.add, ops.mul))

    known = tape.b[which] < 0  # a constant's opposite is a constant
    opposites = -tape.constants[~tape.b[which[known]]]
    minus_one = len(tape.constants) + len(opposites)
    constants = np.concatenate((tape.constants, opposites, [-1.0]))

    computed = which[~known]  # one row more before each of these
    more = np.zeros(tape.rows, np.int64)
    more[computed] = 1
    where = np.arange(tape.rows) + np.cumsum(more)
    ids = np.concatenate((np.arange(first), first + where))

    def moved(x: Ints) -> Ints:
        return np.where(x >= 0, ids[np.clip(x, 0, len(ids) - 1)], x).astype(np.int32)

    rows = tape.rows + len(computed)
    code, a, b = (np.empty(rows, np.int32) for _ in range(3))
    code[where] = tape.code
    a[where], b[where], aux = renumbered(tape, slice(None), moved)
    code[where[which]] = add
    b[where[which[known]]] = ~(len(tape.constants) + np.arange(len(opposites)))
    inserted = where[computed] - 1
    code[inserted], a[inserted], b[inserted] = mul, b[where[computed]], ~np.int32(minus_one)
    b[where[computed]] = first + inserted

    outputs = moved(tape.outputs)
    return replace(tape, code=code, a=a, b=b, ops=new_ops, constants=constants, aux=aux, outputs=outputs), where


def _in_long_chains(tape: Tape) -> Longs:
    """The differences that stand in chains with many of them.

    A chain is a row that adds or subtracts, the one that it goes on from and that nobody else uses, and so on.
    """
    nobody = np.zeros(0, np.int64)
    codes = {op.name: i for i, op in enumerate(tape.ops) if op in (ops.add, ops.sub)}
    if "sub" not in codes:
        return nobody
    first = tape.first_row
    minus = tape.code == codes["sub"]
    chained = minus | (tape.code == codes.get("add", -9))
    before = np.where(minus, tape.a - first, -1)  # where a list begins is no operand
    going_on = before >= 0
    going_on &= chained[np.maximum(before, 0)]
    if np.count_nonzero(going_on) < MANY:
        return nobody
    uses = np.bincount(_read_by(tape), minlength=first + tape.rows)[first:]
    # the row that goes on from each, itself for the last of a chain
    after = np.arange(tape.rows)
    for operands, users in ((tape.b, chained & ~minus), (tape.a, chained)):
        at = np.flatnonzero(users & (operands >= first))
        links = operands[at] - first
        at, links = at[chained[links] & (uses[links] == 1)], links[chained[links] & (uses[links] == 1)]
        after[links] = at
    last = after
    while True:
        further = last[last]
        if np.array_equal(further, last):
            break
        last = further
    differences = np.flatnonzero(minus)
    counts = np.bincount(last[differences], minlength=tape.rows)
    return differences[counts[last[differences]] >= MANY]


def _read_by(tape: Tape) -> Longs:
    """Every id that is read, as often as it is."""
    arity = np.array([op.arity for op in tape.ops])[np.maximum(tape.code, 0)]
    plain = (tape.code >= 0) & (arity <= 2)
    second = tape.b[plain & (tape.b != NONE)]
    read = np.concatenate((tape.a[plain], second, tape.aux, tape.outputs)).astype(np.int64)
    return read[read >= 0]
