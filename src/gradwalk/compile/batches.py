"""`compile(fn, batch=...)`: a function written for one sample, called with many at once.

Lists and arrays hold one sample in each entry of their first dimension; tuples and dicts are structure, and their parts
are looked at one by one; a number that stands alone is the same for all samples. Native code runs many samples side by
side, and gives the sum or the mean of what the function gives, or each by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np

from gradwalk import functions, keepers, modes
from gradwalk.compile.api import Compiled
from gradwalk.compile.call.arguments import NUMBERS, TEXTS, Key, Numbers, static_key
from gradwalk.compile.call.lane_bound import LaneBound, Samples
from gradwalk.compile.trace import tracer
from gradwalk.compile.trace.recorded import Recorded
from gradwalk.engine import Value
from gradwalk.errors import InputSizeError, NotANumberError, SettingError
from gradwalk.ops import number

__all__ = ["Batched", "Samples"]

ARRAY = np.ndarray
WAYS = ("sum", "mean", "each")
DTYPES = ("float64", "float32")


class Batched(Compiled):
    """A compiled function of one sample that takes many.

    >>> import gradwalk
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
        if self._wrt:
            raise SettingError("wrt= is not for batches; compile the function without batch= to get such gradients")
        self.batch, self.dtype, self.threads = batch, dtype, threads

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        if modes.active and modes.every_op():
            return self.one_by_one(*args, **kwargs)
        if keepers.epoch != self._epoch:
            self._notice()
        if self._frozen is None:
            self._freeze()
        lanes: Any = Lanes()
        if kwargs or self._static or self._frozen:
            key = self._key(args, kwargs, lanes)
        else:
            key = tuple(map(key_of_samples, args, repeat(lanes)))
        if not lanes.n:
            raise SettingError("batch= needs lists or arrays of samples among the arguments, and there are none")
        bound = self._entries.get(key)
        if bound is None:
            bound = LaneBound(self, self._recorded(args, kwargs), lanes)
            self.traced += 1
            self.cache.put(key, bound)
        bound.recent = True
        if modes.active and not modes.recording():
            return bound.values_only(lanes)
        return bound.run(lanes)

    def one_by_one(self, *args: Any, **kwargs: Any) -> Any:
        """The same without native code: the function on each sample in turn, and the sum, mean or list of its results.

        >>> import gradwalk
        >>> f = gradwalk.compile(lambda x: x * x, batch="sum")
        >>> f.one_by_one([1.0, 2.0, 3.0])
        14.0
        """
        found: list[int] = []
        self._each(args, kwargs, lambda x: found.extend(_counts(x)))
        if len(set(found)) != 1 or not found[0]:
            raise InputSizeError(f"a batch needs as many samples in each argument, and at least one; here are {found}")
        n = found[0]
        results = []
        for i in range(n):
            parts, named = self._each(args, kwargs, lambda x, i=i: _sample(x, i))  # type: ignore[misc]
            results.append(self.eager(*parts, **named))
        if self.batch == "each":
            return results
        return _reduced(results, 1.0 if self.batch == "sum" else 1.0 / n)

    def _key_of(self, place: int | str, x: Any, numbers: Any) -> Key:
        name = place if isinstance(place, str) else self._names[place] if place < len(self._names) else ""
        return static_key(name, x) if name in self._static else key_of_samples(x, numbers)

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: Numbers) -> Key:
        key: Key = tuple([self._key_of(i, x, numbers) for i, x in enumerate(args)])
        named = tuple([(name, self._key_of(name, x, numbers)) for name, x in sorted(kwargs.items())])
        return key, named, self._read()

    def _recorded(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recorded:
        def call(recorder: tracer.Tracer) -> Any:
            parts, named = self._each(args, kwargs, lambda x: _stand_ins(x, recorder))
            return self.eager(*parts, **named)

        return tracer.run(call, [self.eager, args, kwargs])


class Lanes:
    """The numbers of one call: arrays with a sample in each row, and numbers that all samples share.

    >>> from gradwalk.compile.batches import Lanes, key_of_samples
    >>> lanes = Lanes()
    >>> key_of_samples(([[1.0, 2.0], [3.0, 4.0]], 0.5), lanes), lanes.n
    (('tuple', ((<class 'list'>, 2), 0)), 2)
    """

    n = 0
    plain: tuple[float, ...] = ()
    plain_at: tuple[int, ...] = ()  # which of all, arrays and numbers, a plain number is
    kept: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self.arrays: list[Any] = []


def key_of_samples(x: Any, lanes: Lanes) -> Key:
    """The structure of one sample of an argument; the numbers of all are added to `lanes`.

    >>> from gradwalk.compile.batches import Lanes, key_of_samples
    >>> key_of_samples([1.0, 2.0, 3.0], Lanes())
    (<class 'list'>,)
    """
    if x.__class__ is ARRAY and x.dtype.kind in "biuf":  # the most usual, and so the quickest
        shape = x.shape
        n = shape[0] if shape else 0
        if n and n == (lanes.n or n):
            lanes.n = n
            lanes.arrays.append(x)
            return shape[1:]
    if isinstance(x, (list, np.ndarray)) and not (isinstance(x, np.ndarray) and x.ndim == 0):
        array = _array(x)
        if lanes.arrays and len(array) != lanes.n:
            raise InputSizeError(f"one argument holds {lanes.n} samples and another {len(array)}; give as many of each")
        lanes.n = len(array)
        lanes.arrays.append(array)
        return x.__class__, *array.shape[1:]
    if isinstance(x, tuple):
        return "tuple", tuple([key_of_samples(part, lanes) for part in x])
    if isinstance(x, dict):
        return "dict", tuple(x), tuple([key_of_samples(part, lanes) for part in x.values()])
    if isinstance(x, Value):
        raise SettingError("a batch takes numbers, not Values; let the function reach its parameters by itself")
    if isinstance(x, TEXTS):
        return "is", x.__class__, x
    if x.__class__ in NUMBERS or hasattr(x, "dtype"):
        lanes.plain_at += (len(lanes.arrays) + len(lanes.plain),)
        lanes.plain += (number(x),)
        return 0
    lanes.kept += (x,)
    return "same", id(x)


def _array(x: Any) -> Any:
    array = x
    if x.__class__ is not np.ndarray:
        try:
            array = np.asarray(x)
        except ValueError:
            array = np.zeros(0, object)
    if array.dtype.kind not in "biuf":
        raise NotANumberError(
            "the samples of a batch are numbers, or lists or arrays of numbers, all of one shape; put samples of one "
            "shape into one batch"
        )
    if not len(array):
        raise InputSizeError("a batch was given no samples; give at least one")
    return array


def _stand_ins(x: Any, recorder: tracer.Tracer) -> Any:
    if isinstance(x, (list, np.ndarray)) and not (isinstance(x, np.ndarray) and x.ndim == 0):
        shape = np.asarray(x).shape[1:]
        made = recorder.inputs_like(np.empty(shape)) if shape else recorder.input()
        return made.tolist() if shape and isinstance(x, list) else made
    if isinstance(x, tuple):
        return tuple([_stand_ins(part, recorder) for part in x])
    if isinstance(x, dict):
        return {key: _stand_ins(part, recorder) for key, part in x.items()}
    return recorder.input() if x.__class__ in NUMBERS or hasattr(x, "dtype") else x


def _counts(x: Any) -> list[int]:
    """How many samples there are in each list and array."""
    if isinstance(x, (list, np.ndarray)) and not (isinstance(x, np.ndarray) and x.ndim == 0):
        return [len(x)]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, tuple) else ()
    return [n for part in parts for n in _counts(part)]


def _sample(x: Any, i: int) -> Any:
    if isinstance(x, (list, np.ndarray)) and not (isinstance(x, np.ndarray) and x.ndim == 0):
        return x[i]
    if isinstance(x, tuple):
        return tuple([_sample(part, i) for part in x])
    return {key: _sample(part, i) for key, part in x.items()} if isinstance(x, dict) else x


def _reduced(results: list[Any], scale: float) -> Any:
    first = results[0]
    if isinstance(first, dict):
        return {key: _reduced([result[key] for result in results], scale) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)(_reduced([result[i] for result in results], scale) for i in range(len(first)))
    whole = functions.total(results)
    return whole * scale if scale != 1.0 else whole
