"""Arrays from NumPy. What is here says only where NumPy's words differ from ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import Context
from functools import partial
from threading import local
from typing import Any

import numpy as np

from gradwalk import ops

__all__: list[str] = []

Array = Any
Shape = tuple[int, ...]
name = "numpy"

ndarray, asarray = np.ndarray, np.asarray


# --- without warnings ------------------------------------------------------------------------------------------------
# 1/0 is inf, as in the engine, and no warning. To change NumPy's settings around every op would cost more than a small
# op does; so ops run in a context of their own, in which they are changed once.


class _Quiet(local):
    def __init__(self) -> None:
        context = Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else _with_settings


def _with_settings(f: Callable[..., Any], *arguments: Any) -> Any:
    with np.errstate(all="ignore"):
        return f(*arguments)


quiet = _Quiet()


def quietly(f: Callable[..., Any], *arguments: Any) -> Any:
    """`f(*arguments)`, with all that it does in arrays inside one context."""
    if quiet.run is _directly:
        return f(*arguments)
    run, quiet.run = quiet.run, _directly
    try:
        return run(f, *arguments)
    finally:
        quiet.run = run


def _directly(f: Callable[..., Any], *arguments: Any) -> Any:
    return f(*arguments)


def _function(f: Any) -> Callable[..., Array]:
    def function(*operands: Any) -> Array:
        out = quiet.run(f, *operands)
        return out if out.__class__ is ndarray else asarray(out)

    def of_one(x: Any) -> Array:
        out = quiet.run(f, x)
        return out if out.__class__ is ndarray else asarray(out)

    def of_two(x: Any, y: Any) -> Array:
        out = quiet.run(f, x, y)
        return out if out.__class__ is ndarray else asarray(out)

    operands = f.nin if hasattr(f, "nin") else f.__code__.co_argcount if hasattr(f, "__code__") else 0
    return of_one if operands == 1 else of_two if operands == 2 else function


# --- number by number ------------------------------------------------------------------------------------------------


def _power(x: float, y: float) -> float:
    """As in an array: to a plain exponent of 0.5 NumPy takes the root, which differs at -0.0 and -inf."""
    return _RAISED(array(x), array(y, ndmin=1)).item()  # type: ignore[no-any-return]


double, truth, array = np.dtype("float64"), np.dtype("bool"), np.array
_RAISED: Any = np.power
on_one: dict[str, Any] = {"double": double, "truth": truth, "array": array, "pow": _power}


def _sigmoid(x: Any) -> Any:
    number = _number(x)
    if number is not None:  # the half of the formula that it lies in is enough
        if number < 0.0:
            small = np.exp(x)
            return small / (small + 1.0)
        return 1.0 / (np.exp(-x) + 1.0)
    return np.divide(np.exp(np.minimum(x, 0.0)), np.add(np.exp(np.negative(np.absolute(x))), 1.0))


def _softplus(x: Any) -> Any:
    number = _number(x)
    if number is not None:
        return np.log1p(np.exp(x)) if number < 0.0 else x + np.log1p(np.exp(-x))
    return np.add(np.maximum(x, 0.0), np.log1p(np.exp(np.negative(np.absolute(x)))))


def _number(x: Any) -> float | None:
    """The number, if it is a single one."""
    return x if x.__class__ is float else x.item() if x.__class__ is ndarray and x.size == 1 else None


_where: Any = getattr(np.where, "__wrapped__", np.where)  # without a look whether other libraries have arrays there
BITS: dict[Any, Any] = {np.dtype("float64"): np.dtype("int64"), np.dtype("float32"): np.dtype("int32")}
#: From so many numbers on, a choice is arithmetic on their bits. `where` takes a branch for each number, and where a
#: processor cannot foresee them, that takes about eight times as long.
_MANY = 2048


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    """`where`, bit for bit."""
    if condition.__class__ is ndarray and condition.size >= _MANY and condition.dtype is truth:
        if yes.__class__ is float and has_no_bits(yes):
            condition, yes, no = ~condition, no, yes
        if yes.__class__ is ndarray and yes.shape == condition.shape and yes.dtype in BITS:
            bits = yes.view(BITS[yes.dtype])
            if no.__class__ is float and has_no_bits(no):
                return (bits * condition).view(yes.dtype)
            if no.__class__ is ndarray and no.shape == yes.shape and no.dtype == yes.dtype:
                others = no.view(bits.dtype)
                bits = bits ^ others
                bits *= condition
                bits ^= others
                return bits.view(yes.dtype)
    return _where(condition, yes, no)


def has_no_bits(x: float) -> bool:
    return x == 0.0 and math.copysign(1.0, x) == 1.0  # -0.0 has one


def _as_mask(condition: Array) -> Array:
    return condition if condition.dtype is truth else condition != 0


def _number_by_number(op: ops.Op) -> Callable[..., Array]:
    slow = np.frompyfunc(op.forward, op.arity, 1)

    def function(*operands: Any) -> Array:
        joined = np.result_type(*operands)
        return asarray(slow(*[asarray(x, float) for x in operands])).astype(joined if joined.kind == "f" else float)

    return function


bare: dict[str, Callable[..., Array]] = {
    **{name: _number_by_number(op) for name, op in ops.TABLE.items()},  # what NumPy has is quicker, and follows
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "neg": np.negative,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal, "&": np.bitwise_and, "|": np.bitwise_or, "~": np.logical_not,
    "^": np.bitwise_xor,
    "choose": _chosen, "where": lambda condition, x, y: _chosen(_as_mask(asarray(condition)), x, y),
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "relu": lambda x: np.maximum(x, 0.0), "leaky_relu": lambda x, slope: _chosen(x > 0, x, x * slope),
    "abs": np.abs, "maximum": np.maximum, "minimum": np.minimum,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "floor": np.floor, "ceil": np.ceil, "round": np.round, "trunc": np.trunc,
    "sign": lambda x: np.sign(_where(x == x, x, 0)),  # of nan 0, as in PyTorch
    "isfinite": np.isfinite, "isnan": np.isnan, "isinf": np.isinf,
    "//": np.floor_divide, "%": np.remainder,
}  # fmt: skip
functions = {name: _function(f) for name, f in bare.items()}


def _quicker_on_one(general: Callable[..., Array], of_numbers: Callable[..., float | None]) -> Callable[..., Array]:
    """A function that takes several of NumPy's, or Python's arithmetic on an array of one number: the same bits."""

    def function(x: Any, *others: Any) -> Array:
        if x.__class__ is ndarray and x.size == 1 and x.dtype is double:
            for y in others:
                if y.__class__ is not float:
                    break
            else:
                found = quiet.run(of_numbers, x.item(), *others)
                if found is not None:
                    return array(found, ndmin=x.ndim)
        return general(x, *others)

    return function


def _clamp(x: float, low: float, high: float) -> float | None:
    """None where NumPy must say which of 0.0 and -0.0 it takes."""
    return ops.clamp.value(x, low, high) if low < high and x != low and x != high else None


_ON_NUMBERS: dict[str, Callable[..., Any]] = {
    "sigmoid": _sigmoid, "softplus": _softplus, "leaky_relu": ops.leaky_relu.value, "clamp": _clamp,
}  # fmt: skip
functions |= {name: _quicker_on_one(functions[name], rule) for name, rule in _ON_NUMBERS.items()}


def _relu(x: Any) -> Array:
    out = quiet.run(_LARGER, x, 0.0)
    return out if out.__class__ is ndarray else asarray(out)


_LARGER: Any = np.maximum
functions["relu"] = _relu


def each(f: Callable[..., float], arrays: Sequence[Any]) -> Array:
    return asarray(np.frompyfunc(f, len(arrays), 1)(*[np.asarray(a, float) for a in arrays])).astype(float)


# --- making and looking ----------------------------------------------------------------------------------------------


def is_array(x: Any) -> bool:
    return isinstance(x, ndarray)


def settled(x: Any) -> Array:
    return x if x.__class__ is ndarray else asarray(x)


def new(nested: Any, dtype: str) -> Array:
    return np.array(nested, dtype=dtype)


def full(shape: Shape, x: float, dtype: str) -> Array:
    out = np.empty(shape, dtype)
    out.fill(x)  # which takes half as long as `np.full`
    return out


def arange(n: int) -> Array:
    return np.arange(n, dtype="int64")


#: To ask a dtype for its name takes longer than a small op.
NAMES = {np.dtype(name): name for name in ("float64", "float32", "int64", "bool")}


def cast(a: Array, dtype: str) -> Array:
    return a if NAMES.get(a.dtype) == dtype else a.astype(dtype)


def dtype_of(a: Array) -> str:
    return NAMES.get(a.dtype) or getattr(a.dtype, "name", a.dtype)  # the name itself, of arrays of plain Python's


def copy(a: Array) -> Array:
    return a.copy()


def read_only(a: Array) -> Array:
    view = a.view()
    view.flags.writeable = False
    return view


def same(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.nbytes <= 4096:  # these are copied in a tenth of the time that looking at each takes
        return bool(a.tobytes() == b.tobytes())
    bits = f"i{a.itemsize}"
    return bool((a.view(bits) == b.view(bits)).all())


def have_nan(arrays: Sequence[Array]) -> bool:
    for a in arrays:
        flat = a.ravel("K")
        total = quiet.run(flat.dot, flat)  # quicker than to look at each: nan if one is
        if total != total and np.isnan(a).any():
            return True
    return False


def tolist(a: Array) -> Any:
    return a.tolist()


# --- structure -------------------------------------------------------------------------------------------------------


def reshape(a: Array, shape: Shape) -> Array:
    return a.reshape(shape)


def permute(a: Array, order: Shape) -> Array:
    return a.transpose(order)


def expand(a: Array, shape: Shape) -> Array:
    if a.size == 1 and a.ndim <= len(shape):  # what `broadcast_to` takes three times as long for
        view: Array = ndarray(shape, a.dtype, a, 0, (0,) * len(shape))
        view.flags.writeable = False
        return view
    return np.broadcast_to(a, shape)


def _key(wholes: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(slice(None) if part is None else part for part in wholes)


def index(a: Array, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Array:
    view = a[basic]
    return asarray(view[_key(wholes)] if wholes else view)


def scatter(g: Array, shape: Shape, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Array:
    out = np.zeros(shape, g.dtype)
    if wholes:
        view = out[basic] if basic else out
        np.add.at(view, _key(wholes), g)
    else:
        out[basic] = g
    return out


def concat(parts: Sequence[Array], axis: int) -> Array:
    return np.concatenate(parts, axis)


def pad(a: Array, widths: tuple[tuple[int, int], ...], x: float) -> Array:
    return np.pad(a, widths, constant_values=x)


# --- sums and products -----------------------------------------------------------------------------------------------


_ADD: Any = np.add.reduce
_MOST: Any = np.maximum.reduce
_COLUMNS: Any = np._core.multiarray.c_einsum if hasattr(np, "_core") else np.einsum
_ROWS = (0,)
_FLOATS = (np.dtype("float64"), np.dtype("float32"))


def total(a: Array, axes: Shape, keep: bool) -> Array:
    if axes == _ROWS and a.ndim == 2 and not keep and a.shape[1] > 1 and a.dtype in _FLOATS and a.flags.c_contiguous:
        return _COLUMNS("ij->j", a)  # row by row, as NumPy's sum does it, in half the time and without warnings
    out = quiet.run(partial(_ADD, keepdims=True) if keep else _ADD, a, axes)
    return out if out.__class__ is ndarray else asarray(out)


def largest(a: Array, axes: Shape, keep: bool) -> Array:
    return asarray(quiet.run(lambda: _MOST(a, axes, keepdims=keep)))


def cumsum(a: Array, axis: int) -> Array:
    return quiet.run(np.cumsum, a, axis)


def matmul(a: Array, b: Array) -> Array:
    # `dot` begins sooner; it gives the same bits if the product is more than one number, and neither is broadcast
    if a.ndim == b.ndim == 2 and len(a) * b.shape[1] > 1 and a.flags.forc and b.flags.forc:
        run = quiet.run
        return a.dot(b) if run is _directly else run(a.dot, b)
    return asarray(quiet.run(np.matmul, a, b))


def einsum(spec: str, parts: Sequence[Array]) -> Array:
    return asarray(quiet.run(lambda: np.einsum(spec, *parts, optimize=len(parts) > 2)))


def argmax(a: Array, axis: int) -> Array:
    return asarray(np.argmax(a, axis))


def argsort(a: Array, axis: int, descending: bool) -> Array:
    if not descending:
        return np.argsort(a, axis, kind="stable")
    backwards = np.flip(np.argsort(np.flip(a, axis), axis, kind="stable"), axis)  # equal ones keep their order
    return a.shape[axis] - 1 - backwards


def nonzero(a: Array) -> list[Array]:
    return list(np.nonzero(a))
