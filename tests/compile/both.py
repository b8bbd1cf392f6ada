"""Two backends at once: native code runs a program that was saved and loaded, NumPy the program itself; they agree."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from fuzz import TOLERANCE, distance

from gradwalk.compile.native.backend import NATIVE
from gradwalk.compile.native.passes import run_pass
from gradwalk.compile.reference import REFERENCE
from gradwalk.compile.roll.program import Program
from gradwalk.ops import TABLE


class Both:
    """A backend that is both; every program it was given is kept in `programs`."""

    run_pass = staticmethod(run_pass)

    def __init__(self) -> None:
        self.programs: list[Program] = []

    def lower(self, program: Program) -> BothLowered:
        self.programs.append(program)
        return BothLowered(program)


class BothLowered:
    def __init__(self, program: Program) -> None:
        again = program
        everything = {**program.ops, **(program.shared.ops if program.shared else {})}
        if all(TABLE.get(name) is op for name, op in everything.items()):  # ops of a user's own cannot be saved
            again = Program.from_json(program.to_json())
            assert again == program == pickle.loads(pickle.dumps(program))
            assert str(again) == str(program)
        self.lowered = NATIVE.lower(again), REFERENCE.lower(program)
        self.input_grads = program.input_grads
        self.tolerance = TOLERANCE if program.dtype == "float64" else 2e-5

    def bind(self, values: Any, grads: Any, threads: int = 1) -> BothExecution:
        return BothExecution(self, values, grads, threads)


class BothExecution:
    def __init__(self, both: BothLowered, values: Any, grads: Any, threads: int) -> None:
        self.lowered, self.tolerance = both, both.tolerance
        self.values, self.grads = values, grads
        self.their_grads = np.zeros_like(grads)
        self.ours = both.lowered[0].bind(values, grads, threads)
        self.theirs = both.lowered[1].bind(values, self.their_grads)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ours, name)

    def resize(self, samples: int) -> None:
        self.ours.resize(samples)
        self.theirs.resize(samples)

    def forward(self) -> None:
        self._run("forward")

    def backward(self) -> None:
        self._run("backward")

    def both(self) -> None:
        self._run("both")

    def _run(self, way: str) -> None:
        ours, theirs = self.ours, self.theirs
        theirs.inputs[:], theirs.indices[:], theirs.seeds[:] = ours.inputs, ours.indices, ours.seeds
        self.their_grads[:] = self.grads
        getattr(ours, way)()
        getattr(theirs, way)()
        self._agree(ours.outputs, theirs.outputs)
        self._agree(ours.totals, theirs.totals)
        if way != "forward":
            self._agree(self.grads, self.their_grads)
            if self.lowered.input_grads:
                self._agree(ours.input_grads, theirs.input_grads)

    def _agree(self, ours: Any, theirs: Any) -> None:
        apart = distance(np.ravel(ours), np.ravel(theirs))
        assert apart <= self.tolerance, f"native and NumPy differ by {apart:.1e}"
