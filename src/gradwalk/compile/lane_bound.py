"""A batched trace bound to memory, and what its calls give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwalk.compile.arguments import Numbers
from gradwalk.compile.bound import filled
from gradwalk.compile.lanes import LaneRunner, prepare_lanes
from gradwalk.compile.recorded import Recorded
from gradwalk.compile.results import Result
from gradwalk.compile.store import Store, place_of
from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, SettingError, TraceError

if TYPE_CHECKING:
    from gradwalk.compile.batches import Batched, Lanes

__all__ = ["LaneBound", "Samples"]


class LaneBound:
    """One trace of a batched function, with its program and the memory it runs in.

    >>> import gradwalk
    >>> f = gradwalk.compile(lambda x: 2 * x, batch="sum")
    >>> f([1.0, 2.0]).data, [trace.calls for trace in f.traces()]
    (6.0, [1])
    """

    def __init__(self, fn: Batched, recorded: Recorded, lanes: Lanes) -> None:
        self.recorded = recorded
        self.batch, self.threads = fn.batch, fn.threads
        self.kept = lanes.kept
        self.place, where = place_of(recorded.parameters)
        self.program = prepare_lanes(recorded.tape.placed(where, self.place.size), dtype=fn.dtype)
        self.calls = 0
        self.recent = True
        self.n = 0
        self.last: LaneCall | None = None  # the call whose numbers are in memory
        self.values: Any = None
        self.runner: LaneRunner
        self.one = len(recorded.tape.outputs) == 1 and fn.batch != "each"
        self.wrt: dict[str, Any] = {}
        rows = iter(np.cumsum([0, *self._sizes(lanes)]).tolist())
        self.starts = [next(rows) for _ in lanes.order]

    def _sizes(self, lanes: Lanes) -> list[int]:
        arrays = iter(lanes.arrays)
        return [int(np.prod(next(arrays).shape[1:])) if is_array else 1 for is_array in lanes.order]

    def run(self, lanes: Lanes, *, forward_only: bool) -> Any:
        """Compute with these samples; gives what the function gives, reduced.

        >>> import gradwalk
        >>> f = gradwalk.compile(lambda x: {"twice": 2 * x}, batch="mean")
        >>> f([1.0, 2.0])["twice"].data
        3.0
        """
        store = self.place.store
        with store.lock:
            self._write(lanes)
            if self.one and not forward_only:  # gradients as well, because samples do not stay in memory
                self.runner.forward_and_backward(self._seeds(1.0))
            else:
                self.runner.forward()
            self.calls += 1
            self.last = call = LaneCall(self, lanes, store.version)
            outputs = self.runner.each.tolist() if self.batch == "each" else self._reduced_outputs()
            if forward_only:
                self.last = None
                return filled(self.recorded.result, [_leaf(x) for x in outputs])
            return filled(self.recorded.result, [call.result(i, x) for i, x in enumerate(outputs)])

    def _reduced_outputs(self) -> list[float]:
        scale = 1.0 / self.n if self.batch == "mean" else 1.0
        return [scale * x for x in self.runner.totals.tolist()]

    def _seeds(self, gradient: float) -> Any:
        return np.array([gradient / self.n if self.batch == "mean" else gradient])

    def _write(self, lanes: Lanes) -> None:
        store = self.place.store
        if not store.owns:
            store.take()
        if self.last is not None:
            self.last.keep()
        if self.values is not store.values:
            self._bind(store)
        if self.n != lanes.n:
            self.runner.resize(lanes.n)
            self.n = lanes.n
        inputs = self.runner.inputs
        arrays, plain = iter(lanes.arrays), iter(lanes.plain)
        for start, is_array in zip(self.starts, lanes.order, strict=True):
            if is_array:
                array = next(arrays)
                inputs[start : start + array[0].size] = array.reshape(self.n, -1).T
            else:
                inputs[start] = next(plain)
        if self.recorded.slots:
            self._write_indices(lanes)

    def _write_indices(self, lanes: Lanes) -> None:
        rows: dict[int, Any] = {}
        arrays, plain = iter(lanes.arrays), iter(lanes.plain)
        for start, is_array in zip(self.starts, lanes.order, strict=True):
            if is_array:
                array = next(arrays)
                rows |= {start + k: column for k, column in enumerate(array.reshape(self.n, -1).T)}
            else:
                rows[start] = np.array(next(plain))
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
        self.runner = LaneRunner(self.program, *self.place.arrays(), threads=self.threads)
        self.n = 0
        self.last = None

    def backward(self, call: LaneCall, position: int, gradient: Any) -> None:
        """Walk back from one of a call's results.

        >>> import gradwalk
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
                self.runner.add_gradients(gradient)
                return
            if store.version != call.version:
                raise TraceError(
                    "parameters have changed since this result was computed, and replay keeps one copy of them; call "
                    "backward() before the parameters change, or call the function again"
                )
            if self.last is not call or self.values is not store.values:
                self._write(call.lanes)
                self.last = call
            shape = (len(self.recorded.tape.outputs), self.n) if np.ndim(gradient) else len(self.recorded.tape.outputs)
            seeds = np.zeros(shape)
            seeds[position] = gradient / self.n if self.batch == "mean" else gradient
            self.runner.forward_and_backward(seeds)
            self.runner.add_gradients()

    def bytes(self) -> int:
        """How much memory the trace takes, for one sample.

        >>> import gradwalk
        >>> f = gradwalk.compile(lambda x: 2 * x, batch="sum")
        >>> total = f([1.0, 2.0])
        >>> f.traces()[0].bytes() > 0
        True
        """
        tape = self.program.tape
        arrays = (tape.code, tape.a, tape.b, tape.aux, tape.constants)
        return int(sum(array.nbytes for array in arrays)) + getattr(self.program, "bytes", 0)


class LaneCall:
    """One call of a batched function."""

    __slots__ = ("bound", "gradients", "lanes", "numbers", "version")

    def __init__(self, bound: LaneBound, lanes: Lanes, version: int) -> None:
        self.bound = bound
        self.lanes = lanes
        self.version = version
        self.numbers = _NOTHING  # no Values among the arguments
        self.gradients: Any = None  # kept once another call uses the memory

    def keep(self) -> None:
        """Put aside what the next call overwrites."""
        if self.bound.one:
            self.gradients = self.bound.runner.gradients.copy()
        else:
            self.lanes.arrays = [array.copy() for array in self.lanes.arrays]

    def result(self, position: int, data: Any) -> Any:
        if isinstance(data, list):
            return Samples(self, position, np.array(data))
        out = object.__new__(Result)
        out._call = self
        out._position = position
        out.data = data
        out.grad = 0.0
        return out


_NOTHING = Numbers()


def _leaf(x: Any) -> Any:
    return np.array(x) if isinstance(x, list) else Value(x)


class Samples:
    """What a function of one sample gave for each of many: numbers in `data`, and one walk back for all of them.

    >>> import gradwalk
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

        >>> import gradwalk
        >>> w = gradwalk.Value(3.0)
        >>> gradwalk.compile(lambda x: w * x, batch="each")([1.0, 2.0]).backward()
        >>> w.grad
        3.0
        """
        weights = np.asarray(gradient, np.float64)
        if weights.ndim and weights.shape != self.data.shape:
            raise InputSizeError(f"backward was given {weights.shape} gradients for {len(self.data)} samples")
        self._call.bound.backward(self._call, self._position, weights if weights.ndim else float(weights))
