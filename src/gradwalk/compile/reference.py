"""The reference backend: programs run in plain NumPy, step by step, with the rules of the op table on single floats.

It is slow, short, and says exactly what each kind of step means; tests hold the native backend to it. Whoever writes
another backend may begin here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.array_types import Floats
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.steps import (
    NOTHING,
    OWN,
    WRITE,
    Access,
    Elements,
    Extreme,
    Product,
    Rows,
    Step,
    Sums,
    Take,
)
from gradwalk.errors import InputSizeError

__all__ = ["REFERENCE", "Reference"]


class Reference:
    """A `compile.backend.Backend`.

    >>> import numpy as np
    >>> from gradwalk.compile.roll.rolling import roll
    >>> program = roll(trace(lambda x, y: x * y + x, [1.0, 2.0]).tape).program
    >>> run = REFERENCE.lower(program).bind(np.zeros(0), np.zeros(0))
    >>> run.inputs[:] = 3.0, 4.0
    >>> run.forward()
    >>> run.outputs
    array([15.])
    """

    def lower(self, program: Program) -> _Lowered:
        """Nothing to prepare."""
        return _Lowered(program)


REFERENCE = Reference()


class _Lowered:
    def __init__(self, program: Program) -> None:
        self.program = program

    def bind(self, values: Floats, grads: Floats, threads: int = 1) -> _Execution:
        return _Execution(self.program, values, grads)


class _Execution:
    """Samples one after another; each goes through the steps alone, so that lanes do not show."""

    def __init__(self, program: Program, values: Floats, grads: Floats) -> None:
        self.program, self.values, self.grads = program, values, grads
        self.shared = _Execution(program.shared, values, grads) if program.shared else None
        self.real = np.dtype(program.dtype)
        if program.lanes == 1:
            self._allot(())

    def resize(self, samples: int) -> None:
        if samples < 1:
            raise InputSizeError(f"a batch holds at least 1 sample, not {samples}")
        self._allot((samples,))

    def _allot(self, samples: tuple[int, ...]) -> None:
        program = self.program
        self.inputs, self.input_grads = (np.zeros((program.inputs, *samples), self.real) for _ in range(2))
        self.indices = np.zeros((max(program.indices, 1), *samples), np.int64)
        self.outputs, self.seeds = (np.zeros((len(program.outputs), *samples)) for _ in range(2))
        self.totals = np.zeros(len(program.outputs)) if samples else self.outputs

    def forward(self) -> None:
        self._run(back=False)

    def backward(self) -> None:
        self._run(back=True)

    both = backward

    def _run(self, back: bool) -> None:
        program, shared = self.program, self.shared
        if shared is not None:
            shared.forward()
        exports = shared.outputs if shared is not None else np.zeros(0)
        parameters = np.concatenate([self.values, exports, program.fixed]).astype(self.real)
        grads = np.zeros(len(parameters))
        samples = [(slice(None),)] if program.lanes == 1 else [(slice(None), i) for i in range(self.seeds.shape[1])]
        for at in samples:
            memory = _Memory(program, parameters, self.inputs[at], self.indices[at])
            with np.errstate(all="ignore"):
                memory.forward()
                self.outputs[at] = memory.values[list(program.outputs)]
                if back:
                    grads += memory.backward(self.seeds[at])
                    self.input_grads[at] = memory.own_grads[: program.inputs]
        if self.totals is not self.outputs:
            self.totals[:] = self.outputs.sum(1)
        if back:
            self.grads += grads[: program.parameters]
            if shared is not None:
                shared.seeds[:] = grads[program.parameters :][: len(exports)]
                shared.backward()


class _Memory:
    """The numbers of one sample. Own memory and parameters in one array, so that `~position` is a parameter's."""

    def __init__(self, program: Program, parameters: Any, inputs: Any, indices: Any) -> None:
        self.program, self.indices = program, indices
        self.values = np.concatenate([np.zeros(program.size), parameters[::-1]]).astype(program.dtype)
        self.values[: program.inputs] = inputs
        self.values[program.constant_positions] = program.constants
        self.grads = np.full(len(self.values), np.nan, program.dtype)  # what is neither cleared nor written shows
        self.own_grads = self.grads[: program.size]
        self.steps: list[Step] = []
        for step in program.steps:
            self.steps += step.one_by_one(program.lists) if isinstance(step, Rows) else [step]

    def at(self, x: Access, rows: int, columns: int) -> Any:
        """Positions of a matrix of operands."""
        found = x.positions(rows, columns, self.program.lists)
        return found if x.space == OWN else ~found

    def push(self, x: Access, at: Any, grads: Any) -> None:
        """Send gradients to operands."""
        if x.grads == WRITE:
            self.grads[at] = grads
        elif x.grads != NOTHING:
            np.add.at(self.grads, at, grads)

    def out(self, step: Step) -> slice:
        """Where a step's results are."""
        return slice(step.out, step.out + step.results)

    def forward(self) -> None:
        """Every step in order."""
        for step in self.steps:
            self.step(step)

    def step(self, step: Step) -> None:
        values = self.values
        match step:
            case Elements():
                operands = [values[self.at(*x)].ravel() for x in step.accesses()]
                forward = self.program.ops[step.op].forward
                values[self.out(step)] = [forward(*map(float, point)) for point in zip(*operands, strict=True)]
            case Product():
                *tails, right, left = (values[self.at(*x)] for x in step.accesses())
                values[self.out(step)] = (left @ right + sum(tails)).ravel()
            case Sums():
                total = np.full(step.count, -0.0)
                for part in step.parts:
                    factors = [values[self.at(x, step.count, part.width)] for x in (part.first, part.second) if x]
                    total += np.prod(factors, axis=0).sum(1)
                values[self.out(step)] = total
            case Take():
                values[self.out(step)] = values[self.taken(step)]
            case Extreme():
                looked = values[step.signed(self.program.lists)].reshape(step.shape)
                values[self.out(step)] = looked.min(1) if step.which == "min" else looked.max(1)

    def backward(self, seeds: Any) -> Any:
        """Gradients of the parameters; those of own memory are left in `own_grads`."""
        self.grads[self.program.size :] = 0.0
        for begin, end in self.program.cleared:
            self.grads[begin:end] = 0.0
        np.add.at(self.grads, list(self.program.outputs), seeds)
        for step in reversed(self.steps):
            self.step_back(step)
        return self.grads[self.program.size :][::-1]

    def step_back(self, step: Step) -> None:
        values, push = self.values, self.grads[self.out(step)].copy()
        match step:
            case Elements():
                op, reads = self.program.ops[step.op], [self.at(*x).ravel() for x in step.accesses()]
                points = zip(*(values[at].tolist() for at in reads), values[self.out(step)].tolist(), strict=True)
                slopes = np.array([op.local(*point) for point in points]).T
                for x, at, slope in zip(step.operands, reads, slopes, strict=True):
                    self.push(x, at, slope * push)
            case Product():
                push = push.reshape(step.rows, step.columns)
                left, right = (values[self.at(*x)] for x in step.accesses()[:-3:-1])
                pushed = [*[push] * len(step.tails), left.T @ push, push @ right.T]
                for (x, rows, columns), gradient in zip(step.accesses(), pushed, strict=True):
                    self.push(x, self.at(x, rows, columns), gradient)
            case Sums():
                for part in step.parts:
                    both = [(x, self.at(x, step.count, part.width)) for x in (part.first, part.second) if x]
                    partners = [values[at] for _, at in both[::-1]] if part.second else [np.ones((1, part.width))]
                    for (x, at), partner in zip(both, partners, strict=True):
                        self.push(x, at, partner * push[:, None])
            case Take():
                if step.grads != NOTHING:
                    np.add.at(self.grads, self.taken(step), push)
            case Extreme():
                if step.grads != NOTHING:
                    at = step.signed(self.program.lists).reshape(step.shape)
                    best = values[at] == values[self.out(step)][:, None]
                    np.add.at(self.grads, at, best / best.sum(1, keepdims=True) * push[:, None])

    def taken(self, step: Take) -> Any:
        """The position that each result of a take was taken from."""
        tables, slots = (self.program.lists[at : at + step.count] for at in (step.tables, step.slots))
        return self.program.lists[tables + self.indices[slots]]
