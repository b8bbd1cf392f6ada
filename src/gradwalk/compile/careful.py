"""Gradients of a tape where edges are cut: row by row in plain Python, with nothing pushed from what was not reached.

Kernels push 0 along an edge that is cut: to the branch that a `where` did not take, to all but the largest of a `max`.
That is right unless something infinite or nan lies further down, where 0 times it is nan. So a walk back through such
a tape that ends in a nan is done again in this way (`prepared.Runner`), which knows 0 from nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwalk.compile.roll.dataflow import Dataflow, read
from gradwalk.compile.roll.passes import RunPass, plainly
from gradwalk.compile.trace.tape import MAX, MIN, SHIFT, TAKE, Tape
from gradwalk.ops import CUT, maximum, minimum

__all__ = ["CarefulWalk", "cuts"]


def cuts(tape: Tape, input_grads: bool, run: RunPass = plainly) -> bool:
    """Whether there is an edge on the tape that may be cut, with something behind it that wants a gradient.

    >>> w = Value(1.0)
    >>> [cuts(trace(f, [3.0]).tape, False) for f in (lambda x: w * x, lambda x: gradwalk.maximum(w * x, x))]
    [False, True]
    """
    cutting = [i for i, op in enumerate(tape.ops) if op.cuts] + [TAKE, MAX, MIN]
    rows = np.flatnonzero(np.isin(tape.code, cutting))
    if not len(rows):
        return False
    graph = read(tape, input_grads, run)
    rows = rows[graph.live[rows] & graph.reached[rows]]
    leaf = np.ones(graph.nodes, np.bool_)
    leaf[graph.first : graph.constants] = False
    for taking in (False, True):
        active = graph.active & ~leaf if taking else graph.active  # a take pushes to the one it took, and 0 to no leaf
        some = rows[(tape.code[rows] == TAKE) == taking]
        for count in np.unique(graph.count[some]).tolist():
            starts = graph.start[some[graph.count[some] == count]]
            if active[graph.operands[starts[:, None] + np.arange(count)]].any():
                return True
    return False


class CarefulWalk:
    """The walk back through one tape.

    >>> tape = trace(lambda x: gradwalk.where(x > 0, x.sqrt(), x * 3), [1.0]).tape
    >>> CarefulWalk(tape, input_grads=True).gradients([], [0.0], [], [1.0])
    ([], [3.0])
    """

    def __init__(self, tape: Tape, input_grads: bool) -> None:
        self.tape = tape
        graph: Dataflow = read(tape, input_grads)
        spans = zip(graph.start.tolist(), graph.count.tolist(), strict=True)
        operands, codes = graph.operands.tolist(), tape.code.tolist()
        self.rows = [
            (graph.first + i, codes[i], operands[start : start + count], slot, reached)
            for i, ((start, count), slot, live, reached) in enumerate(
                zip(spans, graph.slot.tolist(), graph.live.tolist(), graph.reached.tolist(), strict=True)
            )
            if live
        ]
        self.active, self.nodes, self.constants = graph.active.tolist(), graph.nodes, graph.constants

    def gradients(self, parameters: Any, inputs: Any, indices: Any, seeds: Any) -> tuple[list[float], list[float]]:
        """Of the sum of seeds times outputs, with respect to parameters and inputs; a seed of 0 takes no part."""
        tape = self.tape
        numbers: list[float] = [*parameters, *inputs, *[0.0] * tape.rows, *tape.constants.tolist()]
        for node, code, operands, slot, _ in self.rows:
            numbers[node] = self._value(code, [numbers[x] for x in operands], slot, indices)
        found: list[float | None] = [None] * self.nodes  # None: nothing was pushed there
        for node, seed in zip(tape.outputs.tolist(), seeds, strict=True):
            if seed or len(seeds) == 1:
                found[node] = (found[node] or 0.0) + seed
        for node, code, operands, slot, reached in reversed(self.rows):
            upstream = found[node]
            if upstream is None or not reached:
                continue
            point = [numbers[x] for x in operands]
            for k, x in enumerate(operands):
                if not self.active[x]:
                    continue
                slope = self._slope(code, k, point, numbers[node], slot, indices)
                if slope is not CUT:
                    found[x] = (found[x] or 0.0) + upstream * slope
        leaves = [0.0 if x is None else x for x in found[: tape.first_row]]
        return leaves[: tape.parameters], leaves[tape.parameters :]

    def _value(self, code: int, point: list[float], slot: int, indices: Any) -> float:
        if code >= 0:
            return self.tape.ops[code].forward(*point)
        if code == TAKE:
            return point[int(indices[slot])]
        pairwise = minimum if code == MIN else maximum
        best = point[0]
        for x in point[1:]:
            best = pairwise.forward(best, x)
        return best

    def _slope(self, code: int, k: int, point: list[float], out: float, slot: int, indices: Any) -> float:
        if code >= 0:
            return self.tape.ops[code].slope(k, *point, out)
        if code == TAKE:
            return 1.0 if k == int(indices[slot]) else CUT
        if code == SHIFT:
            return CUT
        if out != out:
            return math.nan
        return 1.0 / point.count(out) if point[k] == out else CUT
