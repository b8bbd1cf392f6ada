"""Rolling up: from a graph of single operations to a program of a few large steps.

1. Chains of sums, with the products that occur nowhere else, become one macro-row each (`passes.collapse`).
2. Every macro-row gets the earliest level at which all its operands are there; sums that multiply the same row of
   parameters are brought to one level where nothing is delayed by it, so that they can be done together.
3. Macro-rows of one level and one shape are done together. Sums whose lists of factors pair up, each of some lists on
   the left with each of some lists on the right, are a product of matrices.
4. Results are laid out in the order in which the next steps will read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk import ops
from gradwalk.compile.native import objects
from gradwalk.compile.native.codegen import ScalarKernels, op_slopes, op_value
from gradwalk.compile.native.language import SIMPLE_POWERS
from gradwalk.compile.native.objects import fixed
from gradwalk.compile.roll.graph import Graph
from gradwalk.compile.roll.layout import (
    APPLY_SLOPES,
    APPLY_VALUE,
    ELEMENT,
    FIELDS,
    FIRST_HASH,
    KEY,
    KIND,
    LEVEL,
    NODE,
    OTHER_TAILS,
    OWN,
    PAIRS,
    PO,
    SUM,
    TAILS,
    TAKEN,
)
from gradwalk.compile.roll.program import Access, Builder, Push, Row, Step
from gradwalk.compile.roll.sums import roll_sums
from gradwalk.compile.trace.tape import MIN, SHIFT, SPECIAL
from gradwalk.ops import Op

__all__ = ["Macros", "collapse", "roll_up"]

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]

#: Rows of an operand shorter than this are read by a list: starting a loop costs more than looking up a position.
SHORT = 24
#: Fewer results than this are not worth a kernel of their own, and so many are worth one that stores gradients.
FEW, MANY = 8, 64


@dataclass(frozen=True, eq=False)
class Macros:
    """Macro-rows (`layout.FIELDS` columns each), sorted into groups; the lists of pairs and single terms."""

    graph: Graph
    rows: Longs
    groups: list[Longs]  # indices of macro-rows
    constants: npt.NDArray[np.float64]  # the constant term of each
    first: Ints  # factors
    second: Ints
    tails: Ints


def collapse(graph: Graph) -> Macros:
    """Steps 1 to 3: macro-rows in groups, level by level.

    >>> from gradwalk.compile.roll.analyze import collapse
    >>> collapse.__name__
    'collapse'
    """
    tape = graph.tape
    rows, nodes = tape.rows, graph.nodes
    uses = np.zeros(nodes, np.int32)
    uses[tape.outputs] = 2  # what is asked for stays
    user, level, stack = np.zeros(nodes, np.int32), np.zeros(nodes, np.int32), np.zeros(2 * rows + 2, np.int32)
    absorbed, live = np.zeros(rows, np.bool_), np.ascontiguousarray(graph.live)
    made, sums = np.zeros((rows, FIELDS), np.int64), np.zeros(rows)
    first, second, spare_first, spare_second = (np.zeros(rows + 1, np.int32) for _ in range(4))
    tails, spare_tails = np.zeros(len(graph.operands) + 2, np.int32), np.zeros(2 * rows + 2, np.int32)
    numbers, results = np.ascontiguousarray(tape.constants, np.float64), np.zeros(3, np.int64)
    known = {op: i for i, op in enumerate(tape.ops)}
    codes = [known.get(op, 1 << 20) for op in (ops.add, ops.mul, ops.pow)]
    _native("collapse", graph.code, graph.start, graph.count, graph.operands, live, numbers, uses, user, absorbed,
            level, made, sums, first, second, tails, stack, spare_first, spare_second, spare_tails,
            rows, graph.first, tape.parameters, graph.constants, *codes, results)  # fmt: skip
    count = int(results[0])
    made = made[:count]
    lists = [made, count, first, second, tails, graph.start, graph.count, graph.operands]
    last = np.full(nodes, made[:, LEVEL].max(initial=0), np.int32)
    _native("latest", *lists, last)
    wanted = np.zeros(count, np.int64)
    weighted = np.flatnonzero((made[:, KIND] == SUM) & (made[:, PO] > 0))
    if len(weighted):
        _, same = np.unique(made[weighted, FIRST_HASH], return_inverse=True)
        highest = np.zeros(same.max() + 1, np.int64)
        np.maximum.at(highest, same, made[weighted, LEVEL])
        wanted[weighted] = highest[same]
        _native("settle", *lists, last, level, wanted)
    shape = made[:, KIND:]
    mixed = (shape * (2 * np.arange(1, shape.shape[1] + 1) ** 5 + 1)).sum(1)  # only a way to sort: equal shapes meet
    order = np.lexsort((mixed, made[:, LEVEL]))
    same = np.column_stack([made[order, LEVEL], shape[order]])
    cuts = np.flatnonzero((same[1:] != same[:-1]).any(1)) + 1
    return Macros(graph, made, np.split(order, cuts) if count else [], sums[:count], first, second, tails)


def _native(name: str, *words: Any) -> None:
    """Call a pass with a table of the addresses of arrays, and numbers."""
    table = np.array([x.ctypes.data if isinstance(x, np.ndarray) else x for x in words], np.int64)
    objects.call(fixed("roll.passes", name, 1))(table.ctypes.data)


def roll_up(macros: Macros, kernels: ScalarKernels) -> Builder:
    """Step 4: a program, made of these kernels.

    >>> from gradwalk.compile.roll.analyze import roll_up
    >>> roll_up.__name__
    'roll_up'
    """
    graph = macros.graph
    tape = graph.tape
    places = np.zeros(graph.nodes, np.int64)
    places[: tape.parameters] = np.arange(tape.parameters)
    places[tape.parameters : graph.first] = np.arange(tape.inputs)
    places[graph.constants :] = tape.inputs + np.arange(len(tape.constants))
    builder = Builder(tape.parameters, kernels, places, tape.inputs + len(tape.constants))
    builder.written.append((tape.inputs, np.asarray(tape.constants, np.float64)))
    for group in macros.groups:
        kind = macros.rows[group[0], KIND]
        if kind == ELEMENT:
            _elements(builder, macros, group)
        elif kind == SUM:
            roll_sums(builder, macros, group)
        elif kind == TAKEN:
            _takes(builder, macros, group)
        else:
            _extremes(builder, macros, group)
    builder.cleared = builder.spare_clearing(tape.outputs.astype(np.int64))
    return builder


# --- ops on operands -------------------------------------------------------------------------------------------------


def _elements(builder: Builder, macros: Macros, group: Longs) -> None:
    graph = macros.graph
    made = macros.rows[group]
    code, exponent_constant = int(made[0, KEY] & 0xFFFF), int(made[0, KEY] >> 32)
    op = graph.tape.ops[code]
    arity = int(made[0, OTHER_TAILS])
    operands = macros.tails[made[:, TAILS][:, None] + np.arange(arity)].astype(np.int64)
    at = builder.places[operands]
    leader = max(range(arity), key=lambda k: (operands[0, k] < graph.constants, len(np.unique(at[:, k])), -k))
    order = np.argsort(at[:, leader], kind="stable")
    made, operands, at = made[order], operands[order], at[order]
    if len(made) < FEW and not builder.kernels.lanes:
        _apply(builder, graph, op, made, operands)
        return
    exponent = None
    if exponent_constant:
        number = float(graph.tape.constants[exponent_constant - 1])
        exponent = number if number in SIMPLE_POWERS else None
    if exponent is not None:
        operands, at = operands[:, :1], at[:, :1]
    rows, accesses = _accesses(builder, graph, operands, at)
    wanted = tuple(k for k in range(len(accesses)) if graph.active[operands[:, k]].any())
    out = builder.allot(made[:, NODE])
    words = [out, rows, len(made) // rows]
    for x in accesses:
        words += x.words
    kernels = builder.kernels
    modes = [int(k in wanted) for k in range(len(accesses))]  # 2 where gradients are stored, see `spare_clearing`
    many = kernels.lanes or len(made) >= MANY
    pushes = []
    for k in wanted:
        store = partial(modes.__setitem__, k, 2) if many and kernels.can_store(accesses[k]) else None
        pushes.append(Push(builder.own(operands[:, k]), store))
    row = Row("op", (op.name,), (rows, len(made) // rows), len(made), 8 * len(made))
    forward = kernels.element(op, accesses, exponent)
    backward = (lambda: kernels.element_back(op, accesses, modes, exponent)) if wanted else None
    builder.steps.append(Step(forward, backward, words, row, pushes, [modes]))


def _apply(builder: Builder, graph: Graph, op: Op, made: Longs, operands: Longs) -> None:
    """A handful of results: by a function of single numbers, which is compiled once for all graphs."""
    wanted = graph.active[operands].any(0)
    out = builder.allot(made[:, NODE])
    places, flags = builder.keep(builder.signed(operands)), builder.keep(np.asarray(wanted, np.int64))
    words = [out, len(made), op.arity, 0, 0, places, flags]
    step = Step(
        builder.kernels.fixed("apply"), None, words, Row("op", (op.name,), (1, len(made)), len(made), 8 * len(made))
    )
    step.functions[APPLY_VALUE] = op_value(op)
    if wanted.any():
        step.backward = partial(builder.kernels.fixed, "apply_back")
        step.functions[APPLY_SLOPES] = op_slopes(op)
        step.pushes.append(Push(builder.own(operands[:, wanted])))
    builder.scratch = max(builder.scratch, 2 * op.arity + 2)
    builder.steps.append(step)


def _accesses(builder: Builder, graph: Graph, operands: Longs, at: Longs) -> tuple[int, list[Access]]:
    """Into how many rows the results are best divided, and how each operand is then read."""
    count, arity = at.shape
    columns = count
    for k in range(arity):  # the first operand that is no single run says how long a row is
        if operands[0, k] >= graph.constants:
            continue
        steps = np.diff(at[:, k])
        breaks = np.flatnonzero(steps != steps[0]) if count > 1 and steps[0] in (0, 1) else np.zeros(0, int)
        if len(breaks):
            length = int(breaks[0]) + 1
            if length >= SHORT and count % length == 0:
                columns = length
            break
    rows = count // columns
    accesses = []
    for k in range(arity):
        if operands[0, k] >= graph.constants:
            accesses.append(builder.constants(graph.tape.constants[operands[:, k] - graph.constants]))
            if accesses[-1].column:
                accesses[-1] = Access(OWN, accesses[-1].start, columns, 1)
            continue
        accesses.append(builder.access(operands[:, k].reshape(rows, columns), (0, 1)))
    if rows > 1 and any(x.listed >= 0 for x in accesses):  # lists are for one long row
        return _in_one_row(builder, graph, operands, accesses)
    return rows, accesses


def _in_one_row(builder: Builder, graph: Graph, operands: Longs, before: list[Access]) -> tuple[int, list[Access]]:
    accesses = []
    for k, x in enumerate(before):
        constant = operands[0, k] >= graph.constants
        accesses.append(x if x.listed >= 0 or constant else builder.access(operands[:, k].reshape(1, -1), (0, 1)))
    return 1, accesses


# --- tables and extremes ---------------------------------------------------------------------------------------------


def _takes(builder: Builder, macros: Macros, group: Longs) -> None:
    graph = macros.graph
    made = macros.rows[group]
    rows = made[:, PAIRS]
    order = np.lexsort((graph.slot[rows], graph.start[rows]))
    made, rows = made[order], rows[order]
    tables: dict[tuple[int, int], int] = {}
    where = np.empty(len(rows), np.int64)
    taken: list[Longs] = []
    for i, (start, count) in enumerate(zip(graph.start[rows].tolist(), graph.count[rows].tolist(), strict=True)):
        if (start, count) not in tables:
            nodes = graph.operands[start : start + count].astype(np.int64)
            tables[start, count] = builder.keep(builder.signed(nodes))
            taken.append(nodes)
        where[i] = tables[start, count]
    out = builder.allot(made[:, NODE])
    words = [out, len(rows), builder.keep(where), builder.keep(graph.slot[rows].astype(np.int64))]
    row = Row("take", ("take",), (1, len(rows)), len(rows), 8 * len(rows))
    step = Step(builder.kernels.fixed("take"), None, words, row)
    every = np.concatenate(taken)
    if graph.active[every].any():
        step.backward = partial(builder.kernels.fixed, "take_back")
        step.pushes.append(Push(builder.own(every)))
    builder.steps.append(step)


def _extremes(builder: Builder, macros: Macros, group: Longs) -> None:
    graph = macros.graph
    made = macros.rows[group]
    code, width = int(made[0, KEY]), int(made[0, OTHER_TAILS])
    nodes = graph.operands[graph.start[made[:, PAIRS]][:, None] + np.arange(width)].astype(np.int64)
    order = np.argsort(builder.places[nodes[:, 0]], kind="stable")
    made, nodes = made[order], nodes[order]
    out = builder.allot(made[:, NODE])
    words = [out, len(made), width, builder.keep(builder.signed(nodes)), -1 if code == MIN else 1]
    row = Row(SPECIAL[code], (SPECIAL[code],), (len(made), width), len(made), 8 * len(made))
    step = Step(builder.kernels.fixed("extreme"), None, words, row)
    if code != SHIFT and graph.active[nodes].any():
        step.backward = partial(builder.kernels.fixed, "extreme_back")
        step.pushes.append(Push(builder.own(nodes)))
    builder.steps.append(step)
