"""From a tape to a program: the whole of rolling up, for single samples and for batches.

For a batch, what depends on parameters alone is the same for every sample. It is cut out of the tape and computed once,
by a program of single numbers; the rest sees its results as if they were parameters, and its share of the gradient
flows through them. So a penalty on the weights inside the function of one sample is counted as often as it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradwalk import ops
from gradwalk.compile.array_types import Longs
from gradwalk.compile.roll import analyze, dataflow
from gradwalk.compile.roll.chains import as_sums
from gradwalk.compile.roll.dataflow import Dataflow, renumbered
from gradwalk.compile.roll.passes import RunPass, plainly
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.repeats import without_repeats
from gradwalk.compile.roll.steps import Rows, Step
from gradwalk.compile.trace.tape import TAKE, Tape

__all__ = ["Analysis", "roll", "roll_batch", "split"]


#: Where groups hold fewer operations than this on average, one after the other is faster; fewer than that, if nearly
#: all of them are in loops.
FEW, FEW_IN_LOOPS = 10, 40
#: Lanes that are run together, at most; fewer where a sample needs much memory.
MOST_LANES, MANY_NUMBERS, FEWER_LANES = 128, 4000, 64


@dataclass(frozen=True, eq=False)
class Analysis:
    """A program, and what a report wants to know of it."""

    program: Program
    find_steps: Callable[[], Longs]
    merged: bool = False  # whether some rows are not done because they repeat others

    @cached_property
    def step_of(self) -> Longs:
        """Which of the program's steps gives each row of the tape: -1 for rows inside a step, or not needed."""
        return self.find_steps()


def roll(tape: Tape, *, input_grads: bool = False, structured: bool | None = None, run: RunPass = plainly) -> Analysis:
    """The program of a tape; `input_grads` asks for gradients with respect to the inputs as well.

    Whether it is rolled up or left row by row is decided by its structure, unless `structured` decides it. `run` runs
    the passes of the analysis.

    >>> [step.kind for step in roll(trace(lambda x: x * x, [3.0]).tape, structured=True).program.steps]
    ['op']
    """
    given = tape
    where: Any = slice(None)  # which row stands for each
    graph = dataflow.read(tape, input_grads, run)
    if repeats := without_repeats(graph, run, rolled=structured is not False):
        tape, where = repeats
    if structured is not False and (sums := as_sums(tape)):
        tape, where = sums[0], sums[1][where]
    if tape is not given:
        graph = dataflow.read(tape, input_grads, run)
    macros = analyze.collapse(graph, run)
    if structured is None:
        rows, groups = int(graph.live.sum()), len(macros.groups)
        structured = rows >= FEW * groups
        if (tape is not given or structured) and rows < FEW_IN_LOOPS * groups:
            found = roll(given, input_grads=input_grads, structured=False, run=run)
            (step,) = found.program.steps
            assert isinstance(step, Rows)
            if not structured or 10 * sum(body * turns for _, body, turns in step.loops) > 9 * step.count:
                return found
    builder = analyze.roll_up(macros) if structured else analyze.flat(graph)
    program = builder.program(
        tape.outputs.astype(np.int64), parameters=tape.parameters, inputs=tape.inputs, indices=tape.indices,
        input_grads=input_grads,
    )  # fmt: skip
    positions = builder.positions[graph.first : graph.constants]
    return Analysis(program, lambda: _steps_of(positions[where], program.steps), bool(repeats))


def roll_batch(tape: Tape, *, dtype: str = "float64", input_grads: bool = False, run: RunPass = plainly) -> Analysis:
    """The program that runs many samples at once, from the tape of one.

    >>> roll_batch(trace(lambda x: x * x, [3.0]).tape).program.lanes
    128
    """
    where: Any = slice(None)
    if repeats := without_repeats(dataflow.read(tape, input_grads, run), run):
        tape, where = repeats
    lane_tape, shared_tape, new = split(tape, run)
    shared = roll(shared_tape, run=run) if shared_tape is not None else None
    wanting = lane_tape.parameters - len(tape.constants)
    graph = dataflow.read(lane_tape, input_grads, run, wanting)
    builder = analyze.roll_up(analyze.collapse(graph, run), MOST_LANES)
    program = builder.program(
        lane_tape.outputs.astype(np.int64), parameters=tape.parameters, inputs=tape.inputs, indices=tape.indices,
        input_grads=input_grads, dtype=dtype, shared=shared.program if shared else None,
        fixed=np.asarray(tape.constants, np.float64),
    )  # fmt: skip
    if program.size > MANY_NUMBERS:
        program = replace(program, lanes=FEWER_LANES)
    new = new[tape.first_row : tape.first_row + tape.rows]

    def find_steps() -> Longs:
        moving = new >= lane_tape.first_row
        step_of = np.full(tape.rows, -1, np.int64)
        if shared is not None:
            step_of = np.where(shared.step_of >= 0, shared.step_of + len(program.steps), -1)
        step_of[moving] = _steps_of(builder.positions[new[moving]], program.steps)
        found: Longs = step_of[where]
        return found

    return Analysis(program, find_steps, bool(repeats))


def _steps_of(positions: Longs, steps: tuple[Step, ...]) -> Longs:
    found = np.searchsorted([step.out for step in steps], positions, side="right") - 1
    return np.where(positions >= 0, found, -1)


# --- what samples share ----------------------------------------------------------------------------------------------


def split(tape: Tape, run: RunPass = plainly) -> tuple[Tape, Tape | None, Longs]:
    """The tape of what differs from sample to sample; the tape of what they share, if there is such a thing; new ids.

    In the first, constants and what is shared stand among the parameters: first the tape's own, then the outputs of the
    second tape, then the constants. Exponents stay constants, because simple powers have kernels of their own.
    """
    graph = dataflow.read(tape, False, run)
    differs = np.zeros(graph.nodes, np.bool_)
    differs[tape.parameters : graph.first] = True
    rows = np.flatnonzero(graph.live)
    spans = {row: graph.operands[graph.start[row] : graph.start[row] + graph.count[row]] for row in rows.tolist()}
    for row, span in spans.items():
        differs[graph.first + row] = graph.code[row] == TAKE or differs[span].any()
    moving = rows[differs[graph.first + rows]]
    still = rows[~differs[graph.first + rows]]
    seen = np.zeros(graph.nodes, np.bool_)  # what the moving rows or the outputs see of the still ones
    for row in moving.tolist():
        seen[spans[row]] = True
    seen[tape.outputs] = True
    exported = still[seen[graph.first + still]]
    count = len(exported)
    constants = len(tape.constants)
    parameters = tape.parameters + count + constants
    new = np.full(graph.nodes, -1, np.int64)
    new[: tape.parameters] = np.arange(tape.parameters)
    new[graph.first + exported] = tape.parameters + np.arange(count)
    new[graph.constants :] = tape.parameters + count + np.arange(constants)
    new[tape.parameters : graph.first] = parameters + np.arange(tape.inputs)
    new[graph.first + moving] = parameters + tape.inputs + np.arange(len(moving))
    lane_tape = _kept(tape, graph, moving, new, parameters)
    shared = replace(tape, outputs=(graph.first + exported).astype(np.int32)) if count else None
    return lane_tape, shared, new


def _kept(tape: Tape, graph: Dataflow, rows: Longs, new: Longs, parameters: int) -> Tape:
    """A tape of some rows, their operands renumbered."""

    def moved(x: Any) -> Any:
        ids = np.where(x < 0, graph.constants + ~x.astype(np.int64), x)
        return new[np.minimum(ids, graph.nodes - 1)].astype(np.int32)

    codes, seconds = tape.code[rows], tape.b[rows]
    a, b, aux = renumbered(tape, rows, moved)
    power = tape.ops.index(ops.pow) if ops.pow in tape.ops else -9
    b = np.where((codes == power) & (seconds < 0), seconds, b)
    return replace(tape, parameters=parameters, code=codes, a=a, b=b, aux=aux, outputs=moved(tape.outputs))
