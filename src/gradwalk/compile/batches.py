"""`compile(fn, batch=...)`: a function written for one sample, called with many at once.

Native code runs many samples side by side, and gives the sum or the mean of what the function gives, or each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from functools import partial
from itertools import repeat
from typing import Any

from gradwalk import functions, modes, tree
from gradwalk.compile.api import Compiled, told
from gradwalk.compile.call.arguments import Key
from gradwalk.compile.call.batch_arguments import (
    BatchNumbers,
    InPieces,
    deep_key_of_samples,
    is_samples,
    is_samples_or_whole,
    key_of_samples,
    sample_of,
    stand_ins_for_one,
)
from gradwalk.compile.call.batch_trace import BatchTrace
from gradwalk.compile.call.chunks import ChunkSum, pieces
from gradwalk.compile.call.results import Samples
from gradwalk.compile.trace import tracer
from gradwalk.compile.trace.limits import limit
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.recorded import Output, Recorded, TensorOutput
from gradwalk.compile.trace.same_objects import unanswered
from gradwalk.compile.trace.traced import Traced
from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, SettingError
from gradwalk.parallel.progress import Report, shown

__all__ = ["Batched", "Samples"]

WAYS = ("sum", "mean", "each")
DTYPES = ("float64", "float32")


class Batched(Compiled):
    """A compiled function of one sample that takes many.

    >>> w = gradwalk.Value(2.0)
    >>> @gradwalk.compile(batch="mean")
    ... def loss(x, y):
    ...     return (w * x - y) ** 2
    >>> l = loss([1.0, 2.0, 3.0], [2.0, 4.0, 9.0])
    >>> l.backward()
    >>> l.data, w.grad
    (3.0, -6.0)
    """

    def __init__(self, fn: Callable[..., Any], *, batch: str, dtype: str, threads: int, **options: Any) -> None:
        if batch not in WAYS:
            raise SettingError(f"batch is 'sum', 'mean' or 'each', not {batch!r:.60}")
        if dtype not in DTYPES:
            raise SettingError(f"dtype is 'float64' or 'float32', not {dtype!r:.60}")
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise SettingError(f"threads is a whole number of at least 1, not {threads!r:.60}")
        super().__init__(fn, **options)
        if self.wrt:
            raise SettingError("wrt= is not for batches; compile the function without batch= to get such gradients")
        self.batch, self.dtype, self.threads = batch, dtype, threads

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        watched = modes.layers and modes.top() is not modes.bottom
        if watched and modes.every_op(for_a_loss=self.batch != "each"):
            return told(self.one_by_one(*args, **kwargs), None)
        numbers = BatchNumbers()
        try:
            if kwargs or self._static:
                key = self._key(args, kwargs, numbers, key_of_samples)
            else:
                key = tuple(map(key_of_samples, args, repeat(numbers)))
        except RecursionError:
            pass
        except InPieces:
            chunks, count = pieces(args, kwargs)
            return self._added_up(((args, kwargs) for args, kwargs in chunks), count, None)
        else:
            trace = self._entries.get(key)
            if trace is not None and not watched and trace.calls < trace.due:
                try:
                    held = trace.holds()
                except Exception:  # something is gone
                    held = False
                if held:
                    trace.recent = True
                    return trace.run(numbers)
        how = "run" if not watched or modes.recording() else "values_only"
        out, replayed = self._with_care(args, kwargs, how)
        if watched and modes.recording() and self.batch != "each":
            told(out, partial(self.one_by_one, *args, **kwargs) if replayed else None)
        return out

    def over(self, chunks: Iterable[Any], *, progress: bool | Report | None = None) -> Any:
        """The sum or mean over samples that come in chunks, each a tuple of arguments; only one is in memory at a time.

        Gradients are worked out with the chunks, so `backward()` needs none of them again. Samples in an np.memmap or
        in a Dask array need no `over`: call the function with them, and it takes them in pieces.

        >>> w = gradwalk.Value(2.0)
        >>> loss = gradwalk.compile(lambda x, y: (w * x - y) ** 2, batch="mean")
        >>> whole = loss.over((([x], [3.0 * x]) for x in (1.0, 2.0, 3.0)), progress=False)
        >>> whole.backward()
        >>> round(whole.data, 6), round(w.grad, 6)
        (4.666667, -9.333333)

        - `progress`: True, False, or a function that is told how many chunks are done, 0, and how many there are, 0 if
          that is not known; where nothing is said, a bar is shown on a terminal and in a notebook.
        """
        if isinstance(chunks, (dict, str, bytes)) or not hasattr(chunks, "__iter__"):
            raise SettingError(f"over() takes chunks, each a tuple of arguments, not {type(chunks).__name__}")
        count = len(chunks) if isinstance(chunks, Sized) else 0
        return self._added_up(map(_as_arguments, chunks), count, progress)

    def _added_up(self, chunks: Iterator[Any], count: int, progress: bool | Report | None) -> Any:
        if self.batch == "each":
            raise SettingError(
                "batch='each' gives a number for each sample; call the function with one chunk at a time"
            )
        whole = ChunkSum(self.batch == "mean")
        with shown(progress, "chunks") as tell:
            tell(0, 0, count)
            for done, (args, kwargs) in enumerate(chunks, start=1):
                counts = self._counts(args, kwargs)
                whole.add(self(*args, **kwargs), counts[0] if counts else 0)
                tell(done, 0, count)
        return whole.result()

    def options(self) -> dict[str, Any]:
        """What `gradwalk.compile` was told beside the function.

        >>> gradwalk.compile(lambda x: x * x, batch="sum").options()["batch"]
        'sum'
        """
        return {**super().options(), "batch": self.batch, "dtype": self.dtype, "threads": self.threads}

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key, Any]:
        numbers = BatchNumbers()
        try:
            key = self._key(args, kwargs, numbers, key_of_samples)
        except RecursionError:
            numbers = BatchNumbers()
            key = self._key(args, kwargs, numbers, deep_key_of_samples)
        if not numbers.n:
            raise SettingError("batch= needs lists or arrays of samples among the arguments, and there are none")
        return key, numbers

    def _counts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int]:
        """How many samples each part of the arguments holds."""
        counts: list[int] = []
        self._each(
            args, kwargs, lambda x: counts.extend(map(len, filter(is_samples, tree.flatten(x, is_samples_or_whole)[0])))
        )
        return counts

    def one_by_one(self, *args: Any, **kwargs: Any) -> Any:
        """The same without native code: the function on each sample in turn, and the sum, mean or list of its results.

        >>> f = gradwalk.compile(lambda x: x * x, batch="sum")
        >>> f.one_by_one([1.0, 2.0, 3.0])
        14.0
        """
        counts = self._counts(args, kwargs)
        if len(set(counts)) != 1 or not counts[0]:
            raise InputSizeError(f"a batch needs as many samples in each argument, and at least one; here are {counts}")
        results = []
        for i in range(counts[0]):
            parts, named = self._each(args, kwargs, partial(sample_of, i=i))
            results.append(self.eager(*parts, **named))
        if self.batch == "each":
            return results
        scale = 1.0 if self.batch == "sum" else 1.0 / len(results)
        return tree.map(partial(_reduced, scale), *results)

    @property
    def may_go_by_array(self) -> bool:
        """Whether the function may be traced array by array: a batch of samples may not."""
        return False

    def _recorded(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, reached: Any, *, by_array: bool = False
    ) -> Recorded:
        truths_asked = bool(unanswered([function for _, function in reached.functions], "truths"))
        if any(array.dtype == bool for array in numbers.arrays) and truths_asked:
            raise limit("one sample", " (the function asks `is True` or `is False`)")

        def call(recorder: tracer.Tracer) -> Any:
            recorder.mixed = numbers.mixed
            parts, named = self._each(args, kwargs, partial(stand_ins_for_one, recorder=recorder))
            return tree.map(partial(_computed, recorder=recorder), recorder.call(self.eager, parts, named))

        tensors = [v for _, v in reached.tensors]
        return tracer.run(
            call, [self.eager, args, kwargs], reached.values, tensors, samples=True, truths_asked=truths_asked
        )

    def _bound(
        self, recorded: Recorded, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Any, *, guarded: bool
    ) -> Any:
        for given in tree.flatten(recorded.result, lambda x: isinstance(x, Output) or tree.is_block(x))[0]:
            if isinstance(given, TensorOutput) and self.batch != "each" and given.dtype != "float64":
                raise SettingError(
                    f"the function gives a tensor of {given.dtype}, of which there is no sum over samples; convert it "
                    "with .double(), or compile with batch='each'"
                )
        return BatchTrace(self, recorded, numbers)

    def _must_be_compiled(self) -> str:
        return "samples one by one are to be had of compiled code alone (batch='each')" if self.batch == "each" else ""

    def _as_it_is(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.one_by_one(*args, **kwargs)


def _as_arguments(chunk: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not isinstance(chunk, tuple):
        raise SettingError(
            f"a chunk is a tuple of the function's arguments, as in (X, y), not {type(chunk).__name__}; "
            "for one argument write (X,)"
        )
    return chunk, {}


def _computed(x: Any, recorder: tracer.Tracer) -> Any:
    """A result that is no part of the trace, such as a parameter or a constant, as one: each sample has it."""
    if getattr(type(x), "many", False):
        return recorder.tensors.traced(x)
    if isinstance(x, (Traced, Number, bool)) or not tree.is_number(x):
        return x
    return (x if isinstance(x, Value) else Value(x)) * 1.0


def _reduced(scale: float, *column: Any) -> Any:
    """The sum of one number of all results; what is no number is that of the first."""
    if not tree.is_number(column[0]):
        return column[0]
    whole = functions.total(column)
    return whole * scale if scale != 1.0 else whole
