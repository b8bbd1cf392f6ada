"""A tape in the form that analysis reads: which node reads which. Every row has its operands in one list.

Constants become nodes of their own, after the rows; so a list of operands is always a list of node ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwalk.compile.array_types import Bools, Ints
from gradwalk.compile.roll import passes
from gradwalk.compile.roll.passes import RunPass, plainly
from gradwalk.compile.trace.tape import NONE, SHIFT, TAKE, Tape

__all__ = ["Dataflow", "nodes_reached", "read", "renumbered"]


@dataclass(frozen=True, eq=False)
class Dataflow:
    """Rows as lists of node ids: row `i`, with id `first + i`, has `operands[start[i]:start[i] + count[i]]`."""

    tape: Tape
    first: int  # the id of the first row
    constants: int  # the id of the first constant
    nodes: int  # how many ids there are
    code: Ints
    start: Ints
    count: Ints
    slot: Ints  # which index chooses, in rows that take
    operands: Ints
    live: Bools  # for each row: whether an output depends on it
    reached: Bools  # … and whether a gradient can come to it from an output
    active: Bools  # for each node: whether it depends on something that wants a gradient


def read(tape: Tape, input_grads: bool, run: RunPass = plainly, wanting: int | None = None) -> Dataflow:
    """The dataflow of a tape; inputs want gradients only if `input_grads` says so, and the first `wanting` parameters.

    >>> import numpy as np
    >>> ints = lambda *numbers: np.array(numbers, np.int32)
    >>> tape = Tape(parameters=1, inputs=1, indices=0, ops=(ops.add,), constants=np.array([5.0]), aux=ints(),
    ...             code=ints(0, 0), a=ints(0, 2), b=ints(1, ~0), outputs=ints(3))
    >>> graph = read(tape, input_grads=False)
    >>> graph.operands.tolist(), graph.active.tolist()
    ([0, 1, 2, 4], [True, False, True, True, False])
    """
    rows, first = tape.rows, tape.first_row
    constants = first + rows
    nodes = constants + len(tape.constants)
    listed = len(tape.aux)
    operands = np.empty(listed + 2 * rows, np.int32)  # filled in place: at millions of rows each copy takes its time
    pairs = operands[listed:].reshape(rows, 2)
    operands[:listed], pairs[:, 0], pairs[:, 1] = tape.aux, tape.a, tape.b
    np.copyto(pairs[:, 1], tape.a, where=tape.b == NONE)  # never read, but always a node
    np.subtract(constants - 1, operands, out=operands, where=operands < 0)
    np.copyto(operands, 0, where=operands >= nodes)  # where a list begins, and headers of takes: never read as nodes
    arity = np.array([*(op.arity for op in tape.ops), 3], np.int32)  # the last is for codes below 0: lists
    count = arity[np.maximum(tape.code, -1)]
    start = np.arange(listed, listed + 2 * rows, 2, dtype=np.int32)
    long = count > 2
    np.copyto(start, tape.a, where=long)
    np.copyto(count, tape.b, where=long)
    slot = np.zeros(rows, np.int32)
    takes = np.flatnonzero(tape.code == TAKE)
    if len(takes):
        head = tape.a[takes]
        start[takes], count[takes], slot[takes] = tape.aux[head], tape.aux[head + 1], tape.aux[head + 2]
    live = np.zeros(nodes, np.bool_)
    live[tape.outputs] = True
    reached = live.copy()
    active = np.zeros(nodes, np.bool_)
    active[: tape.parameters if wanting is None else wanting] = True
    active[tape.parameters : first] = input_grads
    code = np.ascontiguousarray(tape.code, np.int32)
    run(passes.spread, code, start, count, operands, live, reached, active, rows, first, SHIFT)
    live, reached = live[first:constants], reached[first:constants]
    return Dataflow(tape, first, constants, nodes, code, start, count, slot, operands, live, reached, active)


def renumbered(tape: Tape, rows: Any, new: Callable[[Ints], Ints]) -> tuple[Ints, Ints, Ints]:
    """The operands of some rows, `a` and `b`, and the lists, by their new ids; what is no operand stays as it is.

    What is none may be given to `new` all the same, and is not used.
    """
    code, a, b = tape.code[rows], tape.a[rows], tape.b[rows]
    listed = (code < 0) | (np.array([op.arity for op in tape.ops] or [0])[np.maximum(code, 0)] > 2)
    heads = np.zeros(len(tape.aux), np.bool_)  # three words that say what to take are no operands
    for head in a[code == TAKE].tolist():
        heads[head : head + 3] = True
    pairs = np.where(listed, a, new(a)), np.where(listed | (b == NONE), b, new(b))
    return *pairs, np.where(heads, tape.aux, new(tape.aux))


def nodes_reached(tape: Tape, outputs: Ints) -> Bools:
    """For each node, parameters first, whether a gradient can come to it from some of the outputs.

    >>> v, w = Value(1.0), Value(2.0)
    >>> tape = trace(lambda x: (v * x, w * x), [3.0]).tape
    >>> nodes_reached(tape, tape.outputs[1:])[: tape.parameters].tolist()
    [False, True]
    """
    graph = read(replace(tape, outputs=outputs), input_grads=False)
    found = np.zeros(graph.nodes, np.bool_)
    found[outputs] = True
    rows = np.flatnonzero(graph.reached & (graph.code != SHIFT))
    for count in np.unique(graph.count[rows]).tolist():
        starts = graph.start[rows[graph.count[rows] == count]]
        found[graph.operands[starts[:, None] + np.arange(count)]] = True
    return found
