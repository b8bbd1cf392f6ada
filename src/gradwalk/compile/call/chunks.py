"""Samples that are too many for memory: a batch in pieces, whose results and gradients add up to those of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from gradwalk import reverse, tree
from gradwalk.compile.call.batch_arguments import is_samples, is_samples_or_whole
from gradwalk.compile.call.results import LeftToWalk, Result, result_of
from gradwalk.errors import InputSizeError, SettingError
from gradwalk.tensor.numpy_arrays import quietly

__all__ = ["ChunkSum", "add_times", "is_large", "pieces"]

BYTES = 32_000_000  # of one piece


def is_large(x: Any) -> bool:
    """Whether samples are read from a file or computed piece by piece: an np.memmap, or a Dask array.

    >>> is_large(np.zeros(3)), is_large([1.0])
    (False, False)
    """
    return isinstance(x, np.memmap) or hasattr(x, "__dask_graph__")


def pieces(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Iterator[tuple[Any, Any]], int]:
    """The arguments of a batch cut along its samples, each piece in memory, and how many pieces there are.

    >>> found, count = pieces((np.arange(3.0), 0.5), {})
    >>> count, [args for args, _ in found]
    (1, [(array([0., 1., 2.]), 0.5)])
    """
    leaves, structure = tree.flatten((args, kwargs), lambda x: is_large(x) or is_samples_or_whole(x))
    samples = [x for x in leaves if is_large(x) or is_samples(x)]
    sizes = {len(x) for x in samples}
    if len(sizes) != 1 or 0 in sizes:
        raise InputSizeError(
            f"a batch needs as many samples in each argument, and at least one; here are {sorted(sizes)}"
        )
    count = sizes.pop()
    widest = max((x.dtype.itemsize * int(np.prod(x.shape[1:])) for x in samples if is_large(x)), default=0)
    rows = max(1, min(count, BYTES // max(1, widest)))

    def cut() -> Iterator[tuple[Any, Any]]:
        for start in range(0, count, rows):
            part = [
                np.array(x[start : start + rows]) if is_large(x) else x[start : start + rows] if is_samples(x) else x
                for x in leaves
            ]
            yield structure.unflatten(part)

    return cut(), -(-count // rows)


def add_times(grads: Any, more: Any, factor: float) -> None:
    """Add gradients, times a factor.

    >>> grads = np.ones(2)
    >>> add_times(grads, np.ones(2), 3.0)
    >>> grads.tolist()
    [4.0, 4.0]
    """
    grads += more if factor == 1.0 else factor * more


class ChunkSum:
    """Results of one function on pieces of a batch, added up: the number, and gradients for every parameter.

    It stands where the call of a result stands, and walks back without the samples.
    """

    wrt = ()
    hooked: tuple[Any, ...] = ()
    walked_from = walked_back = ()
    values = tensors = ()
    passes_on = False
    labels: ClassVar[dict[int, str]] = {}

    def __init__(self, mean: bool) -> None:
        self.mean = mean
        self.many = False  # whether the function gives a tensor
        self.samples = 0
        self.total = 0.0
        self.gradients: dict[Any, Any] = {}  # by the trace whose parameters they belong to
        self.eager: Any = None  # what pieces gave that ran as plain Python, added up

    def add(self, result: Any, samples: int) -> None:
        """One piece more."""
        self.samples += samples
        weight = samples if self.mean else 1
        call = getattr(result, "_call", None)
        if call is None:
            if not tree.is_number(result):
                raise SettingError(
                    "over() adds up functions that give one number; this one gives more, or another thing"
                )
            self.eager = result * weight if self.eager is None else self.eager + result * weight
            return
        trace = call.trace
        if not trace.one:
            raise SettingError("over() adds up functions that give one number; this one gives more")
        self.many = not isinstance(result, Result)
        self.total += weight * (result.item() if self.many else result.data)
        found = trace.gradients if trace.last is call else call.gradients
        if trace in self.gradients:
            quietly(add_times, self.gradients[trace], found, weight)
        else:
            self.gradients[trace] = quietly(np.multiply, weight, found)

    def result(self) -> Any:
        """The sum or the mean over all samples, which can be walked back from."""
        if not self.samples:
            raise InputSizeError("there were no chunks to add up")
        scale = 1.0 / self.samples if self.mean else 1.0
        if not self.gradients:
            return self.eager * scale
        for gradients in self.gradients.values():
            quietly(np.multiply, gradients, scale, gradients)
        whole = result_of(self, 0, scale * self.total)
        if self.many:
            from gradwalk.tensor import Tensor

            whole = Tensor.of(whole)
        return whole if self.eager is None else whole + self.eager * scale

    # --- as the call of a result, and as its trace -------------------------------------------------------------------

    @property
    def trace(self) -> Any:
        """Who walks back."""
        return self

    @property
    def numbers(self) -> Any:
        """The arguments: none of them gets a gradient."""
        return self

    @property
    def recorded(self) -> Any:
        """Whose parameters are cleared by `zero_grad()`."""
        return self

    @property
    def parameters(self) -> list[Any]:
        """Of all pieces, each once."""
        return list({id(p): p for trace in self.gradients for p in trace.recorded.parameters}.values())

    def hooked_parameters(self, position: int) -> list[Any]:
        """The parameters with hooks that gradient comes to, each once."""
        hooked = [p for trace in self.gradients for p in trace.hooked_parameters(position)]
        return list({id(p): p for p in hooked}.values())

    def backward(self, call: Any, position: int, gradient: float, in_walk: bool = False) -> None:
        """Add what the pieces gave, times `gradient`."""
        if not in_walk and self.hooked_parameters(position):
            raise LeftToWalk
        for trace, gradients in self.gradients.items():
            store = trace.stretch.store
            with store.lock:
                if not store.owns:
                    store.take()
                if in_walk:
                    reverse.if_broken_off(store.with_gradients_of_now())
                grads = trace.stretch.arrays()[1]
                quietly(add_times, grads, gradients, gradient)
