"""Tensors in the buffer: a stretch of it for each, beside the Values that stand there one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gradwalk.compile.array_types import Longs
from gradwalk.engine import Value
from gradwalk.errors import NotANumberError

__all__ = ["HeldTensors", "dtype_held"]

Floats = npt.NDArray[Any]  # float64, or float32


def dtype_held(p: Any) -> str:
    """The dtype in which native code can have a parameter, a Value or a tensor that is a leaf; "" if it cannot.

    >>> dtype_held(Value(1.0)), dtype_held(gradwalk.Tensor([1.0], dtype="float32")), dtype_held(gradwalk.Tensor([1]))
    ('float64', 'float32', '')
    """
    if isinstance(p, Value):
        return "float64" if p.is_leaf else ""
    if not getattr(p, "many", False) or not p.is_leaf or not p.requires_grad or not isinstance(p.array, np.ndarray):
        return ""
    return str(p.dtype)


@cache
def emptied(kind: type) -> type:
    """A class like this one, for tensors that have back what they miss from who keeps it.

    It is another class because of what `__getattr__` costs: with it, a look at any field takes five times as long.

    >>> issubclass(emptied(gradwalk.Tensor), gradwalk.Tensor)
    True
    """

    def had_back(v: Any, name: str) -> Any:
        if name in ("_data", "_grad", "_changed"):
            with v._in_own_hands():
                return object.__getattribute__(v, name)
        return object.__getattribute__(v, name)

    return type(kind.__name__, (kind,), {"__slots__": (), "__module__": kind.__module__, "__getattr__": had_back})


class HeldTensors:
    """The tensors of a store: which stretch each has, and the arrays that they had before.

    An array that a tensor had is kept, and is the tensor's again if native code has not changed its numbers: others may
    share it. If it has, the tensor gets a new one, and graphs that have used the old are out of date.

    >>> held = HeldTensors()
    >>> held.add(Value(1.0), 0), held.add(gradwalk.Tensor([1.0, 2.0]), 1), bool(held)
    (1, 2, True)
    """

    def __init__(self) -> None:
        self.others: list[Value] = []  # the parameters that are none
        self.others_at: list[int] = []
        self.tensors: list[tuple[Any, slice]] = []
        self.places: dict[int, slice] = {}  # by id()
        self.lent: list[tuple[Any, slice]] = []  # those that gave an array away, which may be written to
        self.stepped_in_python = False  # whether there are such, or tensors that an optimiser has to refuse
        self._before: list[tuple[Any, int, type]] = []  # the array of each, when it was last written, and its class

    def __bool__(self) -> bool:
        return bool(self.tensors)

    def add(self, p: Any, at: int) -> int:
        """One parameter more, at this place; gives how many numbers it has."""
        if not p.many:
            self.others.append(p)
            self.others_at.append(at)
            return 1
        size = p.array.size
        self.places[id(p)] = slice(at, at + size)
        self.tensors.append((p, self.places[id(p)]))
        return int(size)

    def copy(self) -> HeldTensors:
        """As this, for more parameters to come."""
        held = HeldTensors()
        held.others, held.others_at = self.others[:], self.others_at[:]
        held.tensors, held.places = self.tensors[:], self.places.copy()
        return held

    def spread(self, parameters: Sequence[Any], position: dict[int, int]) -> Longs:
        """The positions of all numbers of these parameters."""
        parts = []
        for p in parameters:
            here = self.places.get(id(p))
            start = position[id(p)]
            parts.append(np.arange(start, start + 1) if here is None else np.arange(here.start, here.stop))
        return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)

    def joined(self, values: Floats, grads: Floats, dtype: Any) -> tuple[Floats, Floats]:
        """Numbers and gradients of all parameters, given those that are no tensors."""
        count = len(self.others) + sum(here.stop - here.start for _, here in self.tensors)
        both = np.empty(count, dtype), np.empty(count, dtype)
        for whole, part in zip(both, (values, grads), strict=True):
            whole[self.others_at] = part
        for v, here in self.tensors:
            both[0][here] = v.array.ravel()
            gradient = v._grad
            if getattr(gradient, "many", False):
                raise NotANumberError(
                    "the gradient of a parameter is a Tensor with a graph, and compiled code takes numbers; call "
                    "zero_grad() after backward(create_graph=True)"
                )
            both[1][here] = gradient if gradient.__class__ is float else gradient.ravel()
        return both

    def remember(self) -> None:
        """Keep what `hand_back` gives the tensors again."""
        self._before = [(v._data, v._changed, v.__class__) for v, _ in self.tensors]
        self.lent = [(v, here) for v, here in self.tensors if v._lent is not None]
        self.stepped_in_python = bool(self.lent) or not all(v.requires_grad for v, _ in self.tensors)

    def forget(self) -> None:
        """Let go of what was kept."""
        self._before, self.lent, self.stepped_in_python = [], [], False

    def take(self) -> None:
        """Empty the tensors' fields: their numbers are elsewhere from now on."""
        for v, _ in self.tensors:
            v.__class__ = emptied(v.__class__)
            del v._data, v._grad, v._changed

    def hand_back(self, values: Floats, grads: Floats) -> tuple[Floats, Floats]:
        """Give the tensors their numbers again; gives those of the others."""
        for (v, here), (array, changed, kind) in zip(self.tensors, self._before, strict=True):
            v._data, v._changed = array, changed
            v._grad = grads[here].reshape(array.shape).copy()
            if array.tobytes() != values[here].tobytes():
                v._write_array(values[here].reshape(array.shape).copy())
            v.__class__ = kind
        return values[self.others_at], grads[self.others_at]

    def are_written_to(self, values: Floats) -> bool:
        """Whether somebody has written to an array that a tensor gave away."""
        return any(v._lent.tobytes() != values[here].tobytes() for v, here in self.lent)

    def shape_of(self, v: Any) -> tuple[int, ...]:
        """The shape of a tensor that native code has."""
        return self._before[next(i for i, (p, _) in enumerate(self.tensors) if p is v)][0].shape  # type: ignore[no-any-return]

    def set_gradients(self, grads: Floats) -> None:
        """Give tensors that have their numbers again these gradients."""
        for v, here in self.tensors:
            v._grad = grads[here].reshape(v.shape).copy()
