"""One model of tensors in training, step by step: as `model_watch`, with arrays for numbers."""

from __future__ import annotations

import math
from typing import Any

from gradwalk.doctor.model_watch import ModelWatch
from gradwalk.doctor.tensor_scan import examined
from gradwalk.doctor.tracking import Readings
from gradwalk.provenance import made_by
from gradwalk.tensor import arrays

Array = Any  # or a float, of a Value


class TensorWatch(ModelWatch):
    """A history that grows with each step of a training of tensors.

    >>> w = gradwalk.Tensor([2.0], label="w")
    >>> model = TensorWatch(names_of([w]), every=10)
    >>> loss = (w * w).sum()
    >>> model.before()
    >>> loss.backward()
    >>> model.after(loss, None)
    >>> model.history.losses, model.history.exams[0].nodes
    ([4.0], 3)
    """

    def _examine(self, root: Any, step: int, readings: Readings | None, broken: dict[int, str], *, odd: bool) -> None:
        line_of = made_by if readings is None else readings.line
        self._write_down(examined(root, self.names, step, lambda v: v.grad, line_of, broken))

    def found_odd(self, root: Any, readings: Readings | None = None) -> None:
        """The program failed with a nan or inf in `root`, before its `backward()`: say where that was born."""
        step = len(self.history.losses) + 1
        self._examine(root, step, readings, self._broken(step), odd=True)

    def _broken(self, step: int) -> dict[int, str]:
        """The parameters that the last update made nan or inf, and of what gradient."""
        found = {}
        for p, now, then, g in zip(self.names.parameters, self._now, self._then, self._left, strict=False):
            if not self._finite([now]) and self._finite([then]):
                found[id(p)] = f"the update after step {step - 1} made it so; its gradient was"
                found[id(p)] += " finite" if self._finite([g]) else " not finite either"
        return found

    # --- arrays, and floats where a parameter is a Value -----------------------------------------------------------

    def _loss(self, root: Any) -> float:
        return float(root.item())

    def _data(self) -> list[Array]:
        parameters: list[Any] = self.names.parameters
        return [arrays.now.copy(p.array) if p.many else p.data for p in parameters]

    def _gradients(self) -> list[Array]:
        return [_array(p.grad) for p in self.names.parameters]

    def _given(self) -> tuple[list[Array], list[Array]]:
        left = self._gradients()
        return left, [_minus(g, h) for g, h in zip(left, self._held, strict=True)]

    def _alike(self, some: list[Array], others: list[Array]) -> bool:
        return len(some) == len(others) and all(map(self._same, some, others))

    def _same(self, one: Array, other: Array) -> bool:
        floats = isinstance(one, float) + isinstance(other, float)
        if floats == 1:
            return not self._any(one) and not self._any(other)
        return one == other if floats else arrays.now.same(one, other)

    def _any(self, x: Any) -> bool:
        x = _array(x)
        if isinstance(x, float):
            return bool(x)
        return bool(arrays.now.nonzero(x)[0].size) if x.shape else x.tolist() != 0.0

    def _finite(self, some: list[Array]) -> bool:
        return all(math.isfinite(self._size(x)) for x in some)

    def _size(self, x: Array) -> float:
        if isinstance(x, float):
            return abs(x)
        f = arrays.now.functions
        return math.sqrt(float(arrays.now.tolist(arrays.now.total(f["*"](x, x), tuple(range(len(x.shape))), False))))


def _array(g: Any) -> Array:
    """A gradient as an array; as a float, if it is a Value's or was never set."""
    if hasattr(g, "many"):
        return g.array if g.many else float(g.data)
    return g if hasattr(g, "shape") else float(g or 0.0)


def _minus(x: Array, y: Array) -> Array:
    if isinstance(x, float) and isinstance(y, float):
        return x - y
    return x if isinstance(y, float) and y == 0.0 else arrays.now.functions["-"](x, y)
