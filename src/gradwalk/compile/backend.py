"""The seam between programs and machines: what a backend has to do.

    program (`roll.program`, data) → Backend.lower → Lowered.bind → Execution: forward, backward

In front of the seam stand tracing, rolling up, calls and ownership; none of them knows how a step is computed. Behind
it, `native/` makes machine code of a program by way of Numba, and `reference.py` runs it in plain NumPy. A backend
serves every kind of step of `roll.steps`, for one sample (`program.lanes == 1`) and for batches.
"""

from __future__ import annotations

from typing import Any, Protocol

from gradwalk.compile.array_types import Floats, Longs
from gradwalk.compile.roll.program import Program

__all__ = ["Backend", "Execution", "Lowered"]


class Execution(Protocol):
    """A program bound to memory. Not re-entrant: who runs it sees to it that nobody else does.

    Write `inputs` and `indices`, call `forward`, read `outputs`; write `seeds`, call `backward`. The arrays belong to
    the backend, stay the same objects from call to call, and may be views of its own memory. A program of one lane has
    arrays of one dimension; a batch has a second one, the samples, and `resize` makes room for another number of them.
    It may have a method `look`, from which on each walk back says at 0 of what that gives whether a gradient of a
    parameter, or of an input that is asked for, is inf or nan. Otherwise somebody else looks.
    """

    inputs: Any  # of the program's dtype
    indices: Longs  # each smaller than the length of the tables it chooses from
    outputs: Floats
    totals: Floats  # the outputs added up over the samples; of one sample the outputs themselves
    seeds: Floats  # how much each output counts in what is differentiated
    input_grads: Any  # set by `backward` where the program asks for it

    def forward(self) -> None:
        """Compute `outputs` and `totals` from inputs, indices and the parameters as they are now."""

    def backward(self) -> None:
        """Add the gradients of the sum of seeds times outputs to those of the parameters. `forward` was called before.

        A batch may go forward once more: its samples need not stay in memory.
        """

    def both(self) -> None:
        """`forward`, then `backward`."""

    def resize(self, samples: int) -> None:
        """Make room for so many samples, at least 1; the arrays are new then. Not for programs of one lane."""


class Lowered(Protocol):
    """A program in the form that a backend runs, bound to nothing yet: many executions may share it."""

    def bind(self, values: Floats, grads: Floats, threads: int = 1) -> Execution:
        """Bind it to the parameters: `values` are read where they stand, and gradients are added to `grads`.

        Both belong to the caller and may change between calls. `threads` is how many a batch may use.
        """


class Backend(Protocol):
    """Something that runs programs.

    It may have a function `run_pass`, a `roll.passes.RunPass`, which is a faster way to run the passes of the analysis.
    """

    def lower(self, program: Program) -> Lowered:
        """Prepare a program: what takes time, such as compiling, belongs here. OpError for an op that it cannot do."""
