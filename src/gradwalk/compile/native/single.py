"""A program of single numbers bound to memory, as native code runs it: tables of addresses, and one call each way."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.array_types import Floats
from gradwalk.compile.native import objects
from gradwalk.compile.native.lowering import Kernels
from gradwalk.compile.native.objects import fixed

__all__ = ["SingleExecution", "aligned"]


class SingleExecution:
    """A `compile.backend.Execution`. Inputs stand at the beginning of own memory, so nothing is copied.

    `forward` and `backward` are native functions with their argument; `addresses` tells both to other native code.
    """

    _looked_at: tuple[Any, int, int] | None = None  # where that is said, and how many gradients there are of each kind

    def __init__(self, kernels: Kernels, values: Floats, grads: Floats) -> None:
        program = kernels.program
        own, own_grads, scratch = aligned(program.size), aligned(program.size), aligned(kernels.scratch)
        own[program.constant_positions] = program.constants
        self.inputs, self.input_grads = own[: program.inputs], own_grads[: program.inputs]
        self.indices = np.zeros(max(program.indices, 1), np.int64)
        self.outputs = self.totals = np.zeros(len(program.outputs))
        self.seeds = np.zeros(len(program.outputs))
        lists = np.concatenate([*kernels.lists, np.zeros(1, np.int32)])
        arrays = [own, own_grads, values, grads, lists, self.indices, scratch]
        context = np.array([*(x.ctypes.data for x in arrays), 1], np.int64)
        (there, back, _), words, ends = kernels.bound()
        descriptors = words.ctypes.data + 8 * ends[:-1]
        places, cleared = np.array(program.outputs, np.int64), np.array(program.cleared, np.int64)
        shared = [descriptors.ctypes.data, context.ctypes.data, len(places), places.ctypes.data]
        forward = np.array([len(there), there.ctypes.data, *shared, self.outputs.ctypes.data], np.int64)
        clear = [self.seeds.ctypes.data, len(cleared), cleared.ctypes.data]
        backward = np.array([len(back), back.ctypes.data, *shared, *clear, 0, 0, 0], np.int64)
        self._looked_at = backward[9:], len(grads), program.inputs if program.input_grads else 0
        self._keep = [*arrays, context, there, back, words, descriptors, places, cleared, forward, backward]
        self.forward = objects.bound(fixed("native.drive", "drive"), forward.ctypes.data)
        self.backward = objects.bound(fixed("native.drive", "drive_back"), backward.ctypes.data)

    def both(self) -> None:
        """`forward`, then `backward`."""
        self.forward()
        self.backward()

    def resize(self, samples: int) -> None:
        """There is one sample."""

    def look(self) -> Any:
        """Look through the gradients after each walk back: a number that says whether one of them is inf or nan."""
        if self._looked_at is None:
            return None
        words, words[1], words[2] = self._looked_at
        return words.data

    def addresses(self) -> tuple[tuple[int, ...], ...]:
        """For each way the address of the native function, and what it is to be given."""
        return tuple(map(objects.address_and_arguments, (self.forward, self.backward)))


def aligned(size: int, real: Any = np.float64) -> Any:
    """Zeros that begin where a vector may."""
    kind = np.dtype(real)
    memory = np.zeros(kind.itemsize * size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + kind.itemsize * size].view(kind)
