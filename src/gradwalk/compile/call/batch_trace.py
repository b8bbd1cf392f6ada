"""A trace of one sample bound to memory for many: write the samples, run, and walk back."""

from __future__ import annotations

import math
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk import reverse
from gradwalk.compile.call.batch_arguments import BatchNumbers
from gradwalk.compile.call.bound_trace import BoundTrace
from gradwalk.compile.call.results import LeftToWalk, note_walk, result_of
from gradwalk.compile.own.store import Store, Version
from gradwalk.compile.prepared import Runner
from gradwalk.compile.trace.kinds import BOOLS
from gradwalk.compile.trace.recorded import Recorded
from gradwalk.errors import SettingError
from gradwalk.tensor.numpy_arrays import quietly

if TYPE_CHECKING:
    from gradwalk.compile.batches import Batched

__all__ = ["BatchTrace"]


class BatchTrace(BoundTrace):
    """One trace of a batched function, with its program and the memory it runs in.

    >>> f = gradwalk.compile(lambda x: 2 * x, batch="sum")
    >>> f([1.0, 2.0]).data, [trace.calls for trace in f.traces()]
    (6.0, [1])
    """

    one_by_one = False

    def __init__(self, fn: Batched, recorded: Recorded, numbers: BatchNumbers) -> None:
        self.batch, self.threads = fn.batch, fn.threads
        self.n = 0
        self.scale = 1.0  # what a sample counts
        self.grads: Any = None  # where gradients belong
        self.gradients: Any = None  # what the last walk back found
        self.views: list[Any] = []  # where each array is written
        super().__init__(recorded, numbers, {}, batch=fn.dtype)
        self.one = len(recorded.tape.outputs) == 1 and fn.batch != "each"
        self.single = self.one and self.single
        self.result.places = [(i, at, kind and _of_many(kind, fn.batch)) for i, at, kind in self.result.places]

    def _lay_out(self, numbers: BatchNumbers) -> None:
        arrays = iter(numbers.arrays)
        count = len(numbers.arrays) + len(numbers.plain)
        sizes = [1 if i in numbers.plain_at else math.prod(next(arrays).shape[1:]) for i in range(count)]
        starts = list(accumulate(sizes, initial=0))
        arrays_at = [i for i in range(count) if i not in numbers.plain_at]
        self.array_at = [starts[i] for i in arrays_at]  # the input each begins with
        self.plain_at = [starts[i] for i in numbers.plain_at]
        #: Of each argument that has numbers to choose by: which it is, where its indices stand, and in which columns.
        self.chosen_at: list[tuple[int, Any, Any]] = []
        slots = self.recorded.slots
        for given, i in enumerate([*arrays_at, *numbers.plain_at]):
            here = [(k, row - starts[i]) for k, row in enumerate(slots) if starts[i] <= row < starts[i + 1]]
            if here:
                self.chosen_at.append((given, *map(_in_a_row, zip(*here, strict=True))))
        self.bounds = np.array(self.recorded.bounds)
        self.bound = min(self.recorded.bounds, default=0)

    def run(self, numbers: BatchNumbers) -> Any:
        """Compute with these samples; gives what the function gives, reduced."""
        store = self.stretch.store
        store.lock.acquire()
        try:
            self._write(store, numbers)
            if self.one:  # gradients as well, because samples do not stay in memory
                self.clear()
                self.runner.both()
            else:
                self.runner.forward()
            self.calls += 1
            self.last = call = BatchCall(self, numbers, store.version)
            if self.single:
                return result_of(call, 0, self.scale * self.runner.totals.item())
            return self.result.filled(partial(result_of, call), self._outputs(), self._array(), call)
        finally:
            store.lock.release()

    def _forward(self, store: Store, numbers: Any, again: Any = None) -> None:
        self._write(store, numbers, again)
        self.runner.forward()

    def _outputs(self) -> list[Any]:
        if self.batch == "each":
            return list(self.runner.outputs.copy())
        return [self.scale * x for x in self.runner.totals.tolist()]

    def _array(self) -> Any:
        if self.batch == "each":
            return self.runner.outputs.copy()
        return self.scale * self.runner.totals

    def _lone_tensor(self) -> Any:
        return None

    def _write(self, store: Store, numbers: BatchNumbers, again: BatchCall | None = None) -> None:
        """Write the samples; `again` is a call whose numbers may have been put aside."""
        if not store.owns:
            store.take()
        elif store.tensors.lent:
            store.look_at_lent()
        if self.last is not None:
            self.last.keep()
            self.last = None
        if self.values is not store.values:
            self._bind(store)
        if self.n != numbers.n:
            self._resize(numbers)
        if again is not None and again.saved is not None:
            self.runner.inputs[:], self.runner.indices[:] = again.saved
            return
        for view, array in zip(self.views, numbers.arrays, strict=True):
            view[...] = array if array.ndim < 3 else array.reshape(self.n, -1)
        if numbers.plain:
            self.runner.inputs[self.plain_at] = np.array(numbers.plain)[:, None]
        if self.recorded.slots:
            self._write_indices(numbers)

    def _resize(self, numbers: BatchNumbers) -> None:
        self.runner.resize(numbers.n)
        self.scale = 1.0 / numbers.n if self.batch == "mean" else 1.0
        self.runner.seeds[:] = self.scale
        inputs = self.runner.inputs
        self.views = [  # samples stand in columns there
            inputs[start] if array.ndim == 1 else inputs[start : start + array[0].size].T
            for start, array in zip(self.array_at, numbers.arrays, strict=True)
        ]
        self.n = numbers.n

    def _write_indices(self, numbers: BatchNumbers) -> None:
        for given, slots, columns in self.chosen_at:
            if given < len(numbers.arrays):
                array = numbers.arrays[given].reshape(self.n, -1)[:, columns]
            else:
                array = np.array([numbers.plain[given - len(numbers.arrays)]])[:, None]
            whole, bounds = array.astype(np.int64), self.bounds[slots]
            if array.dtype.kind not in "iuf" or (array.dtype.kind == "f" and (whole != array).any()):
                raise SettingError("take takes whole numbers as indices, and a batch holds others")
            if whole.min() < 0 or (whole.max() >= self.bound and (whole >= bounds).any()):
                wrong = (whole < 0) | (whole >= bounds)
                bound = bounds[wrong.any(0).argmax()]
                raise SettingError(
                    f"take was given index {whole.T[wrong.T][0]}, and the table has {bound} entries, counted from 0"
                )
            self.runner.indices[slots] = whole.T

    def _bind(self, store: Store) -> None:
        values, self.grads = self.stretch.arrays()
        self.gradients = np.zeros_like(self.grads)
        there, size = self.gradients.view(np.uint8).data, self.gradients.nbytes
        self.clear = partial(there.__setitem__, slice(None), bytes(size))  # quicker than `fill`
        self.runner = Runner(self.prepared, values, self.gradients, self.threads)
        self.n = 0
        self.last = None
        self.values = store.values  # at the end: what Ctrl-C breaks off is done anew

    def seeds_for(self, position: Any, gradient: Any) -> tuple[Any, Any]:
        """As for one sample; samples stand in columns, and of their sum or mean each gets the same."""
        if gradient.__class__ is float:
            return position, gradient
        if self.one:
            return 0, float(gradient.sum())
        rows = gradient.reshape(len(gradient), -1).T if self.batch == "each" else gradient.reshape(-1, 1)
        if isinstance(position, slice):
            return position, rows
        once, at = np.unique(position, return_inverse=True)
        sums = np.zeros((len(once), rows.shape[1]))
        np.add.at(sums, at.ravel(), rows)
        return once, sums

    def backward(self, call: Any, position: int, gradient: Any, in_walk: bool = False) -> None:
        """Walk back from one of a call's results."""
        store = self.stretch.store
        lock = store.lock
        lock.acquire()  # twice as quick as `with`
        try:
            if not store.owns:
                store.take()
            if in_walk:
                reverse.if_broken_off(store.with_gradients_of_now())
            elif store.hooked and self.hooked_parameters(position):
                raise LeftToWalk
            self._add(store, call, position, gradient)
        finally:
            lock.release()

    def _add(self, store: Store, call: Any, position: int, gradient: Any) -> None:
        store.zeroed = False
        known = self.gradients if self.one and self.last is call else call.gradients
        if known is not None:
            grads = self.grads if self.values is store.values else self.stretch.arrays()[1]  # parameters may move
            quietly(np.add, grads, known if gradient == 1.0 else quietly(np.multiply, gradient, known), grads)
            return
        note_walk(call, position)
        if store.version is not call.version:
            with store.as_of(call.version):
                self._write(store, call.numbers, call)
                self._walk_samples_back(position, gradient)
                self.last = None
            return
        if self.last is not call or self.values is not store.values:
            self._write(store, call.numbers, call)
            self.last = call
        self._walk_samples_back(position, gradient)

    def _walk_samples_back(self, position: int, gradient: Any) -> None:
        seeds = self.runner.seeds
        seeds[:] = 0.0
        seeds[position] = gradient * self.scale
        self.clear()
        try:
            self.runner.backward()
        finally:
            seeds[:] = self.scale  # as every call of a function with one result wants them
        quietly(np.add, self.grads, self.gradients, self.grads)


class BatchCall:
    """One call of a batched function."""

    hooked: tuple[Any, ...] = ()  # the results that were given hooks
    walked_from: tuple[Any, ...] = ()  # as of any call …
    walked_back: tuple[Any, ...] = ()
    gradients: Any = None  # kept once another call uses the memory, where they are known
    saved: Any = None  # the samples, kept then where gradients are not known

    def __init__(self, trace: BatchTrace, numbers: BatchNumbers, version: Version) -> None:
        self.trace = trace
        self.numbers = numbers
        self.version = version
        version.waiting += not trace.one  # of one result the gradients are there already

    def keep(self) -> None:
        """Put aside what the next call overwrites."""
        runner = self.trace.runner
        if self.trace.one:
            self.gradients = self.trace.gradients.copy()
        elif self.saved is None:
            self.saved = runner.inputs.copy(), runner.indices.copy()


def _in_a_row(places: tuple[int, ...]) -> Any:
    """Places as an index, which a slice is quicker as."""
    first, count = places[0], len(places)
    return slice(first, first + count) if places == (*range(first, first + count),) else list(places)


def _of_many(kind: type, batch: str) -> type:
    """The type that plain numbers of a type have together: a mean is a float, and a sum of truths says how many."""
    return float if batch == "mean" else int if kind in BOOLS else kind
