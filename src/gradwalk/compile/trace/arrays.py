"""An array among the arguments while a function is traced: stand-ins, with the dtype that it has for the function."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk.compile.trace.plain import Number, asked_by_insider

__all__ = ["TracedArray", "traced_array"]


class TracedArray(np.ndarray[Any, Any]):
    """An array of objects; whoever asks for its dtype, outside NumPy, is told that of the numbers they stand for.

    >>> from gradwalk.compile.trace.tracer import trace
    >>> trace(lambda x: traced_array([x, x * 2]).sum(), [3.0]).tape.rows
    2
    """

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def dtype(self) -> Any:
        """The dtype of the plain function's array, which then has to be the same in every replay."""
        if asked_by_insider():
            return np.dtype(object)
        parts = self.ravel().tolist()
        if not parts or not all(isinstance(x, Number) for x in parts):
            return np.dtype(object)
        return np.result_type(*{x._tracer.kind_asked(x) for x in parts})

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(tuple(map(_told, at)) if isinstance(at, tuple) else _told(at))

    def sum(self, *args: Any, **options: Any) -> Any:
        """The sum; of truths how many there are, as NumPy has it."""
        return np.ndarray.sum(self._counting(), *args, **options)

    def mean(self, *args: Any, **options: Any) -> Any:
        """The mean; of truths their share."""
        return np.ndarray.mean(self._counting(), *args, **options)

    def _counting(self) -> TracedArray:
        parts = self.ravel().tolist()
        if not all(isinstance(x, Number) and x._kind is np.bool_ for x in parts):
            return self
        counts: TracedArray = traced_array([x._tracer.plain_again(x, np.int64) for x in parts]).reshape(self.shape)
        return counts

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What NumPy's functions give: without dimensions the object itself, and of truths a plain array."""
        plain = array.view(np.ndarray)
        if not plain.ndim:
            return plain[()]
        return plain.view(TracedArray) if plain.dtype == object else plain


def _told(at: Any) -> Any:
    """An index as NumPy takes it: of an array of stand-ins its plain numbers."""
    return np.array([x.item() for x in at.ravel()]).reshape(at.shape) if isinstance(at, TracedArray) else at


def traced_array(parts: Any) -> Any:
    """An array of such parts."""
    out = np.empty(len(parts), object)
    out[:] = parts
    return out.view(TracedArray)
