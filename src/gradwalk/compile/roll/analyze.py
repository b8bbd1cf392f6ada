"""Rolling up: from a graph of single operations to a program of a few large steps.

1. Chains of sums, with the products that occur nowhere else, become one macro-row each (`passes.collapse`).
2. Every macro-row gets the earliest level at which all its operands are there; sums that multiply the same row of
   parameters are brought to one level where nothing is delayed by it, so that they can be done together.
3. Macro-rows of one level and one shape are done together. Sums whose lists of factors pair up, each of some lists on
   the left with each of some lists on the right, are a product of matrices.
4. Results are laid out in the order in which the next steps will read them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradwalk import ops
from gradwalk.compile.array_types import Floats, Ints, Longs
from gradwalk.compile.roll import passes
from gradwalk.compile.roll.builder import Builder
from gradwalk.compile.roll.dataflow import Dataflow
from gradwalk.compile.roll.layout import (
    ELEMENT,
    FIELDS,
    FIRST_HASH,
    KEY,
    KIND,
    LEVEL,
    NODE,
    OTHER_TAILS,
    PAIRS,
    PO,
    SUM,
    TAILS,
    TAKEN,
)
from gradwalk.compile.roll.loops import MOST, find_loops
from gradwalk.compile.roll.passes import RunPass, plainly
from gradwalk.compile.roll.steps import ADD, ALL, NOTHING, Access, Elements, Extreme, Rows, Take
from gradwalk.compile.roll.sums import roll_sums
from gradwalk.compile.trace.tape import SHIFT, SPECIAL

__all__ = ["Macros", "collapse", "flat", "roll_up"]


#: Rows of an operand shorter than this are read by a list: starting a loop costs more than looking up a position.
SHORT = 24


@dataclass(frozen=True, eq=False)
class Macros:
    """Macro-rows (`layout.FIELDS` columns each), sorted into groups; the lists of pairs and single terms."""

    graph: Dataflow
    rows: Longs
    groups: list[Longs]  # indices of macro-rows
    constants: Floats  # the constant term of each
    first: Ints  # factors
    second: Ints
    tails: Ints


def collapse(graph: Dataflow, run: RunPass = plainly) -> Macros:
    """Steps 1 to 3: macro-rows in groups, level by level; `run` runs the passes."""
    tape = graph.tape
    rows, nodes = tape.rows, graph.nodes
    uses = np.zeros(nodes, np.int32)
    uses[tape.outputs] = 2  # what is asked for stays
    level, stack = np.zeros(nodes, np.int32), np.zeros(2 * rows + 2, np.int32)
    absorbed, live = np.zeros(rows, np.bool_), np.ascontiguousarray(graph.live)
    table, sums = np.zeros(rows * FIELDS, np.int64), np.zeros(rows)
    first, second, spare_first, spare_second = (np.zeros(rows + 1, np.int32) for _ in range(4))
    tails, spare_tails = np.zeros(len(graph.operands) + 2, np.int32), np.zeros(2 * rows + 2, np.int32)
    numbers, results = np.ascontiguousarray(tape.constants, np.float64), np.zeros(1, np.int64)
    known = {op: i for i, op in enumerate(tape.ops)}
    codes = [known.get(op, 1 << 20) for op in (ops.add, ops.mul, ops.pow)]
    run(passes.collapse, graph.code, graph.start, graph.count, graph.operands, live, numbers, uses, absorbed, level,
        table, sums, first, second, tails, stack, spare_first, spare_second, spare_tails, results, rows, graph.first,
        tape.parameters, graph.constants, *codes)  # fmt: skip
    count = int(results[0])
    table = table[: count * FIELDS]
    made = table.reshape(count, FIELDS)
    lists = [table, count, first, second, tails, graph.start, graph.count, graph.operands]
    last = np.full(nodes, made[:, LEVEL].max(initial=0), np.int32)
    run(passes.latest, *lists, last)
    wanted = np.zeros(count, np.int64)
    weighted = np.flatnonzero((made[:, KIND] == SUM) & (made[:, PO] > 0))
    if len(weighted):
        _, same = np.unique(made[weighted, FIRST_HASH], return_inverse=True)
        highest = np.zeros(same.max() + 1, np.int64)
        np.maximum.at(highest, same, made[weighted, LEVEL])
        wanted[weighted] = highest[same]
        run(passes.settle, *lists, last, level, wanted)
    shape = made[:, KIND:]
    mixed = shape @ (2 * np.arange(1, shape.shape[1] + 1) ** 5 + 1)  # only a way to sort: equal shapes meet
    order = np.lexsort((mixed, made[:, LEVEL]))
    same = np.column_stack([made[order, LEVEL], shape[order]])
    cuts = np.flatnonzero((same[1:] != same[:-1]).any(1)) + 1
    return Macros(graph, made, np.split(order, cuts) if count else [], sums[:count], first, second, tails)


def roll_up(macros: Macros, lanes: int = 1) -> Builder:
    """Step 4: a program that is nearly done, for so many samples at once."""
    graph = macros.graph
    builder = _begun(graph, lanes)
    for group in _by_reach(macros):
        kind, row = macros.rows[group[0], KIND], macros.rows[group[0], NODE] - graph.first
        builder.active = (
            graph.active if graph.reached[row] else np.zeros_like(graph.active)
        )  # who gets none pushes none
        if kind == ELEMENT:
            _elements(builder, macros, group)
        elif kind == SUM:
            roll_sums(builder, macros, group)
        elif kind == TAKEN:
            _takes(builder, macros, group)
        else:
            _extremes(builder, macros, group)
    return builder


def _by_reach(macros: Macros) -> Iterator[Longs]:
    """The groups, each divided into rows that a gradient comes to and rows that none does."""
    graph = macros.graph
    if graph.reached[graph.live].all():
        yield from macros.groups
        return
    for group in macros.groups:
        reached = graph.reached[macros.rows[group, NODE] - graph.first]
        yield from (part for part in (group[reached], group[~reached]) if len(part))


def flat(graph: Dataflow) -> Builder:
    """The same without steps 1 to 4: one operation after the other, for graphs in which there is nothing to group."""
    builder = _begun(graph, 1)
    rows = np.flatnonzero(graph.live)
    out = builder.size
    builder.positions[graph.first + rows] = out + np.arange(len(rows))
    builder.size += len(rows)
    operands = builder.keep(builder.signed(graph.operands))
    names = tuple(builder.op(op) for op in graph.tape.ops)
    codes, counts, slots = (builder.keep(column[rows]) for column in (graph.code, graph.count, graph.slot))
    starts = builder.keep(operands + graph.start[rows])
    pushing = ALL if graph.reached[rows].all() else builder.keep(graph.reached[rows])
    loops = _loops(builder, graph, out)
    builder.steps.append(Rows(out, len(rows), names, codes, starts, counts, slots, pushing, loops))
    return builder


def _loops(builder: Builder, graph: Dataflow, out: int) -> tuple[tuple[int, int, int], ...]:
    """Where the same rows come again and again."""
    rows = np.flatnonzero(graph.live)
    code, count = graph.code[rows].astype(np.int64), graph.count[rows]
    what = np.where((code >= 0) & (count <= MOST), 2 * code + graph.reached[rows], -1)
    nodes = graph.operands[np.minimum(graph.start[rows][:, None] + np.arange(MOST), len(graph.operands) - 1)]
    at = builder.positions[nodes] + np.where(nodes < builder.parameters, 0, builder.parameters)
    return find_loops(what, np.where(np.arange(MOST) < count[:, None], at, -1), builder.parameters + out)


def _begun(graph: Dataflow, lanes: int) -> Builder:
    """A program with room for inputs and constants."""
    tape = graph.tape
    positions = np.full(graph.nodes, -1, np.int64)
    positions[: tape.parameters] = np.arange(tape.parameters)
    positions[tape.parameters : graph.first] = np.arange(tape.inputs)
    positions[graph.constants :] = tape.inputs + np.arange(len(tape.constants))
    builder = Builder(tape.parameters, positions, graph.active, tape.inputs + len(tape.constants), lanes)
    builder.written.append((tape.inputs, np.asarray(tape.constants, np.float64)))
    return builder


# --- ops on operands -------------------------------------------------------------------------------------------------


def _elements(builder: Builder, macros: Macros, group: Longs) -> None:
    graph = macros.graph
    made = macros.rows[group]
    op = graph.tape.ops[int(made[0, KEY] & 0xFFFF)]
    arity = int(made[0, OTHER_TAILS])
    operands = macros.tails[made[:, TAILS][:, None] + np.arange(arity)].astype(np.int64)
    at = builder.positions[operands]
    leader = 0
    if arity > 1:
        leader = max(range(arity), key=lambda k: (operands[0, k] < graph.constants, len(np.unique(at[:, k])), -k))
    order = np.argsort(at[:, leader], kind="stable")
    made, operands, at = made[order], operands[order], at[order]
    rows, accesses = _accesses(builder, graph, operands, at)
    out = builder.allot(made[:, NODE])
    builder.steps.append(Elements(out, builder.op(op), rows, len(made) // rows, tuple(accesses)))


def _accesses(builder: Builder, graph: Dataflow, operands: Longs, at: Longs) -> tuple[int, list[Access]]:
    """Into how many rows the results are best divided, and how each operand is then read."""
    count, arity = at.shape
    columns = count
    constant = operands[0] >= graph.constants
    for k in np.flatnonzero(~constant).tolist():  # the first operand that is no single run says how long a row is
        steps = np.diff(at[:, k])
        breaks = np.flatnonzero(steps != steps[0]) if count > 1 and steps[0] in (0, 1) else np.zeros(0, int)
        if len(breaks):
            length = int(breaks[0]) + 1
            if length >= SHORT and count % length == 0:
                columns = length
            break

    def access(k: int, columns: int) -> Access:
        if constant[k]:
            return builder.constants(graph.tape.constants[operands[:, k] - graph.constants], columns)
        return builder.access(operands[:, k].reshape(-1, columns), (0, 1))

    accesses = [access(k, columns) for k in range(arity)]
    if columns < count and any(x.listed >= 0 for x in accesses):  # lists are for one long row
        accesses = [x if x.listed >= 0 or constant[k] else access(k, count) for k, x in enumerate(accesses)]
        columns = count
    return count // columns, accesses


# --- tables and extremes ---------------------------------------------------------------------------------------------


def _takes(builder: Builder, macros: Macros, group: Longs) -> None:
    graph = macros.graph
    made = macros.rows[group]
    rows = made[:, PAIRS]
    order = np.lexsort((graph.slot[rows], graph.start[rows]))
    made, rows = made[order], rows[order]
    tables: dict[tuple[int, int], int] = {}
    for start, count in zip(graph.start[rows].tolist(), graph.count[rows].tolist(), strict=True):
        if (start, count) not in tables:
            tables[start, count] = builder.keep(builder.signed(graph.operands[start : start + count]))
    where = [tables[table] for table in zip(graph.start[rows].tolist(), graph.count[rows].tolist(), strict=True)]
    wanted = any(builder.active[graph.operands[start : start + count]].any() for start, count in tables)
    tables_at, lengths, slots = (builder.keep(numbers) for numbers in (where, graph.count[rows], graph.slot[rows]))
    out, grads = builder.allot(made[:, NODE]), ADD if wanted else NOTHING
    builder.steps.append(Take(out, len(rows), tables_at, lengths, slots, grads))


def _extremes(builder: Builder, macros: Macros, group: Longs) -> None:
    graph = macros.graph
    made = macros.rows[group]
    code, width = int(made[0, KEY]), int(made[0, OTHER_TAILS])
    nodes = graph.operands[graph.start[made[:, PAIRS]][:, None] + np.arange(width)].astype(np.int64)
    order = np.argsort(builder.positions[nodes[:, 0]], kind="stable")
    made, nodes = made[order], nodes[order]
    grads = ADD if code != SHIFT and builder.active[nodes].any() else NOTHING
    listed = builder.keep(builder.signed(nodes))
    builder.steps.append(Extreme(builder.allot(made[:, NODE]), SPECIAL[code], len(made), width, listed, grads))
