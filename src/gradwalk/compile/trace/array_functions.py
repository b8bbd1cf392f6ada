"""What NumPy's functions do with arrays of stand-ins: as with objects where that is the same, else on the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradwalk import ops
from gradwalk.compile.trace.arrays import (
    TracedArray,
    are_wide,
    array_of,
    as_array_stored,
    as_kind,
    as_objects,
    as_summed,
    be_sure,
    holds_nan,
    in_memory,
    is_plain,
    kind_of,
    kinds_in,
    of_another_type,
    parts_in,
    plain_array,
    told,
    traced_array,
)
from gradwalk.compile.trace.kinds import BOOLS, COMPARING, EXACT, LOGICAL, is_narrow, is_narrow_block, kind_after
from gradwalk.compile.trace.narrow import as_single
from gradwalk.compile.trace.plain import Number, as_truth, not_raising

__all__: list[str] = []

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
    "polyval", "dot", "inner", "vdot", "outer", "einsum", "tensordot", "convolve", "correlate", "trace", "kron", "norm",
))  # fmt: skip
OPEN = EXACT | {
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    np.invert,
}  # fmt: skip
COMPARISONS = frozenset((np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal))
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


def of_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a ufunc gives, one of whose operands or results is an array of stand-ins."""
    if any(getattr(type(x), "many", False) for x in inputs):
        return NotImplemented  # a tensor among them knows what to do
    not_raising()
    inputs = tuple([_of_list(x) if isinstance(x, (list, tuple)) else x for x in inputs])
    out = options.pop("out", ())
    for x in out:
        be_sure(x)
    stored = [x._dtype() if isinstance(x, TracedArray) and kinds_in(x) else None for x in out]
    if method == "at" and isinstance(inputs[0], TracedArray) and not kinds_in(inputs[0]) <= {float, np.float64}:
        raise of_another_type(np.result_type(*kinds_in(inputs[0])))
    if out:
        options["out"] = tuple([as_objects(x) for x in out])
    if ufunc.__name__ in EXTREMES and method == "__call__" and not out and not options:
        found = _extremes(ufunc, inputs)
        if found is not None:
            return found
    inputs = tuple(map(as_summed, inputs)) if method in SUMMING and ufunc in (np.add, np.multiply) else _widened(inputs)
    inputs = tuple(map(_as_truths, inputs)) if ufunc in LOGICAL else inputs
    inputs = _narrowed(inputs) if ufunc.__name__ in COMPARING and method == "__call__" else inputs
    traced = [x for x in inputs if isinstance(x, TracedArray)]
    masks = ufunc in COMPARISONS and method == "__call__" and not out and any(map(_is_of_samples, traced))
    if masks:  # which no sample decides for the others: the outcomes stay open
        options["dtype"] = object
    try:
        open_ = all(_is_open(x, ufunc) for x in traced) and not any(map(is_narrow_block, inputs))
        if not out and not open_:
            raise TypeError("NumPy computes this in a way of its own")
        with np.errstate(all="ignore"):  # of stand-ins it warns of what they stand for
            found = getattr(ufunc, method)(*map(as_objects, inputs), **options)
    except (TypeError, AttributeError, ValueError):
        plain = [told(x) if isinstance(x, TracedArray) and is_plain(x) else x for x in inputs]
        plain = [x._tracer.told(x) if isinstance(x, Number) else x for x in plain]
        if out or any(isinstance(x, TracedArray) for x in plain):
            raise
        return getattr(ufunc, method)(*plain, **options)
    for x, dtype in zip(out, stored, strict=True):
        if dtype is not None and x._dtype() != dtype:
            raise of_another_type(dtype)  # as Y *= 0.5 would, of ints
    if len(out) == 1:
        return out[0]
    for part in found.ravel().tolist() if masks and isinstance(found, np.ndarray) else ():
        if isinstance(part, Number):
            part._kind = np.bool_
    if ufunc in ROUNDING and isinstance(found, np.ndarray) and is_plain(traced[0]):  # of objects these make ints
        kind: Any = np.result_type(*kinds_in(traced[0])).type
        return as_kind(found.view(TracedArray), kind_after(ufunc, kind))
    return found.view(TracedArray) if isinstance(found, np.ndarray) and found.dtype == object else found


def of_function(array: Any, function: Any, types: Any, args: Any, kwargs: Any, *, by_user: bool) -> Any:
    """What a function gives that is no ufunc; `by_user` says whether code of the user's calls it, not NumPy's."""
    traced = _traced_in((args, kwargs))
    if function.__name__ in ("shares_memory", "may_share_memory"):
        raise in_memory()
    module = getattr(function, "__module__", "")
    looks = function.__name__ in LOOKING or "fft" in module or ("linalg" in module and function.__name__ != "norm")
    kinds = {kind for x in traced for kind in kinds_in(x)} if function.__name__ in PRODUCTS else set()
    narrow = any(is_narrow(kind) or kind in BOOLS for kind in kinds)
    if (looks or narrow) and all(map(is_plain, traced)):
        return _on_the_numbers(function, args, kwargs)
    if function.__name__ in WRITING and isinstance(args[0], TracedArray) and by_user:
        name, at = WRITING[function.__name__]
        args = tuple([as_array_stored(args[0], x) if i == at else x for i, x in enumerate(args)])
        kwargs = {key: as_array_stored(args[0], x) if key == name else x for key, x in kwargs.items()}
    if function.__name__ == "where":
        args = (*args[:1], *_narrowed(args[1:]))
    others = [kind for kind in types if not issubclass(kind, Number)]  # which this is called for
    found = _taken_in(np.ndarray.__array_function__(array, function, others, args, kwargs))
    if function.__name__ == "empty_like" and isinstance(found, TracedArray):
        np.ndarray.fill(found, 0)  # None has no type
    if (
        args
        and function.__name__ in FILLING
        and all(isinstance(x, TracedArray) and kinds_in(x) for x in (args[0], found))
    ):
        return as_kind(found, np.result_type(*kinds_in(args[0])).type)
    if function.__name__ in LIKE and len(args) == LIKE[function.__name__] and "dtype" not in kwargs:
        return _of_dtype_of(args[0], found)
    return found


def _is_open(x: TracedArray, ufunc: Any) -> bool:
    """Whether a function gives the same on stand-ins, one by one, as on the numbers of an array."""
    if ufunc.__name__ in COMPARING:
        return not holds_nan(x) and np.bool_ not in kinds_in(x)  # beside ints, truths are ints
    return ufunc in OPEN or not any(is_narrow(kind) or kind is np.bool_ for kind in kinds_in(x))


def _is_of_samples(x: TracedArray) -> bool:
    """Whether numbers of a sample are among these, which cannot be told."""
    return any(isinstance(part, Number) and part._tracer.samples for part in parts_in(x))


def _extremes(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """Larger or smaller numbers, one by one, as rows of the trace that stay open; None if that cannot be."""
    numbers = [x for x in inputs if isinstance(x, (TracedArray, Number))]
    parts = [part for x in numbers for part in (parts_in(x) if isinstance(x, TracedArray) else [x])]
    rest = [x for x in inputs if not isinstance(x, (TracedArray, Number))]
    if not parts or not are_wide(parts) or not all(isinstance(x, (float, int, np.float64, np.int64)) for x in rest):
        return None
    tracer = parts[0]._tracer

    def choose(x: Any, *others: Any) -> Any:
        for op, y in zip(EXTREMES[ufunc.__name__], others, strict=True):
            kind = kind_after(np.maximum, tracer.kind_of(x), tracer.kind_of(y))
            x = tracer.plain_again(tracer.apply(op, (x, y)), kind)
        return x

    found = np.frompyfunc(choose, len(inputs), 1)(*map(as_objects, inputs))
    return found.view(TracedArray) if isinstance(found, np.ndarray) else found


def _taken_in(found: Any) -> Any:
    """What a function of NumPy's gives, arrays of objects with stand-ins as arrays of these, of one type."""
    if isinstance(found, (list, tuple)):
        return type(found)(map(_taken_in, found)) if type(found) in (list, tuple) else found
    if type(found) is not np.ndarray or found.dtype != object:
        return found
    made = found.view(TracedArray)
    kinds = kinds_in(made)
    kind = np.result_type(*kinds).type if len(kinds) > 1 or (kinds and not found.ndim) else None
    made = as_kind(made, kind) if kind in (np.float64, np.int64) else made
    return made if found.ndim else made.view(np.ndarray)[()]


def _of_dtype_of(other: Any, made: Any) -> Any:
    """An array as one of the dtype of another; where that cuts digits off, of the numbers of the call at hand."""
    kinds = kinds_in(other) if isinstance(other, TracedArray) else ()
    if not kinds:
        return made
    kind = np.result_type(*kinds).type
    if kind is not np.float64 and any(isinstance(part, Number) for part in parts_in(made)):
        return told(made).astype(kind)
    return as_kind(made, kind)


def joined(own: Any, parts: tuple[Any, ...]) -> Any:
    """What `np.r_` or `np.c_` makes of arrays and numbers; of narrow ones, that of the numbers of the call at hand.

    >>> joined(np.r_, (np.zeros(2), 1.0))
    array([0., 0., 1.])
    """
    if any(is_narrow(kind) for x in parts if isinstance(x, TracedArray) for kind in kinds_in(x)):
        return _on_the_numbers(own.__getitem__, (parts,), {})
    return _taken_in(own[parts])


def called_on_numbers(function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A function of NumPy's that is given numbers, and arrays perhaps: as if they all were arrays of stand-ins."""
    named = dict(zip(("a", "a_min", "a_max"), args, strict=False)) | kwargs
    if function.__name__ == "clip" and isinstance(
        x := named.pop("a", None), (Number, np.ndarray, int, float, np.generic)
    ):
        bounds = named.get("a_min", named.get("min")), named.get("a_max", named.get("max"))
        if named.keys() <= {"a_min", "a_max", "min", "max"}:  # clip itself makes arrays of objects, which compare
            x = x if bounds[0] is None else np.maximum(x, bounds[0])
            return x if bounds[1] is None else np.minimum(x, bounds[1])
    return of_function(traced_array([]), function, types, args, kwargs, by_user=False)


def beside_arrays(ufunc: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A function of NumPy's of arrays that are known and of numbers, which beside these are numbers of NumPy's.

    Of anything else, such as lists, it is not for this.

    >>> trace(lambda x: len((np.array([1, 2]) * x).dtype.name) * x, [1.5]).tape.rows
    3
    """
    if not all(isinstance(x, (np.ndarray, Number, int, float, np.generic)) for x in inputs):
        return NotImplemented
    kind = np.result_type(*map(_example, inputs)).type
    numbers = [traced_array([x]).reshape(()) if isinstance(x, Number) else x for x in inputs]
    if kind in (np.float64, np.int64):
        numbers = [as_kind(x, kind) if isinstance(x, TracedArray) else x for x in numbers]
    return of_ufunc(ufunc, "__call__", tuple(numbers), options)


def _of_list(x: Any) -> Any:
    """The array that a list is for NumPy, which has a dtype, where a number takes that of the array beside it."""
    found = array_of(x)
    return plain_array(x) if found is None else found


def _as_truths(x: Any) -> Any:
    """What is not 0: of objects, `logical_and` and the like give one of the two."""
    if isinstance(x, TracedArray):
        return x if kinds_in(x) <= {bool, np.bool_} else x != 0
    return as_truth(x)


def _widened(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same, with narrow numbers as wide ones where they stand beside an array of these."""
    known = [x.dtype for x in inputs if type(x) is np.ndarray and x.dtype.kind in "iuf"]
    kinds = {kind for x in inputs if isinstance(x, TracedArray) for kind in kinds_in(x)}
    if not known or not any(map(is_narrow, kinds)) or np.result_type(*known, *kinds) not in (np.float64, np.int64):
        return inputs
    kind = np.result_type(*known, *kinds).type
    return tuple(as_kind(x, kind) if isinstance(x, TracedArray) and kinds_in(x) else x for x in inputs)


def _narrowed(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same, with Python's numbers as narrow ones where they are chosen from beside an array of these."""
    arrays = [x for x in given if isinstance(x, TracedArray)]
    if not any(is_narrow(kind) for x in arrays for kind in kinds_in(x)) or not all(map(kinds_in, arrays)):
        return given
    if not all(isinstance(x, (np.ndarray, Number, int, float, np.generic)) for x in given):
        return given
    examples = [np.result_type(*kinds_in(x)) if isinstance(x, TracedArray) else _example(x) for x in given]
    kind = np.result_type(*examples).type
    if not is_narrow(kind):
        return given
    return tuple(x if isinstance(x, np.ndarray) or kind_of(x) not in EXAMPLES else _as_narrow(x, kind) for x in given)


def _as_narrow(x: Any, kind: Any) -> Any:
    """One of Python's numbers as a narrow one, in an array without dims: NumPy makes objects of others of itself."""
    if not isinstance(x, Number):
        x = kind(x)
    else:
        x = as_single(x._tracer, x) if kind is np.float32 else kind(x._told_with_its_type())
    return traced_array([x]).reshape(())


def _example(x: Any) -> Any:
    return x.dtype if isinstance(x, np.ndarray) else EXAMPLES.get(kind_of(x), kind_of(x))


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
        numbers = told(x)
        made.append((x, numbers, numbers.copy()))
        return numbers
    if isinstance(x, Number):
        return x._told_with_its_type()
    if isinstance(x, dict):
        return {name: _all_told(part, made) for name, part in x.items()}
    return type(x)([_all_told(part, made) for part in x]) if type(x) in (list, tuple) else x
