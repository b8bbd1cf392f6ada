"""From a program to what native code runs: a kernel for each step and direction, and the words it reads.

There are two sets of kernels. Those for single samples make vectors of results that stand side by side; those for
batches make vectors of lanes, which stand side by side for every single number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk import ops
from gradwalk.compile.array_types import Longs
from gradwalk.compile.native.codegen import element, element_back, op_slopes, op_value
from gradwalk.compile.native.language import SIMPLE_POWERS
from gradwalk.compile.native.layout import BY_SCRATCH, DIRECT, OWN, PARAMETERS, WRITTEN
from gradwalk.compile.native.objects import Native, fixed, load
from gradwalk.compile.roll import steps
from gradwalk.compile.roll.program import Program
from gradwalk.compile.roll.steps import ADD, NOTHING, WRITE, Access, Elements, Extreme, Product, Sums, Take

__all__ = ["Kernels"]


SPACES = {steps.OWN: OWN, steps.PARAMETERS: PARAMETERS}
#: What becomes of gradients, as kernels are told.
MODES = {NOTHING: 0, ADD: 1, WRITE: 2}
#: Fewer results than this are not worth a kernel of their own.
FEW = 8
#: Where kernels are that are no op's.
MODULES = {"product": "product_kernels", "sums": "sum_kernels", "apply": "sum_kernels", "take": "choice_kernels",
           "extreme": "choice_kernels"}  # fmt: skip


class Kernels:
    """The steps of a program as kernels and descriptors (`layout`)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lists: list[npt.NDArray[Any]] = [program.lists]
        self.listed = len(program.lists)
        self.scratch = 64  # numbers of scratch memory that the hungriest step needs
        self.summed = 0  # sums that products keep for the gradients of parameters, in batches
        self.steps = [getattr(self, f"_{type(step).__name__.lower()}")(step) for step in program.steps]

    def bound(self) -> tuple[Longs, Longs, Longs]:
        """Addresses of the kernels (forward, backward and at the end of a batch), all descriptors, and their ends."""
        functions = [[load(kernel) if kernel else 0 for kernel in kernels] for kernels, _ in self.steps]
        words = np.array([word for _, descriptor in self.steps for word in descriptor], np.int64)
        ends = np.cumsum([0, *(len(descriptor) for _, descriptor in self.steps)])
        return np.ascontiguousarray(np.array(functions, np.int64).reshape(-1, 3).T), words, ends.astype(np.int64)

    def _fixed(self, name: str, back: bool) -> list[Native | None]:
        """A kernel that is no op's, and the one that pushes its gradients, if any are wanted."""
        found = [self._kernel(kernel) for kernel in ((name, f"{name}_back") if back else (name,))]
        return [*found, *[None] * (3 - len(found))]

    def _kernel(self, name: str) -> Native:
        kind = self.program.dtype if self.program.lanes > 1 else "single"
        return fixed(f"native.{MODULES[name.split('_')[0]]}", f"KERNELS.{kind}.{name}")

    # --- one method for each kind of step ----------------------------------------------------------------------------

    def _elements(self, step: Elements) -> tuple[list[Native | None], list[int]]:
        program, op, operands = self.program, self.program.ops[step.op], step.operands
        if step.results * program.lanes < FEW:
            return self._apply(step)
        exponent = self._exponent(step)
        if exponent is not None:
            operands = operands[:1]
        modes = [MODES[x.grads] for x in operands]
        words = [step.out, step.rows, step.columns, *(word for x in operands for word in _words(x))]
        if program.lanes > 1:
            ways = "".join("p" if x.space == steps.PARAMETERS else "m" for x in operands)
            words, wanted, stored = words + modes, [*range(len(modes))] if any(modes) else [], []
        else:
            ways = "".join("g" if x.listed >= 0 else "us"[x.column] for x in operands)
            wanted, stored = ([k for k, mode in enumerate(modes) if mode >= least] for least in (1, 2))
        dtype = program.dtype
        back = element_back(op, ways, tuple(wanted), tuple(stored), exponent, dtype) if wanted else None
        return [element(op, ways, exponent, dtype), back, None], words

    def _exponent(self, step: Elements) -> float | None:
        """The exponent of a power that is simple enough to be built into a kernel."""
        if self.program.ops[step.op] is not ops.pow:
            return None
        power = step.operands[1]
        at = int(np.searchsorted(self.program.constant_positions, power.start))
        if power.space != steps.OWN or (power.row, power.column, power.listed) != (0, 0, -1):
            return None
        if at >= len(self.program.constants) or self.program.constant_positions[at] != power.start:
            return None
        number = float(self.program.constants[at])
        return number if number in SIMPLE_POWERS else None

    def _apply(self, step: Elements) -> tuple[list[Native | None], list[int]]:
        """A handful of results: by functions of single numbers, which are compiled once for all programs."""
        op = self.program.ops[step.op]
        at = [x.positions(step.rows, step.columns, self.program.lists).ravel() for x in step.operands]
        signed = [p if x.space == steps.OWN else ~p for x, p in zip(step.operands, at, strict=True)]
        wanted = [int(x.grads != NOTHING) for x in step.operands]
        slopes = load(op_slopes(op)) if any(wanted) else 0
        self.scratch = max(self.scratch, 2 * op.arity + 2)
        places = self._keep(np.stack(signed, axis=1).ravel())
        words = [step.out, step.results, op.arity, load(op_value(op)), slopes, places, self._keep(np.array(wanted))]
        return self._fixed("apply", any(wanted)), words

    def _keep(self, numbers: npt.NDArray[Any]) -> int:
        self.lists.append(numbers.astype(np.int32))
        self.listed += len(numbers)
        return self.listed - len(numbers)

    def _product(self, step: Product) -> tuple[list[Native | None], list[int]]:
        rows, inner, columns = step.shape
        left_grads, right_grads = _product_grads(step.left, inner), _product_grads(step.right, columns)
        words = [step.out, rows, columns, inner, *_words(step.left), *_words(step.right), left_grads, right_grads]
        words += [len(step.tails), self.summed]
        for tail in step.tails:
            words += [*_words(tail), MODES[tail.grads]]
        self.summed += rows * inner
        self.scratch = max(self.scratch, 8 * rows * inner + 2 * inner * columns + 64)
        kernels = self._fixed("product", any(x.grads != NOTHING for x, _, _ in step.accesses()))
        if self.program.lanes > 1 and left_grads:
            kernels[2] = self._kernel("product_end")
        return kernels, words

    def _sums(self, step: Sums) -> tuple[list[Native | None], list[int]]:
        words = [step.out, step.count, len(step.parts)]
        for part in step.parts:
            second = part.second or part.first
            words += [part.width, int(part.second is not None), *_words(part.first), MODES[part.first.grads]]
            words += [*_words(second), MODES[part.second.grads] if part.second else 0]
        return self._fixed("sums", any(x.grads != NOTHING for x, _, _ in step.accesses())), words

    def _take(self, step: Take) -> tuple[list[Native | None], list[int]]:
        return self._fixed("take", step.grads != NOTHING), [step.out, step.count, step.tables, step.slots]

    def _extreme(self, step: Extreme) -> tuple[list[Native | None], list[int]]:
        words = [step.out, step.count, step.width, step.listed, -1 if step.which == "min" else 1]
        return self._fixed("extreme", step.grads != NOTHING), words


def _words(x: Access) -> list[int]:
    return [SPACES[x.space], x.start, x.row, x.column, x.listed]


def _product_grads(access: Access, length: int) -> int:
    """How gradients go to a side: where they stand, if each row is a run and no two rows overlap, or by scratch."""
    if access.grads == NOTHING:
        return 0
    if access.listed >= 0 or access.column != 1 or access.row < length:
        return BY_SCRATCH
    return WRITTEN if access.grads == WRITE else DIRECT
