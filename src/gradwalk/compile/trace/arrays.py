"""An array among the arguments while a function is traced: stand-ins, with the dtype that it has for the function."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import array as numpy_array  # which stays NumPy's own while a function is traced

from gradwalk import ops
from gradwalk.compile.trace.limits import Unfollowable
from gradwalk.compile.trace.narrow import as_single, is_narrow, is_narrow_block
from gradwalk.compile.trace.plain import BOOLS, EXACT, LOGICAL, WHOLE, Number, as_truth, asked_by_insider, kind_after
from gradwalk.compile.trace.traced import Traced

__all__ = ["TracedArray", "array_of", "plain_array", "traced_array"]


class TracedArray(np.ndarray[Any, Any]):
    """An array of objects; whoever asks for its dtype, outside NumPy, is told that of the numbers they stand for.

    >>> from gradwalk.compile.trace.tracer import trace
    >>> trace(lambda x: traced_array([x, x * 2]).sum(), [3.0]).tape.rows
    2
    """

    holds_stand_ins = True

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ndarray

    @property
    def dtype(self) -> Any:
        """The dtype of the plain function's array, which then has to be the same in every replay."""
        return np.dtype(object) if asked_by_insider() else self._dtype()

    def _dtype(self) -> Any:
        if not self.size or not _is_plain(self):
            return np.dtype(object)
        return np.result_type(*{x._tracer.kind_asked(x) if isinstance(x, Number) else type(x) for x in _parts(self)})

    def is_already(self, dtype: Any) -> bool:
        """Whether NumPy has nothing to convert for this dtype, so that it may give the array itself."""
        return dtype is None or (_is_plain(self) and self._dtype() == np.dtype(dtype))

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(tuple(map(_as_index, at)) if isinstance(at, tuple) else _as_index(at))
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
        return repr(_told(self)) if _is_plain(self) else np.ndarray.__repr__(self)

    def __str__(self) -> str:
        return str(_told(self)) if _is_plain(self) else np.ndarray.__str__(self)

    def tobytes(self, *args: Any, **options: Any) -> bytes:
        """The numbers as bytes."""
        return _told(self).tobytes(*args, **options) if _is_plain(self) else np.ndarray.tobytes(self, *args, **options)

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
        return np.ndarray.ravel(self, _known(order))

    def flatten(self, order: Any = "C") -> Any:
        """All numbers in one row, as a copy."""
        return np.ndarray.flatten(self, _known(order))

    def reshape(self, *shape: Any, order: Any = "C", **options: Any) -> Any:
        """The numbers in another shape."""
        return np.ndarray.reshape(self, *shape, order=_known(order), **options)

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
        kinds = _kinds(self)
        if kinds and any(issubclass(one, np.inexact) and is_narrow(one) for one in kinds):
            return getattr(_told(self), name)(*args, **options)
        whole = kinds and all(issubclass(one, (np.integer, *BOOLS)) for one in kinds)
        if whole and kind is np.float64:
            return getattr(np.ndarray, name)(_as_kind(self, kind), *args, **options)
        return getattr(np.ndarray, name)(_as_summed(self), *args, **options)

    # --- extremes and orders -----------------------------------------------------------------------------------------
    # Objects are put in order by `<`, of which nan knows nothing; NumPy passes it on, or puts it last.

    def max(self, *args: Any, **options: Any) -> Any:
        """The largest; nan if one of them is."""
        return self._extreme("max", args, options)

    def min(self, *args: Any, **options: Any) -> Any:
        """The smallest; nan if one of them is."""
        return self._extreme("min", args, options)

    def _extreme(self, name: str, args: Any, options: Any) -> Any:
        parts = _parts(self)
        if args or any(x is not None for x in options.values()) or len(parts) < 2 or not _is_wide(parts):
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
        if _holds_nan(self):
            self[...] = np.sort(_told(self), *args, **options)
        else:
            np.ndarray.sort(self, *args, **options)

    def _ordered(self, name: str, args: Any, options: Any) -> Any:
        if _holds_nan(self):
            return getattr(_told(self), name)(*args, **options)
        return getattr(np.ndarray, name)(self, *args, **options)

    def tolist(self) -> Any:
        """The numbers as Python has them, in lists."""
        parts = [_as_python(part) for part in _parts(self)]
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
        if np.dtype(dtype) == np.float64 and _kinds(self):
            return _as_kind(self, np.float64)
        if np.dtype(dtype) != object and _is_plain(self):
            return _told(self).astype(dtype, *args, **options)
        return np.ndarray.astype(self, dtype, *args, **options)

    # --- functions of NumPy ------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """A function of NumPy's: on objects if it can, else on the plain numbers."""
        if any(getattr(type(x), "many", False) for x in inputs):
            return NotImplemented  # a tensor among them knows what to do
        out = options.pop("out", ())
        stored = [x._dtype() if isinstance(x, TracedArray) and _kinds(x) else None for x in out]
        if method == "at" and isinstance(inputs[0], TracedArray) and not _kinds(inputs[0]) <= {float, np.float64}:
            raise _of_another_type(np.result_type(*_kinds(inputs[0])))
        if out:
            options["out"] = tuple([_as_objects(x) for x in out])
        if ufunc.__name__ in EXTREMES and method == "__call__" and not out and not options:
            found = _extremes(ufunc, inputs)
            if found is not None:
                return found
        inputs = (
            tuple(map(_as_summed, inputs)) if method in SUMMING and ufunc in (np.add, np.multiply) else _widened(inputs)
        )
        inputs = tuple(map(_as_truths, inputs)) if ufunc in LOGICAL else inputs
        inputs = _narrowed(inputs) if ufunc.__name__ in COMPARING and method == "__call__" else inputs
        traced = [x for x in inputs if isinstance(x, TracedArray)]
        try:
            open_ = all(_is_open(x, ufunc) for x in traced) and not any(map(is_narrow_block, inputs))
            if not out and not open_:
                raise TypeError("NumPy computes this in a way of its own")
            with np.errstate(all="ignore"):  # of stand-ins it warns of what they stand for
                found = getattr(ufunc, method)(*map(_as_objects, inputs), **options)
        except (TypeError, AttributeError, ValueError):
            plain = [_told(x) if isinstance(x, TracedArray) and _is_plain(x) else x for x in inputs]
            plain = [x._tracer.told(x) if isinstance(x, Number) else x for x in plain]
            if out or any(isinstance(x, TracedArray) for x in plain):
                raise
            return getattr(ufunc, method)(*plain, **options)
        for x, dtype in zip(out, stored, strict=True):
            if dtype is not None and x._dtype() != dtype:
                raise _of_another_type(dtype)  # as Y *= 0.5 would, of ints
        if len(out) == 1:
            return out[0]
        if ufunc in ROUNDING and isinstance(found, np.ndarray) and _is_plain(traced[0]):  # of objects these make ints
            kind: Any = np.result_type(*_kinds(traced[0])).type
            return _as_kind(found.view(TracedArray), kind_after(ufunc, kind))
        return found.view(TracedArray) if isinstance(found, np.ndarray) and found.dtype == object else found

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """A function of NumPy's that is no ufunc: some look at the numbers, and are given them."""
        traced = _traced_in((args, kwargs))
        if function.__name__ in ("shares_memory", "may_share_memory"):
            raise in_memory()
        module = getattr(function, "__module__", "")
        looks = function.__name__ in LOOKING or "fft" in module or ("linalg" in module and function.__name__ != "norm")
        kinds = {kind for x in traced for kind in _kinds(x)} if function.__name__ in PRODUCTS else set()
        narrow = any(is_narrow(kind) or kind in BOOLS for kind in kinds)
        if (looks or narrow) and all(map(_is_plain, traced)):
            return _on_the_numbers(function, args, kwargs)
        if function.__name__ in WRITING and isinstance(args[0], TracedArray) and not asked_by_insider():
            name, at = WRITING[function.__name__]
            args = tuple([_as_array_stored(args[0], x) if i == at else x for i, x in enumerate(args)])
            kwargs = {key: _as_array_stored(args[0], x) if key == name else x for key, x in kwargs.items()}
        if function is np.where:
            args = (*args[:1], *_narrowed(args[1:]))
        others = [kind for kind in types if not issubclass(kind, Number)]  # which this is called for
        found = _taken_in(super().__array_function__(function, others, args, kwargs))
        if function is np.empty_like and isinstance(found, TracedArray):
            np.ndarray.fill(found, 0)  # None has no type
        if (
            args
            and function.__name__ in FILLING
            and all(isinstance(x, TracedArray) and _kinds(x) for x in (args[0], found))
        ):
            return _as_kind(found, np.result_type(*_kinds(args[0])).type)
        if function.__name__ in LIKE and len(args) == LIKE[function.__name__] and "dtype" not in kwargs:
            return _of_dtype_of(args[0], found)
        return found

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

#: Functions that need the numbers themselves.
LOOKING = frozenset((
    "array2string", "array_repr", "array_str",
    "around", "bincount", "corrcoef", "cov", "digitize", "fix", "gradient", "histogram", "histogram2d",
    "histogram_bin_edges", "interp", "lexsort", "median", "min_scalar_type", "nan_to_num", "nanmedian",
    "nanpercentile", "nanquantile", "nanstd", "nanvar", "partition", "argpartition", "percentile", "piecewise",
    "polyfit", "ptp", "quantile", "round", "searchsorted", "sinc", "unique", "unwrap",
))  # fmt: skip
#: Functions that add products up, in an order and of types of their own.
PRODUCTS = frozenset((
    "dot", "inner", "vdot", "outer", "einsum", "tensordot", "convolve", "correlate", "trace", "kron", "norm",
))  # fmt: skip
OPEN = EXACT | {
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    np.invert,
}  # fmt: skip
#: Functions that are made of larger and smaller numbers.
EXTREMES = {"maximum": (ops.maximum,), "minimum": (ops.minimum,), "clip": (ops.maximum, ops.minimum)}
#: Functions that make arrays of the dtype of another, of objects with ints in them; and how many arguments they take.
LIKE = {"empty_like": 1, "zeros_like": 1, "ones_like": 1, "full_like": 2}
#: Functions that give numbers of their first argument among zeros, which are ints in an array of objects.
FILLING = frozenset(("diag", "diagflat", "tril", "triu"))
#: Functions that write to their first argument, or to a copy of it: what they write is that of this name and position.
WRITING = {
    "copyto": ("src", 1), "place": ("vals", 2), "putmask": ("values", 2), "put_along_axis": ("values", 2),
    "fill_diagonal": ("val", 1), "insert": ("values", 2),
}  # fmt: skip
#: How a function of two numbers is called that goes along an array.
SUMMING = frozenset(("reduce", "accumulate", "reduceat"))
ROUNDING = frozenset((np.sign, np.floor, np.ceil, np.trunc))
#: Python's numbers, which leave an array the precision that it has.
EXAMPLES: dict[Any, Any] = {float: 0.0, int: 0, bool: False}
#: Functions that pass nan on, where objects are compared.
COMPARING = frozenset(("maximum", "minimum", "fmax", "fmin", "clip"))


def _is_open(x: TracedArray, ufunc: Any) -> bool:
    """Whether a function gives the same on stand-ins, one by one, as on the numbers of an array."""
    if ufunc.__name__ in COMPARING:
        return not _holds_nan(x)
    return ufunc in OPEN or not any(is_narrow(kind) or kind is np.bool_ for kind in _kinds(x))


def _is_wide(parts: list[Any]) -> bool:
    """Whether all are stand-ins for floats, or all for ints, as wide as a trace computes."""
    kinds = {part._kind if isinstance(part, Number) else None for part in parts}
    return len(kinds) == 1 and kinds <= {float, np.float64, int, np.int64}


def _extremes(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """Larger or smaller numbers, one by one, as rows of the trace that stay open; None if that cannot be."""
    numbers = [x for x in inputs if isinstance(x, (TracedArray, Number))]
    parts = [part for x in numbers for part in (_parts(x) if isinstance(x, TracedArray) else [x])]
    rest = [x for x in inputs if not isinstance(x, (TracedArray, Number))]
    if not parts or not _is_wide(parts) or not all(isinstance(x, (float, int, np.float64, np.int64)) for x in rest):
        return None
    tracer = parts[0]._tracer

    def choose(x: Any, *others: Any) -> Any:
        for op, y in zip(EXTREMES[ufunc.__name__], others, strict=True):
            kind = kind_after(np.maximum, tracer.kind_of(x), tracer.kind_of(y))
            x = tracer.plain_again(tracer.apply(op, (x, y)), kind)
        return x

    found = np.frompyfunc(choose, len(inputs), 1)(*map(_as_objects, inputs))
    return found.view(TracedArray) if isinstance(found, np.ndarray) else found


def _taken_in(found: Any) -> Any:
    """What a function of NumPy's gives, arrays of objects with stand-ins as arrays of these, of one type."""
    if isinstance(found, (list, tuple)):
        return type(found)(map(_taken_in, found)) if type(found) in (list, tuple) else found
    if type(found) is not np.ndarray or found.dtype != object:
        return found
    made = found.view(TracedArray)
    kinds = _kinds(made)
    kind = np.result_type(*kinds).type if len(kinds) > 1 or (kinds and not found.ndim) else None
    made = _as_kind(made, kind) if kind in (np.float64, np.int64) else made
    return made if found.ndim else made.view(np.ndarray)[()]


def _of_dtype_of(other: Any, made: Any) -> Any:
    """An array as one of the dtype of another; where that cuts digits off, of the numbers of the call at hand."""
    kinds = _kinds(other) if isinstance(other, TracedArray) else ()
    if not kinds:
        return made
    kind = np.result_type(*kinds).type
    if kind is not np.float64 and any(isinstance(part, Number) for part in _parts(made)):
        return _told(made).astype(kind)
    return _as_kind(made, kind)


def called_on_numbers(function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A function of NumPy's that is given numbers, and arrays perhaps: as if they all were arrays of stand-ins."""
    return TracedArray.__array_function__(NO_NUMBERS, function, types, args, kwargs)


def beside_arrays(ufunc: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function of NumPy's of arrays that are known and of numbers, which beside these are numbers of NumPy's.

    Of anything else, such as lists, it is not for this.

    >>> from gradwalk.compile.trace.tracer import trace
    >>> trace(lambda x: len((np.array([1, 2]) * x).dtype.name) * x, [1.5]).tape.rows
    3
    """
    if not all(isinstance(x, (np.ndarray, Number, int, float, np.generic)) for x in inputs):
        return NotImplemented
    kind = np.result_type(*map(_example, inputs)).type
    numbers = [traced_array([x]).reshape(()) if isinstance(x, Number) else x for x in inputs]
    if kind in (np.float64, np.int64):
        numbers = [_as_kind(x, kind) if isinstance(x, TracedArray) else x for x in numbers]
    first = next(x for x in numbers if isinstance(x, TracedArray))
    return TracedArray.__array_ufunc__(first, ufunc, "__call__", *numbers, **options)


def _as_truths(x: Any) -> Any:
    """What is not 0: of objects, `logical_and` and the like give one of the two."""
    if isinstance(x, TracedArray):
        return x if _kinds(x) <= {bool, np.bool_} else x != 0
    return as_truth(x)


def _as_summed(x: Any) -> Any:
    """Truths and narrow ints as the wide ones that NumPy adds up and multiplies."""
    kinds = _kinds(x) if isinstance(x, TracedArray) else set()
    if kinds <= {np.int64} or not all(issubclass(kind, (np.integer, *BOOLS)) for kind in kinds):
        return x
    unsigned = all(issubclass(kind, np.unsignedinteger) for kind in kinds)
    return _as_kind(x, np.uint64 if unsigned else np.int64)


def _widened(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same, with narrow numbers as wide ones where they stand beside an array of these."""
    wide = [x.dtype.type for x in inputs if type(x) is np.ndarray and x.dtype.kind in "iuf" and not is_narrow_block(x)]
    if np.float64 not in wide:
        return inputs
    return tuple(
        _as_kind(x, np.float64) if isinstance(x, TracedArray) and any(map(is_narrow, _kinds(x))) else x for x in inputs
    )


def _narrowed(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same, with Python's numbers as narrow ones where they are chosen from beside an array of these."""
    arrays = [x for x in given if isinstance(x, TracedArray)]
    if not any(is_narrow(kind) for x in arrays for kind in _kinds(x)) or not all(map(_kinds, arrays)):
        return given
    if not all(isinstance(x, (np.ndarray, Number, int, float, np.generic)) for x in given):
        return given
    examples = [np.result_type(*_kinds(x)) if isinstance(x, TracedArray) else _example(x) for x in given]
    kind = np.result_type(*examples).type
    if not is_narrow(kind):
        return given
    return tuple(x if isinstance(x, np.ndarray) or _kind(x) not in EXAMPLES else _as_narrow(x, kind) for x in given)


def _as_narrow(x: Any, kind: Any) -> Any:
    """One of Python's numbers as a narrow one, in an array without dims: NumPy makes objects of others of itself."""
    if not isinstance(x, Number):
        x = kind(x)
    else:
        x = as_single(x._tracer, x) if kind is np.float32 else kind(x._told_with_its_type())
    return traced_array([x]).reshape(())


def _example(x: Any) -> Any:
    return x.dtype if isinstance(x, np.ndarray) else EXAMPLES.get(_kind(x), _kind(x))


def _holds_nan(x: TracedArray) -> bool:
    """Whether one of the plain numbers is nan, which then has to be so in every replay."""
    if not _is_plain(x):
        return False
    return any(bool(part != part) for part in _parts(x) if not issubclass(_kind(part), WHOLE))


def _kinds(x: TracedArray) -> set[Any]:
    """The types of plain numbers; none if there are others."""
    return set(map(_kind, _parts(x))) if _is_plain(x) else set()


def _kind(part: Any) -> Any:
    return part._kind if isinstance(part, Number) else type(part)


def _as_python(part: Any) -> Any:
    """A number of NumPy's as one of Python's, which is written in another way, and cannot be divided by 0."""
    if isinstance(part, Number) and issubclass(part._kind, np.generic):
        return part._tracer.plain_again(part, type(part._kind(0).item()))
    return part.item() if isinstance(part, np.generic) else part


def _as_kind(x: TracedArray, kind: Any) -> TracedArray:
    parts = [part._tracer.plain_again(part, kind) if isinstance(part, Number) else kind(part) for part in _parts(x)]
    out: TracedArray = traced_array(parts).reshape(x.shape)
    return out


def _as_stored(array: TracedArray, given: Any) -> Any:
    """What becomes of numbers that are written to an array: they take its dtype, which cuts digits off perhaps."""
    if not _kinds(array):
        return given
    dtype = array._dtype()
    given = array_of(given) if isinstance(given, (list, tuple)) and _holds_number(given) else given
    if isinstance(given, (Number, TracedArray)):
        found = given if isinstance(given, TracedArray) else traced_array([given]).reshape(())
        own = np.result_type(*_kinds(found)) if _kinds(found) else np.dtype(object)
        if own == dtype:
            return given
        if dtype == np.float64 and np.can_cast(own, dtype, "safe"):
            found = _as_kind(found, np.float64)
            return found if found.ndim else found.view(np.ndarray)[()]
    elif not _holds_traced(given):
        made = numpy_array(given)
        if not made.ndim and made.dtype != object:
            return dtype.type(given)  # nan is no int, which raises
        if made.dtype != object or all(isinstance(x, (int, float, np.generic)) for x in made.ravel()):
            return traced_array(list(made.ravel().astype(dtype))).reshape(made.shape).view(np.ndarray)
    raise _of_another_type(dtype)


def _as_array_stored(array: TracedArray, given: Any) -> Any:
    """The same as an array, in which functions of NumPy's leave numbers what they are."""
    found = _as_stored(array, given)
    return found if isinstance(found, np.ndarray) else traced_array([found]).view(np.ndarray)


def _of_another_type(dtype: Any) -> Unfollowable:
    return Unfollowable(
        f"{{function}} writes to an array of {dtype} what may be of another type",
        "make the array one of that type first, as in X.astype(float)",
    )


def _holds_traced(x: Any) -> bool:
    """Whether something is, or holds, what is computed by the trace."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(map(_holds_traced, x.ravel().tolist()))
    return any(map(_holds_traced, x)) if isinstance(x, (list, tuple)) else isinstance(x, Traced)


def _traced_in(x: Any) -> list[TracedArray]:
    if isinstance(x, TracedArray):
        return [x]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    return [found for part in parts for found in _traced_in(part)]


def _on_the_numbers(function: Any, args: Any, kwargs: Any) -> Any:
    """What a function gives for the plain numbers; what it writes into one of its arrays is written into ours."""
    made: list[tuple[TracedArray, Any, Any]] = []
    found = function(*_all_told(args, made), **_all_told(kwargs, made))
    for ours, numbers, before in made:
        if numbers.tobytes() != before.tobytes():
            ours[...] = numbers
        if found is numbers:
            return ours
    return found


def _all_told(x: Any, made: list[tuple[TracedArray, Any, Any]]) -> Any:
    """The same with plain numbers for all stand-ins; arrays of them are put down, with a copy."""
    if isinstance(x, TracedArray):
        numbers = _told(x)
        made.append((x, numbers, numbers.copy()))
        return numbers
    if isinstance(x, Number):
        return x._told_with_its_type()
    if isinstance(x, dict):
        return {name: _all_told(part, made) for name, part in x.items()}
    return type(x)([_all_told(part, made) for part in x]) if type(x) in (list, tuple) else x


def _parts(x: TracedArray) -> list[Any]:
    found: list[Any] = x.ravel().view(np.ndarray).tolist()
    return found


def _as_objects(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, TracedArray) else x


def _is_plain(x: TracedArray) -> bool:
    return all(isinstance(part, (Number, int, float, np.generic)) for part in _parts(x))


def _told(x: Any) -> Any:
    """The plain numbers of an array of stand-ins, of the dtype that it has for the function."""
    if not isinstance(x, TracedArray):
        return x
    parts = [part._told_with_its_type() if isinstance(part, Number) else part for part in _parts(x)]
    return numpy_array(parts).reshape(x.shape)


def _as_index(part: Any) -> Any:
    """A part of an index: of numbers that come later, in a list or an array, those of the call at hand."""
    return _told(array_of(part) if isinstance(part, list) and _holds_number(part) else part)


def traced_array(parts: Any) -> Any:
    """An array of such parts."""
    out = np.empty(len(parts), object)
    out[:] = parts
    return out.view(TracedArray)


NO_NUMBERS = traced_array([])


def plain_array(given: Any, dtype: Any = None) -> Any:
    """What `np.array` gives, also while it knows stand-ins: for who is loaded only then.

    >>> plain_array([1.0, 2.0])
    array([1., 2.])
    """
    return numpy_array(given, dtype)


def array_of(given: Any, dtype: Any = None) -> Any:
    """What `np.array` makes of stand-ins for plain numbers, in lists or in an array; None if there are no such.

    >>> from gradwalk.compile.trace.tracer import trace
    >>> trace(lambda x: array_of([x, 2]).sum() * 3.0, [1.5]).tape.rows
    2
    """
    if not isinstance(given, TracedArray) and not _holds_number(given):
        return None
    made: TracedArray = numpy_array(_as_objects(given), dtype=object).view(TracedArray)
    if not _is_plain(made):
        return None
    kind = np.result_type(*_kinds(made)) if dtype is None else np.dtype(dtype)
    if kind.type in (np.float64, np.int64, np.bool_) and (dtype is None or kind.type is np.float64):
        found = made if kind.type is np.bool_ else _as_kind(made, kind.type)
        return found if made.ndim else found.view(np.ndarray)[()]
    return numpy_array(_told(made), dtype=kind)


def _holds_number(x: Any) -> bool:
    """Whether a list, or the first of lists in it, holds a stand-in for a plain number."""
    if isinstance(x, TracedArray):
        return any(isinstance(part, Number) for part in _parts(x))
    if not isinstance(x, (list, tuple)):
        return isinstance(x, Number)
    return any(isinstance(part, Number) for part in x) or any(
        _holds_number(part) for part in x if isinstance(part, (list, tuple, TracedArray))
    )
