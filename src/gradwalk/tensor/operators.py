"""The operators of a tensor, made together with their reflected forms; the busiest look at what they are given once.

All else takes the general road, `__gradwalk_op__`: numbers of NumPy, mixed dtypes, a mode such as no_grad, nonsense.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from gradwalk import modes, ops, reverse
from gradwalk.errors import GraphError, NotANumberError
from gradwalk.ops import Op
from gradwalk.tensor import arrays, kernels
from gradwalk.tensor.arrays import BOOL
from gradwalk.tensor.backward import Clock, Slope
from gradwalk.tensor.entries import MatMul
from gradwalk.tensor.making import LARGEST
from gradwalk.tensor.shapes import shape_error

__all__ = ["give_operators"]

ARITHMETIC = {"add": ops.add, "sub": ops.sub, "mul": ops.mul, "truediv": ops.div, "pow": ops.pow, "matmul": MatMul()}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "xor": "^",
               "floordiv": "//"}  # fmt: skip


PART = "this is a part of a parameter, and for reading; write to the parameter's own data, as in p.data[i] *= 2"


def give_operators(tensor: Any) -> None:
    """Give the class its operators.

    >>> (gradwalk.Tensor([1.0]) + 2.0 > 2.5).item()
    True
    """
    for name, op in ARITHMETIC.items():
        forth, back = _operator(op, tensor)
        setattr(tensor, f"__{name}__", forth)
        setattr(tensor, f"__r{name}__", back)
    for name, symbol in COMPARISONS.items():
        setattr(tensor, f"__{name}__", _comparison(symbol))
    tensor.__array_ufunc__ = _array_ufunc
    tensor.__array_function__ = _array_function
    tensor.__hash__ = object.__hash__
    tensor.__neg__ = lambda self: self.__gradwalk_op__(ops.neg, (self,))
    tensor.__abs__ = lambda self: self.__gradwalk_op__(ops.abs, (self,))
    tensor.__pos__ = lambda self: self
    tensor.__invert__ = _inverted
    tensor.__mod__ = _remainder
    tensor.__rmod__ = lambda self, other: _whole_or_float(self, other) % self
    for name in ("and", "or", "xor", "floordiv"):
        setattr(tensor, f"__r{name}__", _comparison(COMPARISONS[name], turned=True))
    for name in (*ARITHMETIC, "floordiv", "mod"):
        setattr(tensor, f"__i{name}__", _in_place(name, getattr(tensor, f"__{name}__")))


def _operator(op: Any, tensor: Any) -> tuple[Any, Any]:
    """An operator of `Tensor` and its reflected form."""
    blank = partial(object.__new__, tensor)  # a Tensor without the cost of __init__
    plain = op.__class__ is Op

    def forth(self: Any, other: Any) -> Any:
        if not modes.active:
            if self._lent is not None:
                self._look_at_lent()
            x, kind = self._data, type(other)
            if kind is tensor:
                if other._lent is not None:
                    other._look_at_lent()
                y = other._data
                quick = x.dtype is y.dtype and (self._flows or other._flows)
            elif plain and self._flows and (kind is float or (kind is int and abs(other) < LARGEST)):
                quick = True
                other = y = float(other)
            else:
                quick = False
            if quick:
                try:
                    data = (arrays.made.kernels.get(op) or kernels.kernel(op))(x, y) if plain else op.value(x, y)
                except ValueError:
                    pass  # the general road says which shapes do not fit
                else:
                    out = blank()
                    out._data = data
                    out._grad = 0.0
                    out._kind = op
                    out._inputs = (self, other)
                    out._changed = Clock.time
                    out._mark = out._lent = out._asked = None
                    out._flows = True
                    return out
        return NotImplemented if _speaks_for_itself(other) else self.__gradwalk_op__(op, (self, other))

    def back(self: Any, other: Any) -> Any:
        kind = type(other)
        fits = kind is float or (kind is int and abs(other) < LARGEST)
        if plain and fits and not modes.active and self._flows:
            if self._lent is not None:
                self._look_at_lent()
            other = float(other)
            out = blank()
            out._data = (arrays.made.kernels.get(op) or kernels.kernel(op))(other, self._data)
            out._grad = 0.0
            out._kind = op
            out._inputs = (other, self)
            out._changed = Clock.time
            out._mark = out._lent = out._asked = None
            out._flows = True
            return out
        return NotImplemented if _speaks_for_itself(other) else self.__gradwalk_op__(op, (other, self))

    return forth, back


#: NumPy's functions that are ops: an array on the left of an operator calls them.
UFUNCS = {
    "add": ops.add, "subtract": ops.sub, "multiply": ops.mul, "divide": ops.div, "true_divide": ops.div,
    "power": ops.pow, "matmul": ARITHMETIC["matmul"], "negative": ops.neg, "absolute": ops.abs, "maximum": ops.maximum,
    "minimum": ops.minimum, "arcsin": ops.asin, "arccos": ops.acos, "arctan": ops.atan,
    **{
        name: ops.TABLE[name]
        for name in ("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    },
}  # fmt: skip
#: Those that ask something of each number, as which no gradient is missed.
QUESTIONS = {"isnan", "isfinite", "isinf", "signbit", "logical_and", "logical_or", "logical_not", "logical_xor"}
NUMPY_COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
                     "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
                     "floor_divide": "//"}  # fmt: skip


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, out: Any = None, **settings: Any) -> Any:
    """NumPy's functions on tensors: those that are ops become nodes; `array += tensor` writes to the array."""
    if out is not None and not any(getattr(x, "many", False) for x in out):
        plain = [x.numpy() if getattr(x, "many", False) else x for x in inputs]
        return getattr(ufunc, method)(*plain, out=out, **settings)
    if method == "__call__" and out is None and not settings:
        if ufunc.__name__ in UFUNCS:
            return self.__gradwalk_op__(UFUNCS[ufunc.__name__], inputs)
        if ufunc.__name__ in NUMPY_COMPARISONS:
            return self.compared(NUMPY_COMPARISONS[ufunc.__name__], *inputs)
        if ufunc.__name__ == "remainder":
            return self._like(inputs[0]) % inputs[1]
    if ufunc.__name__ in QUESTIONS or not any(x.requires_grad for x in _tensors_in(inputs)):
        return getattr(ufunc, method)(*map(_in_numpy, inputs), **settings)
    raise _leaves(ufunc.__name__)


def _leaves(name: str) -> NotANumberError:
    return NotANumberError(
        f"np.{name} would take a tensor out of the graph; use gradwalk's functions, or say so with tensor.numpy()"
    )


#: NumPy's functions that a gradient is expected to flow through, beside those of linalg and fft; all others
#: (np.histogram …) are given the numbers.
LEAVING = {
    "amax", "amin", "append", "array_split", "average", "block", "broadcast_to", "choose", "clip", "column_stack",
    "compress", "concatenate", "convolve", "correlate", "cross", "cumprod", "cumsum", "cumulative_prod",
    "cumulative_sum", "delete", "diag", "diagflat", "diagonal", "diff", "dot", "dsplit", "dstack", "ediff1d",
    "einsum", "expand_dims", "extract", "flip", "fliplr", "flipud", "gradient", "hsplit", "hstack", "inner",
    "insert", "interp", "kron", "matrix_transpose", "max", "mean", "median", "min", "moveaxis", "nan_to_num",
    "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "outer",
    "pad", "percentile", "permute_dims", "prod", "ptp", "put_along_axis", "quantile", "ravel", "repeat",
    "reshape", "resize", "roll", "rollaxis", "rot90", "select", "sort", "split", "squeeze", "stack", "std", "sum",
    "swapaxes", "take", "take_along_axis", "tensordot", "tile", "trace", "transpose", "trapezoid", "trapz",
    "tril", "triu", "unstack", "var", "vdot", "vsplit", "vstack", "where",
}  # fmt: skip


def _array_function(self: Any, function: Any, types: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """NumPy's functions that are no ufuncs: a sum or mean is ours; others are given the numbers, if none is missed."""
    name = function.__name__
    if name in ("sum", "mean") and args and args[0] is self and set(settings) <= {"axis", "keepdims"} and len(args) < 3:
        return getattr(self, name)(*args[1:], **settings)
    if name == "where" and len(args) == 1:  # which asks for places
        name = "nonzero"
    room = function.__module__.removeprefix("numpy").strip(".")
    leaves = name in LEAVING or room in ("linalg", "fft")
    if leaves and any(x.requires_grad for x in _tensors_in([args, list(settings.values())])):
        raise _leaves(f"{room}.{name}" if room else name)
    return function(*map(_in_numpy, args), **{key: _in_numpy(x) for key, x in settings.items()})


def _tensors_in(x: Any) -> list[Any]:
    if isinstance(x, (list, tuple)):
        return [found for part in x for found in _tensors_in(part)]
    return [x] if getattr(x, "many", False) else []


def _in_numpy(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return list(map(_in_numpy, x)) if isinstance(x, list) else tuple(map(_in_numpy, x))
    return x.numpy() if getattr(x, "many", False) else x


def _speaks_for_itself(x: Any) -> bool:
    """Whether an operand had better decide: a slope."""
    return x.__class__ is Slope


def _remainder(self: Any, other: Any) -> Any:
    """What is left over; gradient flows to both operands, as in PyTorch: `x % y` is `x` less so many times `y`."""
    if other is None or isinstance(other, (str, bytes, dict, set, list, tuple)):
        return NotImplemented
    out = self.compared("%", self, other)
    if not out.dtype.startswith("float"):
        return out
    if self._flows:
        out = out + (self - self.detach())  # adds 0, so that the number is exact
    if getattr(other, "many", False) and other._flows:
        times, finite = self.compared("//", self, other), other.isfinite()
        y = other if finite.all() else ops.where(finite, other, 0.0)
        out = out - times.clamp(-sys.float_info.max, sys.float_info.max) * (y - y.detach())
        if y is not other:  # of an infinite number there is no 0 to be had, and nothing is rounded
            out = ops.where(finite, out, self - ops.where(times == 0.0, 0.0, times * other))
    return out


def _whole_or_float(self: Any, x: Any) -> Any:
    """What stands on the left of `%`, as a tensor; a plain number takes the digits of a float on the right."""
    plain = isinstance(x, (int, float)) and self.dtype.startswith("float")
    return self._like(float(x) if plain else x, self.dtype if plain else None)


def _inverted(self: Any) -> Any:
    """`~` of bools, or of the bits of ints."""
    if self.dtype.startswith("float"):
        raise NotANumberError(f"~ is for bools and ints, and was given {self.dtype}; write the condition, as in x == 0")
    if self.dtype == BOOL:
        return self._as_node(arrays.now.functions["~"](self.array))
    return self._as_node(arrays.now.functions["-"](-1, self.array))


def _in_place(name: str, operator: Any) -> Any:
    """`p -= x`: under no_grad it writes to a leaf, as in PyTorch; elsewhere the name stands for a new tensor."""

    def change(self: Any, other: Any) -> Any:
        new = operator(self, other)
        if new is NotImplemented:
            return new
        if hasattr(self, "_gradient_of"):
            return _scaled_gradient(self, new)
        if new._data.dtype != self._data.dtype and new.dtype.startswith("float") and self.dtype.startswith("float"):
            new = new.to(self.dtype)
        if self.is_part:
            raise GraphError(PART)
        if not modes.active or modes.recording():
            if self.is_leaf and self.is_surely_trained:  # a parameter that is updated, and would not be
                raise GraphError(
                    f"this would leave the parameter of shape {self.shape} as it is, and make a new tensor; update it "
                    "inside `with gradwalk.no_grad():`, or write to its data, as in p.data -= lr * p.grad; where a new "
                    "tensor is meant, write y = p - x"
                )
            return new
        if not self.is_leaf:
            if self.comes_later or any(not v.many or v.is_surely_trained for v in reverse.order(self) if v.is_leaf):
                return new
            self._kind, self._inputs = None, ()  # it was computed from mere numbers, and PyTorch remembers nothing
        if new.shape != self.shape:
            raise shape_error(f"a tensor of shape {self.shape} cannot hold a result of shape {new.shape}")
        if new.dtype.startswith("float") and not self.dtype.startswith("float"):
            raise NotANumberError(f"a tensor of {self.dtype} cannot hold a result of {new.dtype}; convert it first")
        self.data = new
        return self

    change.__name__ = f"__i{name}__"
    return change


def _scaled_gradient(self: Any, new: Any) -> Any:
    """`g *= 0.5` changes the gradient that `g` was read from, unless that is another by now."""
    p = self._gradient_of
    if p._grad is not self._data:
        return new
    p.grad = new
    if p._grad.__class__ is type(p):  # with a graph of its own
        return new
    self._data = p._grad
    return self


def _comparison(name: str, turned: bool = False) -> Any:
    def compare(self: Any, other: Any) -> Any:
        if other is None or isinstance(other, (str, bytes, dict, set, list, tuple)):
            return NotImplemented
        return self.compared(name, other, self) if turned else self.compared(name, self, other)

    return compare
