"""The native backend: programs as machine code, made by Numba and kept on disk (`compile.backend` says what it is)."""

from __future__ import annotations

from gradwalk.compile.array_types import Floats
from gradwalk.compile.backend import Execution
from gradwalk.compile.native.batch import BatchExecution
from gradwalk.compile.native.flat import FlatCode, FlatExecution
from gradwalk.compile.native.lowering import Kernels
from gradwalk.compile.native.passes import run_pass
from gradwalk.compile.native.single import SingleExecution
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.steps import Rows

__all__ = ["NATIVE", "NativeBackend", "NativeLowered"]


class NativeLowered:
    """A program with its kernels, those of what a batch shares included."""

    def __init__(self, program: Program) -> None:
        self.program = program
        flat = bool(program.steps) and isinstance(program.steps[0], Rows)
        self.code: FlatCode | Kernels = FlatCode(program) if flat else Kernels(program)
        self.shared = NativeLowered(program.shared) if program.shared else None

    def bind(self, values: Floats, grads: Floats, threads: int = 1) -> Execution:
        """Bind it to the parameters."""
        if isinstance(self.code, FlatCode) or self.program.lanes == 1:
            return self._single(values, grads)
        shared = self.shared._single(values, grads) if self.shared else None
        return BatchExecution(self.code, shared, values, grads, threads)

    def _single(self, values: Floats, grads: Floats) -> SingleExecution:
        if isinstance(self.code, FlatCode):
            return FlatExecution(self.code, values, grads)
        return SingleExecution(self.code, values, grads)


class NativeBackend:
    """Machine code for this processor."""

    run_pass = staticmethod(run_pass)

    def lower(self, program: Program) -> NativeLowered:
        """Find or compile the kernels of a program."""
        return NativeLowered(program)


NATIVE = NativeBackend()
