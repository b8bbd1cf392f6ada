"""An array among the arguments while a function is traced: stand-ins, with the dtype that it has for the function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import array as numpy_array  # which stays NumPy's own while a function is traced

from gradwalk import provenance
from gradwalk.compile.trace.asking import asked_by_insider
from gradwalk.compile.trace.kinds import BOOLS, WHOLE, is_narrow
from gradwalk.compile.trace.limits import Unfollowable
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.traced import Traced

__all__ = ["TracedArray", "array_of", "as_kind", "plain_array", "traced_array"]


class TracedArray(np.ndarray[Any, Any]):
    """An array of objects; whoever asks for its dtype, outside NumPy, is told that of the numbers they stand for.

    >>> trace(lambda x: traced_array([x, x * 2]).sum(), [3.0]).tape.rows
    2
    """

    holds_stand_ins = True
    unsure = False  # whether it is a copy here, and may be a view of another array for the function

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def dtype(self) -> Any:
        """The dtype of the plain function's array, which then has to be the same in every replay."""
        return np.dtype(object) if asked_by_insider() else self._dtype()

    def _dtype(self) -> Any:
        if not self.size or not is_plain(self):
            return np.dtype(object)
        return np.result_type(*{x._tracer.kind_asked(x) if isinstance(x, Number) else type(x) for x in parts_in(self)})

    def is_already(self, dtype: Any) -> bool:
        """Whether NumPy has nothing to convert for this dtype, so that it may give the array itself."""
        return dtype is None or (is_plain(self) and self._dtype() == np.dtype(dtype))

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(tuple(map(_as_index, at)) if isinstance(at, tuple) else _as_index(at))
        if isinstance(found, TracedArray) and not found.size and self.size:
            return np.empty(found.shape, self._dtype())  # which holds nothing that could come later
        return found.view(np.ndarray)[()] if isinstance(found, TracedArray) and not found.ndim else found

    # --- what is written to it -------------------------------------------------------------------------------------

    def __setitem__(self, at: Any, given: Any) -> None:
        if not asked_by_insider():
            at = tuple(map(_as_index, at)) if isinstance(at, tuple) else _as_index(at)
            given = _as_stored(self, given)
        np.ndarray.__setitem__(self, at, given)

    def fill(self, given: Any) -> None:
        """The same number everywhere."""
        np.ndarray.fill(self, _as_stored(self, given))

    def put(self, at: Any, given: Any, mode: Any = "raise") -> None:
        """Numbers at places in the flat array."""
        np.ndarray.put(self, at, _as_stored(self, given), mode)

    @property
    def flat(self) -> Any:
        """All numbers one after the other, to be read and written."""
        if asked_by_insider():
            return np.ndarray.flat.__get__(self)
        if not self.flags.c_contiguous:
            raise in_memory()
        return np.ndarray.reshape(self, -1)

    @flat.setter
    def flat(self, given: Any) -> None:
        np.ndarray.flat.__set__(self, _as_stored(self, given))  # type: ignore[attr-defined]

    # --- how it is shown, and how it lies in memory ------------------------------------------------------------------

    def __repr__(self) -> str:
        return repr(told(self)) if is_plain(self) else np.ndarray.__repr__(self)

    def __str__(self) -> str:
        return str(told(self)) if is_plain(self) else np.ndarray.__str__(self)

    def tobytes(self, *args: Any, **options: Any) -> bytes:
        """The numbers as bytes."""
        return told(self).tobytes(*args, **options) if is_plain(self) else np.ndarray.tobytes(self, *args, **options)

    __bytes__ = tobytes

    @property
    def itemsize(self) -> int:
        """The bytes of one number."""
        return 8 if asked_by_insider() else int(self._dtype().itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all."""
        return self.size * (8 if asked_by_insider() else int(self._dtype().itemsize))

    def ravel(self, order: Any = "C") -> Any:
        """All numbers in one row."""
        return _seen(np.ndarray.ravel(self, _known(order)), self)

    def flatten(self, order: Any = "C") -> Any:
        """All numbers in one row, as a copy."""
        return np.ndarray.flatten(self, _known(order))

    def reshape(self, *shape: Any, order: Any = "C", **options: Any) -> Any:
        """The numbers in another shape."""
        return _seen(np.ndarray.reshape(self, *shape, order=_known(order), **options), self)

    def __array_finalize__(self, made_of: Any) -> None:
        self.unsure = self.base is not None and getattr(made_of, "unsure", False)

    def setflags(self, *args: Any, **options: Any) -> None:
        """Whether it may be written to: for the function, nothing that a replay does."""
        if not asked_by_insider():
            raise in_memory()
        np.ndarray.setflags(self, *args, **options)

    # --- reductions ------------------------------------------------------------------------------------------------
    # NumPy adds up truths and narrow ints as int64, and narrow floats in an order of its own.

    def sum(self, *args: Any, **options: Any) -> Any:
        """The sum; of truths how many there are, as NumPy has it."""
        return self._reduced("sum", np.int64, args, options)

    def prod(self, *args: Any, **options: Any) -> Any:
        """The product."""
        return self._reduced("prod", np.int64, args, options)

    def cumsum(self, *args: Any, **options: Any) -> Any:
        """The sums of the first, of the first two, and so on."""
        return self._reduced("cumsum", np.int64, args, options)

    def cumprod(self, *args: Any, **options: Any) -> Any:
        """The products of the first, of the first two, and so on."""
        return self._reduced("cumprod", np.int64, args, options)

    def mean(self, *args: Any, **options: Any) -> Any:
        """The mean; of truths their share."""
        return self._reduced("mean", np.float64, args, options)

    def std(self, *args: Any, **options: Any) -> Any:
        """The standard deviation."""
        return self._reduced("std", np.float64, args, options)

    def var(self, *args: Any, **options: Any) -> Any:
        """The variance."""
        return self._reduced("var", np.float64, args, options)

    def _reduced(self, name: str, kind: Any, args: Any, options: Any) -> Any:
        kinds = kinds_in(self)
        if kinds and any(issubclass(one, np.inexact) and is_narrow(one) for one in kinds):
            return getattr(told(self), name)(*args, **options)
        whole = kinds and all(issubclass(one, (np.integer, *BOOLS)) for one in kinds)
        if whole and kind is np.float64:
            return getattr(np.ndarray, name)(as_kind(self, kind), *args, **options)
        return getattr(np.ndarray, name)(as_summed(self), *args, **options)

    # --- extremes and orders -----------------------------------------------------------------------------------------
    # Objects are put in order by `<`, of which nan knows nothing; NumPy passes it on, or puts it last.

    def max(self, *args: Any, **options: Any) -> Any:
        """The largest; nan if one of them is."""
        return self._extreme("max", args, options)

    def min(self, *args: Any, **options: Any) -> Any:
        """The smallest; nan if one of them is."""
        return self._extreme("min", args, options)

    def _extreme(self, name: str, args: Any, options: Any) -> Any:
        parts = parts_in(self)
        if args or any(x is not None for x in options.values()) or len(parts) < 2 or not are_wide(parts):
            return self._ordered(name, args, options)
        tracer = parts[0]._tracer
        return tracer.plain_again(tracer.many(name, parts), parts[0]._kind)

    def argmax(self, *args: Any, **options: Any) -> Any:
        """Where the largest is."""
        return self._ordered("argmax", args, options)

    def argmin(self, *args: Any, **options: Any) -> Any:
        """Where the smallest is."""
        return self._ordered("argmin", args, options)

    def argsort(self, *args: Any, **options: Any) -> Any:
        """Where the smallest is, the next larger one, and so on."""
        return self._ordered("argsort", args, options)

    def sort(self, *args: Any, **options: Any) -> None:
        """Put the numbers in order, in place."""
        if holds_nan(self):
            self[...] = np.sort(told(self), *args, **options)
        else:
            np.ndarray.sort(self, *args, **options)

    def _ordered(self, name: str, args: Any, options: Any) -> Any:
        if holds_nan(self):
            return getattr(told(self), name)(*args, **options)
        return getattr(np.ndarray, name)(self, *args, **options)

    def tolist(self) -> Any:
        """The numbers as Python has them, in lists."""
        parts = [_as_python(part) for part in parts_in(self)]
        return np.ndarray.tolist(traced_array(parts).reshape(self.shape))

    def item(self, *at: Any) -> Any:
        """One number as Python has it."""
        return _as_python(np.ndarray.item(self, *at))

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """The numbers rounded."""
        return np.round(self, decimals, out)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """The numbers as others: as float64 they stay what they are."""
        if self.is_already(dtype):
            return np.ndarray.astype(self, object, *args, **options)  # a copy, or itself where that is asked for
        if np.dtype(dtype) == np.float64 and kinds_in(self):
            return as_kind(self, np.float64)
        if np.dtype(dtype) != object and is_plain(self):
            return told(self).astype(dtype, *args, **options)
        return np.ndarray.astype(self, dtype, *args, **options)

    # --- functions of NumPy ------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """A function of NumPy's: on objects if it can, else on the plain numbers."""
        from gradwalk.compile.trace.array_functions import of_ufunc  # which knows this module

        return of_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """A function of NumPy's that is no ufunc: some look at the numbers, and are given them."""
        from gradwalk.compile.trace.array_functions import of_function  # which knows this module

        return of_function(self, function, types, args, kwargs, by_user=not asked_by_insider())

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """What NumPy's functions give: without dimensions the object itself, and of truths a plain array."""
        plain = array.view(np.ndarray)
        if not plain.ndim:
            return plain[()]
        return plain.view(TracedArray) if plain.dtype == object else plain


def in_memory() -> Unfollowable:
    """Why a function is run as it is that asks for more than numbers.

    >>> in_memory().remedy
    'ask for that before the call, and pass what comes of it'
    """
    return Unfollowable(
        "{function} asks how an array among its arguments lies in memory",
        "ask for that before the call, and pass what comes of it",
    )


def _seen(found: Any, array: Any) -> Any:
    """What another shape of an array is, with a note if it is a copy."""
    if isinstance(found, TracedArray) and _address(found) != _address(array):
        found.unsure = True
    return found


def be_sure(array: Any) -> None:
    """Refuse to write to what may be a view of another array or a copy of it.

    >>> be_sure(traced_array([1, 2]))
    """
    if getattr(array, "unsure", False):
        raise Unfollowable(
            "{function} writes to what reshape() or ravel() gave, which is a copy or not, as the array lies in memory",
            "write to a copy, as in X.flatten()",
        )


def _address(array: Any) -> int:
    return int(np.ndarray.__array_interface__.__get__(array)["data"][0])


def _known(order: Any) -> Any:
    """An order of numbers that does not depend on how they lie in memory."""
    if order in ("K", "A", "k", "a"):
        raise in_memory()
    return order


def _asked_of_memory(name: str) -> Any:
    own = getattr(np.ndarray, name)

    def get(self: Any) -> Any:
        """How it lies in memory, which stand-ins do in another way."""
        if not asked_by_insider():
            raise in_memory()
        return own.__get__(self)

    return property(get)


TracedArray.__name__ = "ndarray"  # as errors name it
for _name in ("flags", "strides", "base", "data", "ctypes"):
    setattr(TracedArray, _name, _asked_of_memory(_name))


def are_wide(parts: list[Any]) -> bool:
    """Whether all are stand-ins for floats, or all for ints, as wide as a trace computes."""
    kinds = {part._kind if isinstance(part, Number) else None for part in parts}
    return len(kinds) == 1 and kinds <= {float, np.float64, int, np.int64}


def as_summed(x: Any) -> Any:
    """Truths and narrow ints as the wide ones that NumPy adds up and multiplies."""
    kinds = kinds_in(x) if isinstance(x, TracedArray) else set()
    if kinds <= {np.int64} or not all(issubclass(kind, (np.integer, *BOOLS)) for kind in kinds):
        return x
    unsigned = all(issubclass(kind, np.unsignedinteger) for kind in kinds)
    return as_kind(x, np.uint64 if unsigned else np.int64)


def holds_nan(x: TracedArray) -> bool:
    """Whether one of the plain numbers is nan, which then has to be so in every replay."""
    if not is_plain(x):
        return False
    return any(bool(part != part) for part in parts_in(x) if not issubclass(kind_of(part), WHOLE))


def kinds_in(x: TracedArray) -> set[Any]:
    """The types of plain numbers; none if there are others."""
    return set(map(kind_of, parts_in(x))) if is_plain(x) else set()


def kind_of(part: Any) -> Any:
    """The type of a plain number."""
    return part._kind if isinstance(part, Number) else type(part)


def _as_python(part: Any) -> Any:
    """A number of NumPy's as one of Python's, which is written in another way, and cannot be divided by 0."""
    if isinstance(part, Number) and issubclass(part._kind, np.generic):
        return part._tracer.plain_again(part, type(part._kind(0).item()))
    return part.item() if isinstance(part, np.generic) else part


def as_kind(x: TracedArray, kind: Any) -> TracedArray:
    """The same numbers as numbers of this type, where none of them is another then.

    >>> as_kind(traced_array([1, 2]), np.float64)
    array([1., 2.])
    """
    parts = [part._tracer.plain_again(part, kind) if isinstance(part, Number) else kind(part) for part in parts_in(x)]
    out: TracedArray = traced_array(parts).reshape(x.shape)
    return out


def _as_stored(array: TracedArray, given: Any) -> Any:
    """What becomes of numbers that are written to an array: they take its dtype, which cuts digits off perhaps."""
    be_sure(array)
    if not kinds_in(array):
        return given
    dtype = array._dtype()
    given = array_of(given) if isinstance(given, (list, tuple)) and _holds_number(given) else given
    if isinstance(given, (Number, TracedArray)):
        found = given if isinstance(given, TracedArray) else traced_array([given]).reshape(())
        own = np.result_type(*kinds_in(found)) if kinds_in(found) else np.dtype(object)
        if own == dtype:
            return given
        if dtype == np.float64 and np.can_cast(own, dtype, "safe"):
            found = as_kind(found, np.float64)
            return found if found.ndim else found.view(np.ndarray)[()]
    elif not _holds_traced(given):
        made = numpy_array(given)
        if not made.ndim and made.dtype != object:
            return dtype.type(given)  # nan is no int, which raises
        if made.dtype != object or all(isinstance(x, (int, float, np.generic)) for x in made.ravel()):
            return traced_array(list(made.ravel().astype(dtype))).reshape(made.shape).view(np.ndarray)
    raise of_another_type(dtype)


def as_array_stored(array: TracedArray, given: Any) -> Any:
    """The same as an array, in which functions of NumPy's leave numbers what they are."""
    found = _as_stored(array, given)
    return found if isinstance(found, np.ndarray) else traced_array([found]).view(np.ndarray)


def of_another_type(dtype: Any) -> Unfollowable:
    """Why a function is run as it is that changes the dtype of an array by writing to it."""
    return Unfollowable(
        f"{{function}} writes to an array of {dtype} what may be of another type",
        "make the array one of that type first, as in X.astype(float)",
    )


def _holds_traced(x: Any) -> bool:
    """Whether something is, or holds, what is computed by the trace."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(map(_holds_traced, x.ravel().tolist()))
    return any(map(_holds_traced, x)) if isinstance(x, (list, tuple)) else isinstance(x, Traced)


def parts_in(x: TracedArray) -> list[Any]:
    """The stand-ins and numbers, one after the other."""
    found: list[Any] = x.ravel().view(np.ndarray).tolist()
    return found


def as_objects(x: Any) -> Any:
    """An array of stand-ins as one of NumPy's own."""
    return x.view(np.ndarray) if isinstance(x, TracedArray) else x


def is_plain(x: TracedArray) -> bool:
    """Whether all of it is plain numbers, and what stands for such."""
    return all(isinstance(part, (Number, int, float, np.generic)) for part in parts_in(x))


def told(x: Any) -> Any:
    """The plain numbers of an array of stand-ins, of the dtype that it has for the function."""
    if not isinstance(x, TracedArray):
        return x
    parts = [part._told_with_its_type() if isinstance(part, Number) else part for part in parts_in(x)]
    return numpy_array(parts).reshape(x.shape)


def _as_index(part: Any) -> Any:
    """A part of an index: of numbers that come later, in a list or an array, those of the call at hand."""
    return told(array_of(part) if isinstance(part, list) and _holds_number(part) else part)


def traced_array(parts: Any) -> Any:
    """An array of such parts."""
    out = np.empty(len(parts), object)
    out[:] = parts
    return out.view(TracedArray)


provenance.pass_over(np)


def plain_array(given: Any, dtype: Any = None) -> Any:
    """What `np.array` gives, also while it knows stand-ins: for who is loaded only then.

    >>> plain_array([1.0, 2.0])
    array([1., 2.])
    """
    return numpy_array(given, dtype)


def array_of(given: Any, dtype: Any = None) -> Any:
    """What `np.array` makes of stand-ins for plain numbers, in lists or in an array; None if there are no such.

    >>> trace(lambda x: array_of([x, 2]).sum() * 3.0, [1.5]).tape.rows
    2
    """
    if not isinstance(given, TracedArray) and not _holds_number(given):
        return None
    made: TracedArray = numpy_array(as_objects(given), dtype=object).view(TracedArray)
    if not is_plain(made):
        return None
    kind = np.result_type(*kinds_in(made)) if dtype is None else np.dtype(dtype)
    if kind.type in (np.float64, np.int64, np.bool_) and (dtype is None or kind.type is np.float64):
        found = made if kind.type is np.bool_ else as_kind(made, kind.type)
        return found if made.ndim else found.view(np.ndarray)[()]
    return numpy_array(told(made), dtype=kind)


def _holds_number(x: Any) -> bool:
    """Whether a list, or the first of lists in it, holds a stand-in for a plain number."""
    if isinstance(x, TracedArray):
        return any(isinstance(part, Number) for part in parts_in(x))
    if not isinstance(x, (list, tuple)):
        return isinstance(x, Number)
    return any(isinstance(part, Number) for part in x) or any(
        _holds_number(part) for part in x if isinstance(part, (list, tuple, TracedArray))
    )
