"""Arrays from NumPy. What is here says only where NumPy's words differ from ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import Context
from threading import local
from typing import Any

import numpy as np

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


def _function(f: Callable[..., Any]) -> Callable[..., Array]:
    def function(*operands: Any) -> Array:
        out = quiet.run(f, *operands)
        return out if out.__class__ is ndarray else asarray(out)

    return function


# --- number by number ------------------------------------------------------------------------------------------------


def _sigmoid(x: Any) -> Any:
    z = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, z) / (1.0 + z)


def _in_floats(f: Callable[[float], float]) -> Callable[..., Any]:
    slow = np.frompyfunc(f, 1, 1)
    return lambda x: asarray(slow(x)).astype(x.dtype if getattr(x, "dtype", np.dtype(int)).kind == "f" else float)


bare: dict[str, Callable[..., Array]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "neg": np.negative,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal, "&": np.bitwise_and, "|": np.bitwise_or, "~": np.logical_not,
    "^": np.bitwise_xor,
    "choose": np.where, "where": lambda condition, x, y: np.where(asarray(condition) != 0, x, y),
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "erf": _in_floats(math.erf),
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))),
    "relu": lambda x: np.maximum(x, 0.0), "leaky_relu": lambda x, slope: np.where(x > 0, x, x * slope),
    "abs": np.abs, "maximum": np.maximum, "minimum": np.minimum,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "floor": np.floor, "ceil": np.ceil, "round": np.round, "sign": np.sign, "trunc": np.trunc,
    "isfinite": np.isfinite, "isnan": np.isnan, "isinf": np.isinf,
    "//": np.floor_divide, "%": np.remainder,
}  # fmt: skip
functions = {name: _function(f) for name, f in bare.items()}


def each(f: Callable[..., float], arrays: Sequence[Any]) -> Array:
    return asarray(np.frompyfunc(f, len(arrays), 1)(*[np.asarray(a, float) for a in arrays])).astype(float)


# --- making and looking ----------------------------------------------------------------------------------------------


def is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray)


def settled(x: Any) -> Array:
    return x if x.__class__ is ndarray else asarray(x)


def new(nested: Any, dtype: str) -> Array:
    return np.array(nested, dtype=dtype)


def full(shape: Shape, x: float, dtype: str) -> Array:
    return np.full(shape, x, dtype)


def arange(n: int) -> Array:
    return np.arange(n, dtype="int64")


#: To ask a dtype for its name takes longer than a small op.
NAMES = {np.dtype(name): name for name in ("float64", "float32", "int64", "bool")}


def cast(a: Array, dtype: str) -> Array:
    return a if NAMES.get(a.dtype) == dtype else a.astype(dtype)


def dtype_of(a: Array) -> str:
    return NAMES.get(a.dtype) or a.dtype.name


def copy(a: Array) -> Array:
    return a.copy()


def read_only(a: Array) -> Array:
    view = a.view()
    view.flags.writeable = False
    return view


def same(a: Array, b: Array) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def have_nan(arrays: Sequence[Array]) -> bool:
    for a in arrays:
        flat = a.ravel("K")
        total = flat.dot(flat)  # quicker than to look at each: nan if one is
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


def total(a: Array, axes: Shape, keep: bool) -> Array:
    return asarray(quiet.run(_sum, a, axes, keep))


def _sum(a: Array, axes: Shape, keep: bool) -> Any:
    return _ADD(a, axes, keepdims=keep)


def largest(a: Array, axes: Shape, keep: bool) -> Array:
    return asarray(quiet.run(lambda: _MOST(a, axes, keepdims=keep)))


def cumsum(a: Array, axis: int) -> Array:
    return quiet.run(np.cumsum, a, axis)


def matmul(a: Array, b: Array) -> Array:
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
