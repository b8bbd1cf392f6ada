"""Batches: the program of one sample, run on many at once, each in a lane of its own.

What depends on parameters alone is the same for every sample. It is cut out of the tape and computed once, by a program
of single numbers; the rest sees its results as if they were parameters, and its share of the gradient flows through
them. So a penalty on the weights inside the function of one sample is counted exactly as often as it was written.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk import ops
from gradwalk.compile.native import objects
from gradwalk.compile.native.lane_codegen import LaneKernels
from gradwalk.compile.native.runtime import Program, Runner, aligned, prepare
from gradwalk.compile.roll import analyze
from gradwalk.compile.roll import graph as graphs
from gradwalk.compile.roll.program import Builder, Row
from gradwalk.compile.trace.tape import NONE, TAKE, Tape
from gradwalk.errors import InputSizeError

__all__ = ["LaneProgram", "LaneRunner", "prepare_lanes"]

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

#: Words of a driver's table (`lane_drive.TABLE`) that change from call to call.
SEEDS_FOR_EACH, WITH_GRADIENTS = 15, 16
#: Lanes that are run together, at most; fewer where a sample needs much memory.
MOST_LANES, MANY_NODES, FEWER_LANES = 128, 4000, 64


@dataclass(eq=False)
class LaneProgram:
    """A tape of one sample prepared for batches.

    >>> from gradwalk.compile.native.lanes import LaneProgram
    >>> LaneProgram.__name__
    'LaneProgram'
    """

    tape: Tape
    dtype: str
    input_grads: bool
    rolled: Builder
    lane_tape: Tape
    shared: Program | None  # what depends on parameters alone
    rows: list[Row] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    bytes: int = 0  # for one sample


def prepare_lanes(tape: Tape, dtype: str = "float64", input_grads: bool = False) -> LaneProgram:
    """Analyse the tape of one sample for batches in float64 or float32.

    >>> from gradwalk.compile.native.lanes import prepare_lanes
    >>> prepare_lanes.__name__
    'prepare_lanes'
    """
    began = time.perf_counter()
    lane_tape, shared_tape = split(tape)
    shared = prepare(shared_tape) if shared_tape is not None else None
    wanting = lane_tape.parameters - len(tape.constants)
    graph = graphs.read(lane_tape, input_grads, wanting)
    rolled = analyze.roll_up(analyze.collapse(graph), LaneKernels(dtype))
    program = LaneProgram(tape, dtype, input_grads, rolled, lane_tape, shared)
    program.rows = [step.row for step in rolled.steps] + (shared.rows if shared else [])
    program.bytes = 2 * rolled.size * np.dtype(dtype).itemsize + 4 * rolled.listed
    program.timings["analysis"] = time.perf_counter() - began
    return program


def split(tape: Tape) -> tuple[Tape, Tape | None]:
    """The tape of what differs from sample to sample, and the tape of what they share, if there is such a thing.

    In the first, constants and what is shared stand among the parameters: first the tape's own, then the outputs of the
    second tape, then the constants. Exponents stay constants, because simple powers have kernels of their own.
    """
    graph = graphs.read(tape, input_grads=False)
    differs = np.zeros(graph.nodes, np.bool_)
    differs[tape.parameters : graph.first] = True
    code = graph.code
    rows = np.flatnonzero(graph.live)
    for row in rows.tolist():
        span = graph.operands[graph.start[row] : graph.start[row] + graph.count[row]]
        differs[graph.first + row] = code[row] == TAKE or differs[span].any()
    moving = rows[differs[graph.first + rows]]
    still = rows[~differs[graph.first + rows]]
    seen = np.zeros(graph.nodes, np.bool_)  # what the moving rows or the outputs see of the still ones
    for row in moving.tolist():
        seen[graph.operands[graph.start[row] : graph.start[row] + graph.count[row]]] = True
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
    lane_tape = _kept(tape, graph, moving, new, parameters, new[tape.outputs])
    if not count:
        return lane_tape, None
    return lane_tape, replace(tape, inputs=tape.inputs, outputs=(graph.first + exported).astype(np.int32))


def _kept(tape: Tape, graph: graphs.Graph, rows: Longs, new: Longs, parameters: int, outputs: Longs) -> Tape:
    """A tape of some rows, their operands renumbered."""

    def renumbered(x: Any) -> Any:
        ids = np.where(x < 0, graph.constants + ~x.astype(np.int64), x)
        return new[np.minimum(ids, graph.nodes - 1)].astype(np.int32)

    codes = tape.code[rows]
    a, b = tape.a[rows].copy(), tape.b[rows].copy()
    listed = (codes < 0) | (np.array([op.arity for op in tape.ops] or [0])[np.maximum(codes, 0)] > 2)
    power = tape.ops.index(ops.pow) if ops.pow in tape.ops else -9
    exponents = (codes == power) & (b < 0) & (b != NONE)
    plain = ~listed
    a[plain] = renumbered(a[plain])
    second = plain & (b != NONE) & ~exponents
    b[second] = renumbered(b[second])
    heads = np.zeros(len(tape.aux), np.bool_)  # three words that say what to take are no operands
    for head in tape.a[rows[codes == TAKE]].tolist():
        heads[head : head + 3] = True
    aux = np.where(heads, tape.aux, renumbered(tape.aux)) if len(tape.aux) else tape.aux
    return replace(
        tape, parameters=parameters, code=codes, a=a, b=b, aux=aux.astype(np.int32), outputs=outputs.astype(np.int32)
    )


class LaneRunner:
    """A program for batches, bound to memory; see `resize`, then write `inputs` and `indices`.

    >>> from gradwalk.compile.native.lanes import LaneRunner
    >>> LaneRunner.__name__
    'LaneRunner'
    """

    def __init__(self, program: LaneProgram, values: Floats, grads: Floats, threads: int = 1) -> None:
        self.program = program
        self.values, self.grads = values, grads
        self.threads = threads
        self.samples = 0
        self._real = np.dtype(program.dtype)
        self._drive = objects.call(objects.fixed("native.lane_drive", f"DRIVERS.{program.dtype}"))
        rolled = program.rolled
        self._lists = np.concatenate([*rolled.lists, np.zeros(1, np.int32)])
        self._words = np.array([word for step in rolled.steps for word in step.descriptor], np.int64)
        starts = np.cumsum([0, *(len(step.descriptor) for step in rolled.steps)])[:-1]
        self._descriptors = self._words.ctypes.data + 8 * starts.astype(np.int64)
        kernels = [(step.forward, step.backward() if step.backward else None, step.end) for step in rolled.steps]
        self._kernels = np.array([[objects.load(k) if k else 0 for k in row] for row in kernels], np.int64)
        self._kernels = np.ascontiguousarray(self._kernels.reshape(-1, 3).T)
        self._places = rolled.signed(program.lane_tape.outputs.astype(np.int64))
        self._parameters = np.zeros(program.lane_tape.parameters, self._real)
        own, constants = program.tape.parameters, len(program.tape.constants)
        self._parameters[len(self._parameters) - constants :] = program.tape.constants
        self._exports = slice(own, len(self._parameters) - constants)
        self.totals = np.zeros(len(self._places))
        self.gradients = np.zeros(own)
        self._shared = Runner(program.shared, values, self.gradients) if program.shared is not None else None
        self._pool = ThreadPoolExecutor(max(threads, 1))  # starts no thread before it is given work
        self._workers: list[_Worker] = []

    def resize(self, samples: int) -> None:
        """Make room for so many samples; `inputs` and `indices` are new then.

        >>> from gradwalk.compile.native.lanes import LaneRunner
        >>> LaneRunner.resize.__name__
        'resize'
        """
        if samples < 1:
            raise InputSizeError(f"a batch holds at least 1 sample, not {samples}")
        if samples == self.samples:
            return
        tape = self.program.tape
        self.samples = samples
        self.inputs = np.zeros((tape.inputs, samples), self._real)
        self.indices = np.zeros((max(tape.indices, 1), samples), np.int64)
        self.input_grads = np.zeros((tape.inputs if self.program.input_grads else 0, samples), self._real)
        self.each = np.zeros((len(self._places), samples))
        self._seeds = np.zeros((len(self._places), samples))
        self._first_seeds = self._seeds.reshape(-1)[: len(self._places)]
        vector = max(objects.vector_bits() // 8 // self._real.itemsize, 4)
        most = FEWER_LANES if self.program.rolled.size > MANY_NODES else MOST_LANES
        lanes = min(-(-samples // vector) * vector, most)
        # each thread has a share of whole rows of lanes
        blocks = -(-samples // lanes)
        count = max(1, min(self.threads, blocks))
        ends = [min(samples, (blocks * k // count) * lanes) for k in range(count + 1)]
        self._workers = [_Worker(self, lanes, ends[k], ends[k + 1]) for k in range(count)]
        self._way = 0  # what their tables say of gradients, and of seeds for each sample

    def forward(self) -> None:
        """Compute `totals`, the sums of the outputs over all samples, and `each`, the outputs themselves.

        >>> from gradwalk.compile.native.lanes import LaneRunner
        >>> LaneRunner.forward.__name__
        'forward'
        """
        self._run(with_gradients=False)

    def forward_and_backward(self, seeds: Any) -> None:
        """As `forward`, and leave in `gradients` those of the sum over samples of seed times output.

        `seeds` holds one number for each output, or one for each output and sample.

        >>> from gradwalk.compile.native.lanes import LaneRunner
        >>> LaneRunner.forward_and_backward.__name__
        'forward_and_backward'
        """
        for_each = np.ndim(seeds) == 2
        if for_each:
            self._seeds[:] = seeds
        else:
            self._first_seeds[:] = seeds
        self._run(with_gradients=True, for_each=for_each)

    def forward_and_backward_once(self, seed: float) -> None:
        """As `forward_and_backward` of a function with one output, with one seed for all samples.

        >>> from gradwalk.compile.native.lanes import LaneRunner
        >>> LaneRunner.forward_and_backward_once.__name__
        'forward_and_backward_once'
        """
        self._first_seeds[0] = seed
        self._run(with_gradients=True)

    def add_gradients(self, scale: float = 1.0) -> None:
        """Add what `forward_and_backward` left to the gradients of the parameters.

        >>> from gradwalk.compile.native.lanes import LaneRunner
        >>> LaneRunner.add_gradients.__name__
        'add_gradients'
        """
        if scale == 1.0:
            self.grads += self.gradients
        else:
            self.grads += scale * self.gradients

    def _run(self, with_gradients: bool, for_each: bool = False) -> None:
        workers = self._workers
        way = with_gradients + 2 * for_each
        if way != self._way:
            for worker in workers:
                worker.table[SEEDS_FOR_EACH], worker.table[WITH_GRADIENTS] = for_each, with_gradients
            self._way = way
        if len(workers) == 1:
            workers[0].drive()
        else:
            self._run_together(with_gradients)

    def _run_together(self, with_gradients: bool) -> None:
        own, shared = self.program.tape.parameters, self._shared
        self._parameters[:own] = self.values
        if shared is not None:
            shared.forward()
            self._parameters[self._exports] = shared.outputs
        list(self._pool.map(lambda worker: worker.drive(), self._workers))
        self.totals[:] = sum(worker.totals for worker in self._workers)
        self.gradients[:] = sum(worker.parameter_grads[:own].astype(np.float64) for worker in self._workers)
        if with_gradients and shared is not None:  # the walk goes on through what all samples share
            shared.seeds[:] = sum(worker.parameter_grads[self._exports] for worker in self._workers)
            shared.push()


class _Worker:
    """The memory of one thread, and the table that its driver reads."""

    def __init__(self, runner: LaneRunner, lanes: int, begin: int, stop: int) -> None:
        rolled, real = runner.program.rolled, runner._real
        self.values, self.grads = (aligned(rolled.size * lanes, real) for _ in range(2))
        for start, numbers in rolled.written:
            rows = self.values[start * lanes : (start + len(numbers)) * lanes]
            rows.reshape(len(numbers), lanes)[:] = numbers[:, None]
        vector = max(objects.vector_bits() // 8 // real.itemsize, 1)
        self.scratch, self.sums = aligned(rolled.scratch * lanes, real), aligned(rolled.summed * vector, real)
        self.parameter_grads = np.zeros(len(runner._parameters), real)
        alone = begin == 0 and stop == runner.samples  # then it does for the runner what otherwise Python does for all
        self.totals = runner.totals if alone else np.zeros(len(runner._places))
        arrays = [self.values, self.grads, runner._parameters, self.parameter_grads, runner._lists, runner.indices,
                  self.scratch]  # fmt: skip
        sizes = [lanes, self.sums.ctypes.data, 0, 0, runner.samples]
        self.context = np.array([*(x.ctypes.data for x in arrays), *sizes], np.int64)
        forward, backward, end = (row.ctypes.data for row in runner._kernels)
        input_grads = runner.input_grads.ctypes.data if len(runner.input_grads) else 0
        self.table = np.array([
            len(rolled.steps), forward, backward, end, runner._descriptors.ctypes.data, self.context.ctypes.data,
            runner.inputs.ctypes.data, len(runner.inputs), begin, stop, len(runner._places), runner._places.ctypes.data,
            self.totals.ctypes.data, runner.each.ctypes.data, runner._seeds.ctypes.data, 0, 0, len(rolled.cleared),
            rolled.cleared.ctypes.data, len(self.parameter_grads), len(self.sums), input_grads,
            runner.values.ctypes.data if alone else 0, len(runner.values),
            runner.gradients.ctypes.data if alone else 0, *self._of_shared(runner._shared),
        ], np.int64)  # fmt: skip
        self.drive = partial(runner._drive, self.table.ctypes.data, 0)

    def _of_shared(self, shared: Runner | None) -> list[int]:
        """Where the program of what all samples share is found, for a worker that is alone."""
        if shared is None:
            return [0] * 5
        self.there, self.back = (np.array(shared.native(way), np.int64) for way in ("forward", "backward"))
        arrays = (self.there, self.back, shared.outputs, shared.seeds)
        return [len(shared.outputs), *(x.ctypes.data for x in arrays)]
