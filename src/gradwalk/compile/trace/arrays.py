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
        if not self.size or not _is_plain(self):
            return np.dtype(object)
        return np.result_type(*{x._tracer.kind_asked(x) for x in self.ravel().tolist()})

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

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """A function of NumPy's: on objects if it can, else on the plain numbers."""
        out = options.pop("out", ())
        if out:
            options["out"] = tuple([_as_objects(x) for x in out])
        try:
            found = getattr(ufunc, method)(*map(_as_objects, inputs), **options)
        except TypeError:
            plain = [_told(x) if isinstance(x, TracedArray) and _is_plain(x) else x for x in inputs]
            if out or any(isinstance(x, TracedArray) for x in plain):
                raise
            return getattr(ufunc, method)(*plain, **options)
        if len(out) == 1:
            return out[0]
        return found.view(TracedArray) if isinstance(found, np.ndarray) and found.dtype == object else found

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What NumPy's functions give: without dimensions the object itself, and of truths a plain array."""
        plain = array.view(np.ndarray)
        if not plain.ndim:
            return plain[()]
        return plain.view(TracedArray) if plain.dtype == object else plain


def _as_objects(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, TracedArray) else x


def _is_plain(x: TracedArray) -> bool:
    return all(isinstance(part, Number) for part in x.ravel().tolist())


def _told(x: Any) -> Any:
    """The plain numbers of an array of stand-ins, of the dtype that it has for the function."""
    if not isinstance(x, TracedArray):
        return x
    parts = [part._told_with_its_type() if isinstance(part, Number) else part for part in x.ravel().tolist()]
    return np.array(parts).reshape(x.shape)


def traced_array(parts: Any) -> Any:
    """An array of such parts."""
    out = np.empty(len(parts), object)
    out[:] = parts
    return out.view(TracedArray)
