"""What is computed twice on a tape, the same op of the same operands, is computed once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradwalk import ops
from gradwalk.compile.array_types import Longs
from gradwalk.compile.roll import passes
from gradwalk.compile.roll.dataflow import Dataflow
from gradwalk.compile.roll.passes import RunPass, plainly
from gradwalk.compile.trace.tape import Tape
from gradwalk.ops import TABLE

__all__ = ["without_repeats"]


#: Fewer repeats than one row in so many are left: they would save less than they bring out of step.
RARE = 64


def without_repeats(graph: Dataflow, run: RunPass = plainly, *, rolled: bool = True) -> tuple[Tape, Longs] | None:
    """The tape with every repeat replaced by what it repeats, and for each row the one that stands for it; or None.

    Numbers are the same to the last bit, gradients but for rounding. Ops that are not of the table stay as they are:
    nobody knows what they do beside computing. A term of a sum stays with its sum if the tape is to be `rolled` up,
    where it costs next to nothing and would cost a step by itself. Rows that nothing needs any more are left in place.

    >>> from gradwalk.compile.roll.dataflow import read
    >>> tape = trace(lambda x: x.tanh() * (x.tanh() + 1.0), [0.5]).tape
    >>> print(without_repeats(read(tape, False))[0])
    x0 = input
    n0 = tanh(x0)
    n1 = tanh(x0)
    n2 = add(n0, 1)
    n3 = mul(n0, n2)
    gives n3
    """
    tape, rows, first = graph.tape, graph.tape.rows, graph.first
    same = np.arange(graph.nodes, dtype=np.int32)
    known = np.array([TABLE.get(op.name) is op for op in tape.ops] or [False])
    size = 1 << (3 * (graph.nodes - first) // 2 + 1).bit_length()
    bits, found = np.ascontiguousarray(tape.constants, np.float64).view(np.int64), np.zeros(1, np.int64)
    live = np.ascontiguousarray(graph.live)
    lists = [graph.code, graph.start, graph.count]
    heads, table = np.full(max(1, graph.constants), -1, np.int32), np.full(size, -1, np.int32)
    run(passes.repeats, *lists, graph.slot, graph.operands, live, bits, known, same, heads, table, found, rows, first,
        graph.constants, graph.nodes, size - 1)  # fmt: skip
    needed = int(live.sum())
    if not found[0] or RARE * found[0] < needed:
        return None
    operands = graph.operands.copy()
    uses, merged_uses = np.zeros(graph.nodes, np.int32), np.zeros(graph.nodes, np.int32)
    outputs = same[tape.outputs]
    uses[tape.outputs] = merged_uses[outputs] = 2
    kept = np.zeros(graph.nodes, np.bool_)
    kept[outputs] = True
    codes = [next((i for i, op in enumerate(tape.ops) if op is wanted), 1 << 20) for wanted in (ops.add, ops.mul)]
    run(passes.merge, *lists, operands, live, same, uses, merged_uses, kept, rows, first, graph.constants, *codes,
        int(rolled))  # fmt: skip
    kept = kept[first : first + rows]
    if RARE * (needed - int(kept.sum())) < needed:
        return None
    # Back to the form of a tape: what was replaced is no constant, and no word of a list that is no operand.
    replaced, listed = operands != graph.operands, len(tape.aux)
    pairs, which = operands[listed:].reshape(-1, 2), replaced[listed:].reshape(-1, 2)
    aux = np.where(replaced[:listed], operands[:listed], tape.aux)
    a, b = np.where(which[:, 0], pairs[:, 0], tape.a), np.where(which[:, 1], pairs[:, 1], tape.b)
    stands = np.where(kept, np.arange(rows), same[first : first + rows] - first)
    return replace(tape, a=a, b=b, aux=aux, outputs=outputs), stands
