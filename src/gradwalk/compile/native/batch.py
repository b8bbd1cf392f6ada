"""A program for batches bound to memory: samples go through it in lanes, some at a time, all the way there and back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from gradwalk.compile.array_types import Floats, Longs
from gradwalk.compile.native import objects
from gradwalk.compile.native.lowering import Kernels
from gradwalk.compile.native.single import SingleExecution, aligned
from gradwalk.errors import InputSizeError

__all__ = ["BatchExecution"]


#: The word of a driver's table (`lane_drive`) that changes from call to call.
WITH_GRADIENTS = 15


class BatchExecution:
    """A `compile.backend.Execution` of many samples; `shared` is that of what they have in common, if there is any."""

    inputs: Any
    indices: Longs
    outputs: Floats
    seeds: Floats
    input_grads: Any

    def __init__(
        self, kernels: Kernels, shared: SingleExecution | None, values: Floats, grads: Floats, threads: int
    ) -> None:
        program = self.program = kernels.program
        self.kernels, self.shared = kernels, shared
        self.values, self.grads = values, grads
        self.threads = threads
        self.samples = 0
        self.real = np.dtype(program.dtype)
        self.drive = objects.fixed("native.lane_drive", f"DRIVERS.{program.dtype}")
        self.lists = np.concatenate([*kernels.lists, np.zeros(1, np.int32)])
        self.functions, self._words, ends = kernels.bound()
        self.descriptors = self._words.ctypes.data + 8 * ends[:-1]
        self.places, self.cleared = np.array(program.outputs, np.int64), np.array(program.cleared, np.int64)
        exported = len(shared.outputs) if shared else 0
        self._exports = slice(program.parameters, program.parameters + exported)
        self.parameters = np.zeros(program.parameters + exported + len(program.fixed), self.real)
        self.parameters[program.parameters + exported :] = program.fixed
        self.totals = np.zeros(len(self.places))
        self._pool = ThreadPoolExecutor(max(threads, 1))  # starts no thread before it is given work
        self._workers: list[_Worker] = []

    def resize(self, samples: int) -> None:
        """Make room for so many samples; the arrays are new then."""
        if samples < 1:
            raise InputSizeError(f"a batch holds at least 1 sample, not {samples}")
        if samples == self.samples:
            return
        self.samples = samples
        try:
            self._make_room(samples)
        except BaseException:  # Ctrl-C: it is done anew
            self.samples = 0
            raise

    def _make_room(self, samples: int) -> None:
        program = self.program
        self.inputs = np.zeros((program.inputs, samples), self.real)
        self.indices = np.zeros((max(program.indices, 1), samples), np.int64)
        self.input_grads = np.zeros((program.inputs if program.input_grads else 0, samples), self.real)
        self.outputs, self.seeds = (np.zeros((len(self.places), samples)) for _ in range(2))
        vector = max(objects.vector_bits() // 8 // self.real.itemsize, 4)
        lanes = min(-(-samples // vector) * vector, program.lanes)
        # each thread has a share of whole rows of lanes
        blocks = -(-samples // lanes)
        count = max(1, min(self.threads, blocks))
        ends = [min(samples, (blocks * k // count) * lanes) for k in range(count + 1)]
        self._workers = [_Worker(self, lanes, ends[k], ends[k + 1]) for k in range(count)]
        self._way = 0  # what their tables say of gradients

    def forward(self) -> None:
        """Compute outputs and totals."""
        self._run(0)

    def both(self) -> None:
        """`forward`, then `backward`, lanes by lanes."""
        self._run(1)

    backward = both

    def _run(self, with_gradients: int) -> None:
        workers = self._workers
        if with_gradients != self._way:
            for worker in workers:
                worker.table[WITH_GRADIENTS] = with_gradients
            self._way = with_gradients
        if len(workers) == 1:
            workers[0].drive()
            return
        own, shared = self.program.parameters, self.shared
        self.parameters[:own] = self.values
        if shared is not None:
            shared.forward()
            self.parameters[self._exports] = shared.outputs
        list(self._pool.map(lambda worker: worker.drive(), workers))
        self.totals[:] = sum(worker.totals for worker in workers)
        if with_gradients:
            self.grads += sum(worker.parameter_grads[:own].astype(np.float64) for worker in workers)
        if with_gradients and shared is not None:  # the walk goes on through what all samples share
            shared.seeds[:] = sum(worker.parameter_grads[self._exports] for worker in workers)
            shared.backward()


class _Worker:
    """The memory of one thread, and the table that its driver reads."""

    def __init__(self, whole: BatchExecution, lanes: int, begin: int, stop: int) -> None:
        program, kernels, real = whole.program, whole.kernels, whole.real
        self.values, self.grads = (aligned(program.size * lanes, real) for _ in range(2))
        self.values.reshape(program.size, lanes)[program.constant_positions] = program.constants[:, None]
        vector = max(objects.vector_bits() // 8 // real.itemsize, 1)
        self.scratch, self.sums = aligned(kernels.scratch * lanes, real), aligned(kernels.summed * vector, real)
        self.parameter_grads = np.zeros(len(whole.parameters), real)
        alone = begin == 0 and stop == whole.samples  # then it does for all what otherwise Python does
        self.totals = whole.totals if alone else np.zeros(len(whole.places))
        arrays = [self.values, self.grads, whole.parameters, self.parameter_grads, whole.lists, whole.indices,
                  self.scratch]  # fmt: skip
        sizes = [lanes, self.sums.ctypes.data, 0, 0, whole.samples]
        self.context = np.array([*(x.ctypes.data for x in arrays), *sizes], np.int64)
        input_grads = whole.input_grads.ctypes.data if len(whole.input_grads) else 0
        shared = [0] * 5
        if whole.shared is not None:
            self.ways = np.array(whole.shared.addresses(), np.int64)
            shared = [len(whole.shared.outputs), *(x.ctypes.data for x in (*self.ways, whole.shared.outputs,
                                                                          whole.shared.seeds))]  # fmt: skip
        self.table = np.array([
            len(program.steps), *(row.ctypes.data for row in whole.functions), whole.descriptors.ctypes.data,
            self.context.ctypes.data, whole.inputs.ctypes.data, len(whole.inputs), begin, stop, len(whole.places),
            whole.places.ctypes.data, self.totals.ctypes.data, whole.outputs.ctypes.data, whole.seeds.ctypes.data, 0,
            len(whole.cleared), whole.cleared.ctypes.data, len(self.parameter_grads), len(self.sums), input_grads,
            whole.values.ctypes.data if alone else 0, len(whole.values),
            whole.grads.ctypes.data if alone else 0, *shared,
        ], np.int64)  # fmt: skip
        self.drive = objects.bound(whole.drive, self.table.ctypes.data)
