"""A tape made ready: rolled up, lowered for a backend, bound to memory. Here front and back of the compiler meet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from gradwalk.compile import careful
from gradwalk.compile.array_types import Floats
from gradwalk.compile.backend import Backend, Execution, Lowered
from gradwalk.compile.careful import CarefulWalk
from gradwalk.compile.native.backend import NATIVE
from gradwalk.compile.roll.passes import RunPass, plainly
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.rolling import Analysis, roll, roll_batch
from gradwalk.compile.trace.tape import Tape

__all__ = ["Prepared", "Runner", "prepare", "running_on"]


_backends: list[Backend] = [NATIVE]


@contextmanager
def running_on(backend: Backend) -> Iterator[None]:
    """Prepare for another backend meanwhile; for tests.

    >>> from gradwalk.compile.reference import REFERENCE
    >>> with running_on(REFERENCE):
    ...     gradwalk.compile(lambda x: x * x)(3.0).data
    9.0
    """
    _backends.append(backend)
    try:
        yield
    finally:
        _backends.pop()


@dataclass(eq=False)
class Prepared:
    """A tape, its program, and that program lowered."""

    tape: Tape
    analysis: Analysis
    lowered: Lowered
    backend: Backend
    timings: dict[str, float]  # seconds
    parts: dict[tuple[int, ...], Prepared] = field(default_factory=dict)

    @cached_property
    def cuts(self) -> bool:
        """Whether a walk back may end in a nan that is none, because an edge is cut, or an inf that is nan.

        The latter is so where repeats are merged: their gradients are added up first, and times an infinite slope that
        can be inf where one of them is 0, and 0 times the slope nan.
        """
        return self.analysis.merged or careful.cuts(self.tape, self.program.input_grads, _passes_of(self.backend))

    @cached_property
    def careful_walk(self) -> CarefulWalk:
        """The walk that is done then."""
        return CarefulWalk(self.tape, self.program.input_grads)

    @property
    def program(self) -> Program:
        """The program.

        >>> prepare(trace(lambda x: x * x, [3.0]).tape).program.inputs
        1
        """
        return self.analysis.program

    def part(self, outputs: tuple[int, ...]) -> Prepared:
        """The same for some of the outputs only."""
        if outputs not in self.parts:
            tape, program = replace(self.tape, outputs=self.tape.outputs[list(outputs)]), self.program
            dtype = program.dtype if program.lanes > 1 else None
            self.parts[outputs] = prepare(tape, batch=dtype, input_grads=program.input_grads, backend=self.backend)
        return self.parts[outputs]


def prepare(
    tape: Tape,
    *,
    batch: str | None = None,
    input_grads: bool = False,
    rolled: bool | None = None,
    backend: Backend | None = None,
) -> Prepared:
    """Analyse a tape once and lower it; `batch` is the dtype in which many samples are run at once.

    `input_grads` asks for gradients with respect to the inputs as well. Whether a tape is rolled up or run row by row
    is decided by its structure, unless `rolled` decides it.

    >>> prepare(trace(lambda x: x * x, [3.0]).tape, batch="float32").program.dtype
    'float32'
    """
    began = time.perf_counter()
    chosen = backend or _backends[-1]
    run = _passes_of(chosen)
    if batch is None:
        found = roll(tape, input_grads=input_grads, structured=rolled, run=run)
    else:
        found = roll_batch(tape, dtype=batch, input_grads=input_grads, run=run)
    lowered = chosen.lower(found.program)
    return Prepared(tape, found, lowered, chosen, {"analysis": time.perf_counter() - began})


def _passes_of(backend: Backend) -> RunPass:
    return getattr(backend, "run_pass", plainly)


class Runner:
    """A prepared tape bound to the memory of its parameters; what runs is `execution`.

    >>> import numpy as np
    >>> w, grads = Value(2.0), np.zeros(1)
    >>> runner = Runner(prepare(trace(lambda x: w * x, [5.0]).tape), np.array([2.0]), grads)
    >>> runner.inputs[:] = 5.0
    >>> runner.forward()
    >>> runner.backward([1.0])
    >>> runner.outputs.tolist(), grads.tolist()
    ([10.0], [5.0])
    """

    inputs: Any
    indices: Any
    outputs: Floats
    totals: Floats
    seeds: Floats
    input_grads: Any

    def __init__(self, prepared: Prepared, values: Floats, grads: Floats, threads: int = 1) -> None:
        self.prepared = prepared
        self.values, self.grads = values, grads
        self.execution: Execution = prepared.lowered.bind(values, grads, threads)
        self.forward, self.push, self.both = self.execution.forward, self.execution.backward, self.execution.both
        self.push_quickly: Callable[[], None] = self.push  # which has to be followed by `mend` …
        self.strange: Any = (False,)  # … where this is true at 0
        if prepared.cuts:
            look: Any = getattr(self.execution, "look", lambda: None)
            self.strange = look() or (True,)
            self.push, self.both = partial(self._carefully, self.push), partial(self._carefully, self.both)
        if prepared.program.lanes == 1:
            self._look()

    def resize(self, samples: int) -> None:
        """Make room for so many samples; the arrays are new then."""
        self.execution.resize(samples)
        self._look()

    def _look(self) -> None:
        for name in ("inputs", "indices", "outputs", "totals", "seeds", "input_grads"):
            setattr(self, name, getattr(self.execution, name))

    def _carefully(self, walk_back: Callable[[], None]) -> None:
        before = self.grads.copy()
        walk_back()
        if self.strange[0]:
            self.mend(before)

    def mend(self, before: Any) -> None:
        """Where a walk back gave nan, or inf, walk once more: row by row, with nothing pushed along edges cut.

        `before` is what the gradients were before it.
        """
        grads = self.grads
        wanted = self.input_grads.ravel() if self.prepared.program.input_grads else grads[:0]
        total = float(grads.dot(grads)) + float(wanted.dot(wanted))
        if total - total == 0.0 or (total == total and not self.prepared.analysis.merged):
            return  # squares add up to nan only if one of them is, and to inf if one is, or too large
        grads[:] = before
        walk, single = self.prepared.careful_walk, self.seeds.ndim == 1
        for sample in [...] if single else [(slice(None), i) for i in range(self.seeds.shape[1])]:
            given = (x[sample].tolist() for x in (self.inputs, self.indices, self.seeds))
            of_parameters, of_inputs = walk.gradients(self.values.tolist(), *given)
            with np.errstate(all="ignore"):
                grads += of_parameters
            if len(wanted):
                self.input_grads[sample] = of_inputs

    def backward(self, seeds: Any = None) -> None:
        """Add the gradients of the sum of seeds times outputs to those of the parameters.

        Seeds may also be written to `self.seeds` beforehand. An output whose seed is 0 takes no part: what belongs to
        it alone is pushed 0 times its slope, which is nothing unless that slope is infinite. Then a program of the
        other outputs alone has to do it.
        """
        if seeds is not None:
            self.seeds[:] = seeds
        wanted: Any = self.seeds if self.seeds.ndim == 1 else self.seeds.any(1)
        if len(wanted) == 1 or wanted.all():
            self.push()
            return
        before = self.grads.copy()
        with np.errstate(all="ignore"):
            self.push()
            if np.isfinite(self.grads.sum() + self.input_grads.sum()):
                return
        self.grads[:] = before
        self.input_grads[:] = 0.0
        chosen = np.flatnonzero(wanted)
        if len(chosen):
            part = Runner(self.prepared.part(tuple(chosen.tolist())), self.values, self.grads)
            if self.seeds.ndim > 1:
                part.resize(self.seeds.shape[1])
            part.inputs[:], part.indices[:] = self.inputs, self.indices
            part.forward()
            part.backward(self.seeds[chosen])
            self.input_grads[:] = part.input_grads
