"""Programs and runners: a tape prepared for native code, and such a program bound to memory."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk.compile.native import objects
from gradwalk.compile.native.codegen import ScalarKernels
from gradwalk.compile.native.flat import FlatProgram, prepare_flat
from gradwalk.compile.native.objects import fixed
from gradwalk.compile.roll import analyze
from gradwalk.compile.roll import graph as graphs
from gradwalk.compile.roll.program import Builder, Row
from gradwalk.compile.trace.tape import Tape

__all__ = ["Program", "Runner", "prepare"]

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

#: Where groups hold fewer operations than this on average, one after the other is faster.
FEW = 10


@dataclass(eq=False)
class Program:
    """A tape prepared for native code, bound to nothing yet: many runners may share it.

    >>> from gradwalk.compile.native.runtime import Program
    >>> Program.__name__
    'Program'
    """

    tape: Tape
    input_grads: bool
    flat: FlatProgram | None = None
    rolled: Builder | None = None
    rows: list[Row] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    bytes: int = 0
    parts: dict[tuple[int, ...], Program] = field(default_factory=dict)

    def part(self, outputs: tuple[int, ...]) -> Program:
        """The program of some of the outputs.

        >>> from gradwalk.compile.native.runtime import Program
        >>> Program.part.__name__
        'part'
        """
        if outputs not in self.parts:
            tape = replace(self.tape, outputs=self.tape.outputs[list(outputs)])
            self.parts[outputs] = prepare(tape, input_grads=self.input_grads)
        return self.parts[outputs]


def prepare(tape: Tape, *, dtype: str = "float64", input_grads: bool = False, rolled: bool | None = None) -> Program:
    """Analyse a tape once; `input_grads` asks for gradients with respect to the inputs as well.

    Whether it is rolled up or run row by row is decided by its structure, unless `rolled` decides it.

    >>> from gradwalk.compile.native.runtime import prepare
    >>> prepare.__name__
    'prepare'
    """
    began = time.perf_counter()
    graph = graphs.read(tape, input_grads)
    macros = analyze.collapse(graph)
    program = Program(tape, input_grads)
    if rolled is None:
        rolled = int(graph.live.sum()) >= FEW * len(macros.groups)
    if rolled:
        program.rolled = analyze.roll_up(macros, ScalarKernels())
        program.rows = [step.row for step in program.rolled.steps]
        program.bytes = 16 * program.rolled.size + 4 * program.rolled.listed
    else:
        program.flat = prepare_flat(graph)
        program.rows = [Row("flat", tuple(op.name for op in tape.ops), (tape.rows,), tape.rows, 8 * tape.rows)]
        program.bytes = 16 * graph.nodes + program.flat.code.nbytes
    program.timings["analysis"] = time.perf_counter() - began
    return program


class Runner:
    """A program bound to memory. Write `inputs` and `indices`, call `forward`, read `outputs`, call `backward`.

    Parameters are read from `values` where they stand, and gradients are added to `grads`. It is not re-entrant.
    `forward()` computes all outputs; `push()` goes back from all of them, whatever their seeds.

    >>> from gradwalk.compile.native.runtime import Runner
    >>> Runner.__name__
    'Runner'
    """

    def __init__(self, program: Program, values: Floats | None = None, grads: Floats | None = None) -> None:
        tape = program.tape
        self.program = program
        self.values = np.zeros(tape.parameters) if values is None else values
        self.grads = np.zeros(tape.parameters) if grads is None else grads
        self.outputs = np.zeros(len(tape.outputs))
        self.indices = np.zeros(max(tape.indices, 1), np.int64)
        self.seeds = np.zeros(len(tape.outputs))
        self._several = len(tape.outputs) > 1
        self._keep: list[Any] = []
        if program.rolled is not None:
            self._bind_rolled(program.rolled, tape)
        elif program.flat is not None:
            self._bind_flat(program.flat, tape)

    def backward(self, seeds: Any = None) -> None:
        """Add the gradients of `seeds[0] * outputs[0] + seeds[1] * outputs[1] + …` to those of the parameters.

        Seeds may also be written to `self.seeds` beforehand. An output whose seed is 0 takes no part.

        >>> from gradwalk.compile.native.runtime import Runner
        >>> Runner.backward.__name__
        'backward'
        """
        if seeds is not None:
            self.seeds[:] = seeds
        if self._several and not self.seeds.all():
            self._backward_from_some()
        else:
            self.push()

    def native(self, way: str) -> tuple[int, int]:
        """The address of the native function that goes `forward` or `backward`, and what it is to be given.

        >>> from gradwalk.compile.native.runtime import Runner
        >>> Runner.native.__name__
        'native'
        """
        step: Any = self.forward if way == "forward" else self.push
        return ctypes.cast(step.func, ctypes.c_void_p).value or 0, step.args[0]

    def _backward_from_some(self) -> None:
        """Go back from some outputs only.

        What belongs to the others alone is pushed 0 times its slope, which is nothing unless that slope is infinite;
        then a program of the wanted outputs alone has to do it.
        """
        wanted = np.flatnonzero(self.seeds)
        before = self.grads.copy()
        with np.errstate(all="ignore"):
            self.push()
            if np.isfinite(self.grads.sum() + self.input_grads.sum()):
                return
        self.grads[:] = before
        self.input_grads[:] = 0.0
        if len(wanted):
            part = Runner(self.program.part(tuple(wanted.tolist())), self.values, self.grads)
            part.inputs[:], part.indices[:] = self.inputs, self.indices
            part.forward()
            part.backward(self.seeds[wanted])
            self.input_grads[:] = part.input_grads

    def _bind_rolled(self, rolled: Builder, tape: Tape) -> None:
        values, grads = aligned(rolled.size), aligned(rolled.size)
        for start, numbers in rolled.written:
            values[start : start + len(numbers)] = numbers
        self.inputs, self.input_grads = values[: tape.inputs], grads[: tape.inputs]
        lists = np.concatenate([*rolled.lists, np.zeros(1, np.int32)])
        scratch = aligned(rolled.scratch)
        arrays = [values, grads, self.values, self.grads, lists, self.indices, scratch]
        context = np.array([*(x.ctypes.data for x in arrays), 1], np.int64)
        words = np.array([word for step in rolled.steps for word in step.descriptor], np.int64)
        ends = np.cumsum([0, *(len(step.descriptor) for step in rolled.steps)])[:-1]
        descriptors = words.ctypes.data + 8 * ends.astype(np.int64)
        forward = np.array([objects.load(step.forward) for step in rolled.steps], np.int64)
        backward = np.array([objects.load(step.backward()) if step.backward else 0 for step in rolled.steps], np.int64)
        places = rolled.signed(tape.outputs.astype(np.int64))
        shared = [descriptors.ctypes.data, context.ctypes.data, len(places), places.ctypes.data]
        count = len(rolled.steps)
        there = np.array([count, forward.ctypes.data, *shared, self.outputs.ctypes.data], np.int64)
        clear = [len(rolled.cleared), rolled.cleared.ctypes.data]
        back = np.array([count, backward.ctypes.data, *shared, self.seeds.ctypes.data, *clear], np.int64)
        self._keep += [*arrays, context, words, descriptors, forward, backward, places, there, back]
        self.forward = partial(objects.call(fixed("native.kernels", "drive")), there.ctypes.data, 0)
        self.push = partial(objects.call(fixed("native.kernels", "drive_back")), back.ctypes.data, 0)

    def _bind_flat(self, flat: FlatProgram, tape: Tape) -> None:
        memory, slopes = flat.memory(), np.zeros(flat.graph.nodes)
        self.inputs = memory[tape.parameters : tape.first_row]
        self.input_grads = slopes[tape.parameters : tape.first_row]
        box = np.zeros(2 * flat.widest + 2)
        nodes = np.ascontiguousarray(tape.outputs, np.int32)
        arrays: list[npt.NDArray[Any]] = [flat.graph.operands, self.indices, memory, slopes, box]
        shared = [flat.code.ctypes.data, len(flat.code), *(x.ctypes.data for x in arrays)]

        def table(functions: Longs, parameters: Floats, ends: Floats) -> Longs:
            sizes = [functions.ctypes.data, tape.parameters, parameters.ctypes.data, len(nodes)]
            return np.array([*shared, *sizes, nodes.ctypes.data, ends.ctypes.data, len(memory)], np.int64)

        tables = table(flat.values, self.values, self.outputs), table(flat.slopes, self.grads, self.seeds)
        self._keep += [memory, slopes, box, nodes, flat, *tables]
        self.forward = partial(flat.forward, tables[0].ctypes.data, 0)
        self.push = partial(flat.backward, tables[1].ctypes.data, 0)


def aligned(size: int, real: Any = np.float64) -> Any:
    """Zeros that begin where a vector may."""
    kind = np.dtype(real)
    memory = np.zeros(kind.itemsize * size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + kind.itemsize * size].view(kind)
