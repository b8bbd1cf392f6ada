"""A batched trace bound to memory, and what its calls give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk.compile.call.batch_arguments import Lanes
from gradwalk.compile.call.bound import Given
from gradwalk.compile.call.results import Result
from gradwalk.compile.own.store import Store, Version, place_of
from gradwalk.compile.prepared import Prepared, Runner, prepare
from gradwalk.compile.trace.recorded import Output, Recorded
from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, SettingError

if TYPE_CHECKING:
    from gradwalk.compile.batches import Batched

__all__ = ["LaneBound", "Samples"]

_blank = object.__new__


class LaneBound:
    """One trace of a batched function, with its program and the memory it runs in.

    >>> f = gradwalk.compile(lambda x: 2 * x, batch="sum")
    >>> f([1.0, 2.0]).data, [trace.calls for trace in f.traces()]
    (6.0, [1])
    """

    def __init__(self, fn: Batched, recorded: Recorded, lanes: Lanes) -> None:
        self.recorded = recorded
        self.batch, self.threads = fn.batch, fn.threads
        self.kept = lanes.kept
        self.place, where = place_of(recorded.parameters)
        self.prepared: Prepared = prepare(recorded.tape.placed(where, self.place.size), batch=fn.dtype)
        self.calls = 0
        self.recent = True
        self.n = 0
        self.scale = 1.0  # what a sample counts
        self.last: LaneCall | None = None  # the call whose numbers are in memory
        self.values: Any = None
        self.runner: Runner
        self.grads: Any = None  # where gradients belong
        self.gradients: Any = None  # what the last walk back found
        self.one = len(recorded.tape.outputs) == 1 and fn.batch != "each"
        self.given = Given(recorded.result)
        self.single = self.one and isinstance(recorded.result, Output) and not recorded.result.plain
        self.wrt: dict[str, Any] = {}
        arrays = iter(lanes.arrays)
        count = len(lanes.arrays) + len(lanes.plain)
        sizes = [1 if i in lanes.plain_at else int(np.prod(next(arrays).shape[1:])) for i in range(count)]
        starts = np.cumsum([0, *sizes]).tolist()
        self.array_at = [starts[i] for i in range(count) if i not in lanes.plain_at]  # the input that each begins with
        self.plain_at = [starts[i] for i in lanes.plain_at]
        self.views: list[Any] = []  # where each array is written

    def run(self, lanes: Lanes) -> Any:
        """Compute with these samples; gives what the function gives, reduced.

        >>> f = gradwalk.compile(lambda x: {"twice": 2 * x}, batch="mean")
        >>> f([1.0, 2.0])["twice"].data
        3.0
        """
        store = self.place.store
        with store.lock:
            self._write(lanes)
            if self.one:  # gradients as well, because samples do not stay in memory
                self.gradients.fill(0.0)
                self.runner.both()
            else:
                self.runner.forward()
            self.calls += 1
            self.last = call = LaneCall(self, lanes, store.version)
            if self.single:
                return call.result(0, self.scale * self.runner.totals.item())
            outputs = self._outputs()
            return self.given.filled([call.result(i, x) for i, x in enumerate(outputs)], outputs)

    def values_only(self, lanes: Lanes) -> Any:
        """As `run`, with leaves as results: what happens under `no_grad()`.

        >>> f = gradwalk.compile(lambda x: 2 * x, batch="sum")
        >>> with gradwalk.no_grad():
        ...     f([1.0, 2.0]).operands
        ()
        """
        with self.place.store.lock:
            self._write(lanes)
            self.runner.forward()
            self.calls += 1
            self.last = None
            outputs = self._outputs()
            return self.given.filled([Value(x) if isinstance(x, float) else x for x in outputs], outputs)

    def _outputs(self) -> list[Any]:
        if self.batch == "each":
            return list(self.runner.outputs.copy())
        return [self.scale * x for x in self.runner.totals.tolist()]

    def _write(self, lanes: Lanes, again: LaneCall | None = None) -> None:
        """Write the samples; `again` is a call whose numbers may have been put aside."""
        store = self.place.store
        if not store.owns:
            store.take()
        if self.last is not None:
            self.last.keep()
        if self.values is not store.values:
            self._bind(store)
        if self.n != lanes.n:
            self._resize(lanes)
        if again is not None and again.saved is not None:
            self.runner.inputs[:], self.runner.indices[:] = again.saved
            return
        for view, array in zip(self.views, lanes.arrays, strict=True):
            view[...] = array if array.ndim < 3 else array.reshape(self.n, -1)
        if lanes.plain:
            self.runner.inputs[self.plain_at] = np.array(lanes.plain)[:, None]
        if self.recorded.slots:
            self._write_indices(lanes)

    def _resize(self, lanes: Lanes) -> None:
        self.runner.resize(lanes.n)
        self.n = lanes.n
        self.scale = 1.0 / self.n if self.batch == "mean" else 1.0
        self.runner.seeds[:] = self.scale
        inputs = self.runner.inputs
        self.views = [  # samples stand in columns there
            inputs[start] if array.ndim == 1 else inputs[start : start + array[0].size].T
            for start, array in zip(self.array_at, lanes.arrays, strict=True)
        ]

    def _write_indices(self, lanes: Lanes) -> None:
        rows: dict[int, Any] = {at: np.array(x) for at, x in zip(self.plain_at, lanes.plain, strict=True)}
        for at, array in zip(self.array_at, lanes.arrays, strict=True):
            rows |= {at + k: column for k, column in enumerate(array.reshape(self.n, -1).T)}
        for slot, (row, bound) in enumerate(zip(self.recorded.slots, self.recorded.bounds, strict=True)):
            index = rows[row]
            whole = index.astype(np.int64)
            if (index.dtype.kind == "f" and (whole != index).any()) or index.dtype.kind not in "iuf":
                raise SettingError("take takes whole numbers as indices, and a batch holds others")
            if whole.min() < 0 or whole.max() >= bound:
                wrong = whole[(whole < 0) | (whole >= bound)].ravel()[0]
                raise SettingError(f"take was given index {wrong}, and the table has {bound} entries, counted from 0")
            self.runner.indices[slot] = whole

    def _bind(self, store: Store) -> None:
        self.values = store.values
        values, self.grads = self.place.arrays()
        self.gradients = np.zeros_like(self.grads)
        self.runner = Runner(self.prepared, values, self.gradients, self.threads)
        self.n = 0
        self.last = None

    def backward(self, call: LaneCall, position: int, gradient: Any) -> None:
        """Walk back from one of a call's results.

        >>> w = gradwalk.Value(3.0)
        >>> gradwalk.compile(lambda x: w * x, batch="sum")([1.0, 2.0]).backward()
        >>> w.grad
        3.0
        """
        store = self.place.store
        with store.lock:
            if not store.owns:
                store.take()
            if call.gradients is not None:
                _, grads = self.place.arrays()
                grads += gradient * call.gradients
                return
            if self.one and self.last is call and self.values is store.values:
                self._add(gradient)
                return
            if store.version is not call.version:
                with store.as_of(call.version):
                    self._write(call.numbers, call)
                    self._walk_back(position, gradient)
                    self.last = None
                return
            if self.last is not call or self.values is not store.values:
                self._write(call.numbers, call)
                self.last = call
            self._walk_back(position, gradient)

    def _walk_back(self, position: int, gradient: Any) -> None:
        seeds = self.runner.seeds
        seeds[:] = 0.0
        seeds[position] = gradient * self.scale
        self.gradients.fill(0.0)
        self.runner.backward()
        seeds[:] = self.scale  # as every call of a function with one result wants them
        self._add(1.0)

    def _add(self, scale: float) -> None:
        self.grads += self.gradients if scale == 1.0 else scale * self.gradients

    def bytes(self) -> int:
        """How much memory the trace takes, for one sample.

        >>> f = gradwalk.compile(lambda x: 2 * x, batch="sum")
        >>> total = f([1.0, 2.0])
        >>> f.traces()[0].bytes() > 0
        True
        """
        return self.prepared.tape.bytes() + self.prepared.program.bytes


class LaneCall:
    """One call of a batched function."""

    gradients: Any = None  # kept once another call uses the memory, where they are known
    saved: Any = None  # the samples, kept then where gradients are not known

    def __init__(self, bound: LaneBound, lanes: Lanes, version: Version) -> None:
        self.bound = bound
        self.numbers = lanes
        self.version = version
        version.waiting += not bound.one  # of one result the gradients are there already

    def keep(self) -> None:
        """Put aside what the next call overwrites."""
        runner = self.bound.runner
        if self.bound.one:
            self.gradients = self.bound.gradients.copy()
        elif self.saved is None:
            self.saved = runner.inputs.copy(), runner.indices.copy()

    def result(self, position: int, data: Any) -> Any:
        if isinstance(data, np.ndarray):
            return Samples(self, position, data)
        out = _blank(Result)
        out._call = self
        out._position = position
        out._data = data
        out._grad = 0.0
        return out


class Samples:
    """What a function of one sample gave for each of many: numbers in `data`, and one walk back for all of them.

    >>> w = gradwalk.Value(3.0)
    >>> each = gradwalk.compile(lambda x: w * x, batch="each")([1.0, 2.0])
    >>> each.data.tolist(), len(each), each[1]
    ([3.0, 6.0], 2, 6.0)
    >>> each.backward([1.0, 10.0])
    >>> w.grad
    21.0
    """

    def __init__(self, call: LaneCall, position: int, data: Any) -> None:
        self._call = call
        self._position = position
        self.data = data

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, i: Any) -> Any:
        return self.data[i].item() if np.ndim(self.data[i]) == 0 else self.data[i]

    def __repr__(self) -> str:
        return f"Samples({self.data!r})"

    def backward(self, gradient: Any = 1.0) -> None:
        """Add the gradients of the samples' numbers, each times its entry of `gradient`, or all times one number.

        >>> w = gradwalk.Value(3.0)
        >>> gradwalk.compile(lambda x: w * x, batch="each")([1.0, 2.0]).backward()
        >>> w.grad
        3.0
        """
        weights = np.asarray(gradient, np.float64)
        if weights.ndim and weights.shape != self.data.shape:
            raise InputSizeError(f"backward was given {weights.shape} gradients for {len(self.data)} samples")
        self._call.bound.backward(self._call, self._position, weights if weights.ndim else float(weights))
