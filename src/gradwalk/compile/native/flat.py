"""The flat interpreter: one row after another. For graphs without structure, where there is nothing to roll up.

The ops that scalar programs are full of are spelt out in its loop, from the op table; every other op, user-defined ones
included, is a native function of its own that the loop calls by address.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk import ops
from gradwalk.compile.array_types import Floats, Longs
from gradwalk.compile.native import objects
from gradwalk.compile.native.codegen import op_slopes, op_value, slope_lines, value_lines
from gradwalk.compile.native.loops import Loop, Row
from gradwalk.compile.native.objects import Native
from gradwalk.compile.native.single import SingleExecution
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.steps import ALL, Rows
from gradwalk.compile.trace.tape import MAX, MIN, SHIFT, TAKE
from gradwalk.ops import Op

__all__ = ["FlatCode", "FlatExecution"]


HOT = (ops.add, ops.mul, ops.sub, ops.div, ops.neg, ops.relu, ops.exp, ops.tanh, ops.log)
CALL, TAKEN, LARGEST, SMALLEST, SHIFTED, LOOPED = range(len(HOT), len(HOT) + 6)
SPECIAL_CODES = {TAKE: TAKEN, MAX: LARGEST, MIN: SMALLEST, SHIFT: SHIFTED}
#: Columns of the instruction array: what to do, where the result goes, two operands (or a list and its length), which.
WIDTH = 5
#: Words of the table that the interpreter reads; those of loops follow.
TABLE = 14


class FlatCode:
    """Instructions for the interpreter: one for each row, over one memory of parameters and own numbers."""

    def __init__(self, program: Program) -> None:
        self.program, step = program, program.steps[0]
        assert isinstance(step, Rows)
        codes, starts, counts, slots = (
            program.lists[at : at + step.count] for at in (step.codes, step.starts, step.counts, step.slots)
        )
        self.operands = np.where(program.lists < 0, ~program.lists, program.lists + np.int32(program.parameters))
        ops_used = [program.ops[name] for name in step.ops]
        hot = {op: i for i, op in enumerate(HOT)}
        known = np.array([hot.get(op, CALL) for op in ops_used] + [0], np.int32)
        what = known[np.maximum(codes, 0)]
        for number, special in SPECIAL_CODES.items():
            what[codes == number] = special
        lists = what >= CALL
        second = np.minimum(starts + 1, len(self.operands) - 1)
        self.code = np.empty((step.count, WIDTH), np.int32)
        self.code[:, 0] = what
        self.code[:, 1] = program.parameters + step.out + np.arange(step.count)
        self.code[:, 2] = np.where(lists, starts, self.operands[starts])
        self.code[:, 3] = np.where(lists, counts, self.operands[second])
        self.code[:, 4] = np.where(what == TAKEN, slots, codes)
        self.back = self.code
        if step.pushing != ALL:
            self.back = self.code.copy()
            self.back[program.lists[step.pushing :][: step.count] == 0, 0] = SHIFTED
        self.values = np.zeros(len(ops_used) + len(step.loops) + 1, np.int64)
        self.slopes = np.zeros(len(ops_used) + len(step.loops) + 1, np.int64)
        self.widest = max([op.arity for op in ops_used], default=0)
        self.words: list[int] = []  # that loops read
        looped = np.zeros(step.count, np.bool_)
        for number, (first, body, turns) in enumerate(step.loops, start=len(ops_used)):
            loop = self._loop(step, ops_used, first, body, turns)
            self.values[number], self.slopes[number] = objects.load(loop.forward), objects.load(loop.backward)
            for i, way in loop.called:
                functions = self.values if way == "value" else self.slopes
                functions[i] = objects.load((op_value if way == "value" else op_slopes)(ops_used[i]))
            self.code[first] = LOOPED, 0, TABLE + len(self.words), 0, number
            self.back[first] = self.code[first]
            self.words += loop.words
            looped[first + 1 : first + body * turns] = True
        for i in np.unique(codes[(what == CALL) & (self.code[:, 0] == CALL) & ~looped]).tolist():
            self.values[i] = objects.load(op_value(ops_used[i]))
            self.slopes[i] = objects.load(op_slopes(ops_used[i]))
        if step.loops:
            self.code, self.back = self.code[~looped], self.back[~looped]

    def _loop(self, step: Rows, ops_used: list[Op], first: int, body: int, turns: int) -> Loop:
        """Some rows as a loop."""
        program = self.program
        lists, start = program.lists, program.parameters + step.out + first
        rows = np.arange(first, first + body * turns)
        width = int(lists[step.counts + rows[:body]].max())
        at = self.operands[np.minimum(lists[step.starts + rows][:, None] + np.arange(width), len(self.operands) - 1)]
        constant = np.zeros(program.parameters + program.size, np.bool_)
        constant[program.parameters + program.constant_positions] = True
        codes = lists[step.codes + rows[:body]].tolist()
        pushing = [True] * body if step.pushing == ALL else lists[step.pushing + rows[:body]].astype(bool).tolist()
        each = [Row(ops_used[code], code, pushes) for code, pushes in zip(codes, pushing, strict=True)]
        return Loop(each, at.reshape(turns, body, width).astype(np.int64), start, constant)


class FlatExecution(SingleExecution):
    """Such instructions bound to memory."""

    def __init__(self, flat: FlatCode, values: Floats, grads: Floats) -> None:
        program, first = flat.program, flat.program.parameters
        memory, slopes, box = (
            np.zeros(first + program.size),
            np.zeros(first + program.size),
            np.zeros(2 * flat.widest + 2),
        )
        memory[first + program.constant_positions] = program.constants
        self.inputs, self.input_grads = (x[first : first + program.inputs] for x in (memory, slopes))
        self.indices = np.zeros(max(program.indices, 1), np.int64)
        self.outputs = self.totals = np.zeros(len(program.outputs))
        self.seeds = np.zeros(len(program.outputs))
        places = np.array(program.outputs, np.int64)
        nodes = np.where(places < 0, ~places, places + first).astype(np.int32)
        arrays: list[npt.NDArray[Any]] = [flat.operands, self.indices, memory, slopes, box]
        shared = [len(flat.code), *(x.ctypes.data for x in arrays)]

        def table(code: Any, functions: Longs, parameters: Floats, ends: Floats) -> Any:
            sizes = [functions.ctypes.data, first, parameters.ctypes.data, len(nodes)]
            ending = [nodes.ctypes.data, ends.ctypes.data, len(memory)]
            return np.array([code.ctypes.data, *shared, *sizes, *ending, *flat.words], np.int64)

        there = table(flat.code, flat.values, values, self.outputs)
        back = table(flat.back, flat.slopes, grads, self.seeds)
        self._keep = [*arrays, values, grads, nodes, flat.code, flat.back, flat.values, flat.slopes, there, back]
        self.forward = objects.bound(interpreter("forward"), there.ctypes.data)
        self.backward = objects.bound(interpreter("backward"), back.ctypes.data)


# --- kernels, from the table -----------------------------------------------------------------------------------------


#: What both directions begin with: `c` is one table of addresses and sizes.
HEAD = """\
def kernel(table, unused):
    c = longs(table)
    code = ints(c[0])
    rows = c[1]
    operands = ints(c[2])
    index = longs(c[3])
    v = doubles(c[4])
    g = doubles(c[5])
    box = doubles(c[6])
"""

FORWARD = (
    HEAD
    + """\
    function = longs(c[7])
    parameters = c[8]
    p = doubles(c[9])
    for i in range(parameters):
        v[i] = p[i]
    for row in range(rows):
        at = row * 5
        what = code[at]
        to = code[at + 1]
        first = code[at + 2]
        second = code[at + 3]
        if what < {hot}:
            x0 = v[first]
            x1 = v[second]
{branches}
        elif what == {CALL}:
            for k in range(second):
                box[k] = v[operands[first + k]]
            invoke(function[code[at + 4]], c[6], c[4] + 8 * to)
        elif what == {LOOPED}:
            invoke(function[code[at + 4]], table, first)
        elif what == {TAKEN}:
            v[to] = v[operands[first + index[code[at + 4]]]]
        else:
            best = v[operands[first]]
            for k in range(1, second):
                x = v[operands[first + k]]
                if what == {SMALLEST}:
                    best = x if x < best or x != x else best
                else:
                    best = x if x > best or x != x else best
            v[to] = best
    out = doubles(c[12])
    outputs = ints(c[11])
    for k in range(c[10]):
        out[k] = v[outputs[k]]
"""
)

BACKWARD = (
    HEAD
    + """\
    function = longs(c[7])
    parameters = c[8]
    p = doubles(c[9])
    nodes = c[13]
    for i in range(nodes):
        g[i] = 0.0
    seeds = doubles(c[12])
    outputs = ints(c[11])
    for k in range(c[10]):
        g[outputs[k]] += seeds[k]
    for back in range(rows):
        at = (rows - 1 - back) * 5
        what = code[at]
        to = code[at + 1]
        first = code[at + 2]
        second = code[at + 3]
        push = g[to]
        out = v[to]
        if what < {hot}:
            x0 = v[first]
            x1 = v[second]
{branches}
        elif what == {CALL}:
            for k in range(second):
                box[k] = v[operands[first + k]]
            box[second] = out
            invoke(function[code[at + 4]], c[6], c[6] + 8 * (second + 1))
            for k in range(second):
                g[operands[first + k]] += box[second + 1 + k] * push
        elif what == {LOOPED}:
            invoke(function[code[at + 4]], table, first)
        elif what == {TAKEN}:
            g[operands[first + index[code[at + 4]]]] += push
        elif what != {SHIFTED}:
            ties = 0.0
            for k in range(second):
                ties += 1.0 if v[operands[first + k]] == out else 0.0
            for k in range(second):
                g[operands[first + k]] += ((1.0 if v[operands[first + k]] == out else 0.0) / ties) * push
    for i in range(parameters):
        p[i] += g[i]
"""
)


@cache
def interpreter(direction: str) -> Native:
    """The loop over instructions, forwards or backwards."""
    codes: dict[str, Any] = {
        "hot": len(HOT), "CALL": CALL, "TAKEN": TAKEN, "SMALLEST": SMALLEST, "SHIFTED": SHIFTED,
        "LOOPED": LOOPED,
    }  # fmt: skip
    branches: list[str] = []
    for i, op in enumerate(HOT):
        branches.append(f"            {'el' if i else ''}if what == {i}:")
        if direction == "forward":
            lines, (result,) = value_lines(op)
            lines.append(f"v[to] = {result}")
        else:
            lines, results, _ = slope_lines(op, range(op.arity), "out")
            lines += [
                f"g[{target}] += {result} * push" for target, result in zip(("first", "second"), results, strict=False)
            ]
        branches += [f"                {line}" for line in lines]
    template = FORWARD if direction == "forward" else BACKWARD
    return objects.generated(f"flat {direction}", template.format(branches="\n".join(branches), **codes))
