"""The operators of a tensor, made together with their reflected forms; the busiest look at what they are given once.

All else takes the general road, `__gradwalk_op__`: numbers of NumPy, mixed dtypes, a mode such as no_grad, nonsense.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from gradwalk import modes, ops
from gradwalk.errors import NotANumberError
from gradwalk.ops import Op
from gradwalk.tensor import arrays, kernels
from gradwalk.tensor.backward import Clock, Slope
from gradwalk.tensor.entries import MatMul

__all__ = ["give_operators"]

ARITHMETIC = {"add": ops.add, "sub": ops.sub, "mul": ops.mul, "truediv": ops.div, "pow": ops.pow, "matmul": MatMul()}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|", "xor": "^",
               "floordiv": "//", "mod": "%"}  # fmt: skip


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
    tensor.__hash__ = object.__hash__
    tensor.__neg__ = lambda self: self.__gradwalk_op__(ops.neg, (self,))
    tensor.__abs__ = lambda self: self.__gradwalk_op__(ops.abs, (self,))
    tensor.__pos__ = lambda self: self
    tensor.__invert__ = lambda self: self._as_node(arrays.now.functions["~"](self.array))


def _operator(op: Any, tensor: Any) -> tuple[Any, Any]:
    """An operator of `Tensor` and its reflected form."""
    blank = partial(object.__new__, tensor)  # a Tensor without the cost of __init__
    kernels_known, plain = kernels.known, op.__class__ is Op

    def forth(self: Any, other: Any) -> Any:
        if not modes.active and self._lent is None:
            x, kind = self._data, type(other)
            if kind is tensor:
                y = other._data
                quick = x.dtype is y.dtype and other._lent is None and (self._flows or other._flows)
            elif plain and (kind is float or kind is int) and self._flows:
                quick = True
                other = y = float(other)
            else:
                quick = False
            if quick:
                try:
                    data = (kernels_known.get(op) or kernels.kernel(op))(x, y) if plain else op.value(x, y)
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
        if plain and (kind is float or kind is int) and not modes.active and self._lent is None and self._flows:
            other = float(other)
            out = blank()
            out._data = (kernels_known.get(op) or kernels.kernel(op))(other, self._data)
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
NUMPY_COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
                     "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|"}  # fmt: skip


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
    raise NotANumberError(
        f"np.{ufunc.__name__} would take a tensor out of the graph; use gradwalk's functions, or say so with "
        f"tensor.numpy()"
    )


def _speaks_for_itself(x: Any) -> bool:
    """Whether an operand had better decide: a slope."""
    return x.__class__ is Slope


def _comparison(name: str) -> Any:
    def compare(self: Any, other: Any) -> Any:
        if other is None or isinstance(other, (str, bytes, dict, set, list, tuple)):
            return NotImplemented
        return self.compared(name, self, other)

    return compare
