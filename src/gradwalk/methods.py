"""The table's functions as methods, all of one form: `v.tanh()` is `tanh(v)`. Made by `make ops`; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk import ops

if TYPE_CHECKING:
    from gradwalk.engine import Value


class Methods:
    """What `Value` inherits: a method for every function of the op table.

    >>> Value(0.0).cos().data
    1.0
    """

    __slots__ = ()

    def __gradwalk_op__(self, op: ops.Op, operands: tuple[Any, ...]) -> Value:
        raise NotImplementedError

    def exp(self) -> Value:
        """The exponential: e to this power.

        >>> round(Value(0.5).exp().data, 6)
        1.648721
        """
        return self.__gradwalk_op__(ops.exp, (self,))

    def expm1(self) -> Value:
        """The exponential less 1: exact near 0.

        >>> round(Value(0.5).expm1().data, 6)
        0.648721
        """
        return self.__gradwalk_op__(ops.expm1, (self,))

    def log(self) -> Value:
        """The natural logarithm.

        >>> round(Value(0.5).log().data, 6)
        -0.693147
        """
        return self.__gradwalk_op__(ops.log, (self,))

    def log1p(self) -> Value:
        """The natural logarithm of this plus 1: exact near 0.

        >>> round(Value(0.5).log1p().data, 6)
        0.405465
        """
        return self.__gradwalk_op__(ops.log1p, (self,))

    def sqrt(self) -> Value:
        """The square root.

        >>> round(Value(0.5).sqrt().data, 6)
        0.707107
        """
        return self.__gradwalk_op__(ops.sqrt, (self,))

    def sin(self) -> Value:
        """The sine.

        >>> round(Value(0.5).sin().data, 6)
        0.479426
        """
        return self.__gradwalk_op__(ops.sin, (self,))

    def cos(self) -> Value:
        """The cosine.

        >>> round(Value(0.5).cos().data, 6)
        0.877583
        """
        return self.__gradwalk_op__(ops.cos, (self,))

    def tan(self) -> Value:
        """The tangent.

        >>> round(Value(0.5).tan().data, 6)
        0.546302
        """
        return self.__gradwalk_op__(ops.tan, (self,))

    def asin(self) -> Value:
        """The angle whose sine this is.

        >>> round(Value(0.5).asin().data, 6)
        0.523599
        """
        return self.__gradwalk_op__(ops.asin, (self,))

    def acos(self) -> Value:
        """The angle whose cosine this is.

        >>> round(Value(0.5).acos().data, 6)
        1.047198
        """
        return self.__gradwalk_op__(ops.acos, (self,))

    def atan(self) -> Value:
        """The angle whose tangent this is.

        >>> round(Value(0.5).atan().data, 6)
        0.463648
        """
        return self.__gradwalk_op__(ops.atan, (self,))

    def sinh(self) -> Value:
        """The hyperbolic sine.

        >>> round(Value(0.5).sinh().data, 6)
        0.521095
        """
        return self.__gradwalk_op__(ops.sinh, (self,))

    def cosh(self) -> Value:
        """The hyperbolic cosine.

        >>> round(Value(0.5).cosh().data, 6)
        1.127626
        """
        return self.__gradwalk_op__(ops.cosh, (self,))

    def tanh(self) -> Value:
        """The hyperbolic tangent: squashes to between -1 and 1.

        >>> round(Value(0.5).tanh().data, 6)
        0.462117
        """
        return self.__gradwalk_op__(ops.tanh, (self,))

    def erf(self) -> Value:
        """The error function.

        >>> round(Value(0.5).erf().data, 6)
        0.5205
        """
        return self.__gradwalk_op__(ops.erf, (self,))

    def sigmoid(self) -> Value:
        """1 / (1 + exp(-x)): squashes to between 0 and 1.

        >>> round(Value(0.5).sigmoid().data, 6)
        0.622459
        """
        return self.__gradwalk_op__(ops.sigmoid, (self,))

    def softplus(self) -> Value:
        """A smooth relu: log(1 + exp(x)).

        >>> round(Value(0.5).softplus().data, 6)
        0.974077
        """
        return self.__gradwalk_op__(ops.softplus, (self,))

    def leaky_relu(self, slope: Any = 0.01) -> Value:
        """The number itself if positive, else `slope` times it.

        >>> round(Value(0.5).leaky_relu(0.25).data, 6)
        0.5
        """
        return self.__gradwalk_op__(ops.leaky_relu, (self, slope))

    def abs(self) -> Value:
        """The number without its sign; `abs(v)` does the same.

        >>> round(Value(0.5).abs().data, 6)
        0.5
        """
        return self.__gradwalk_op__(ops.abs, (self,))

    def maximum(self, other: Any) -> Value:
        """The larger of two numbers; a tie shares the gradient.

        >>> round(Value(0.5).maximum(0.25).data, 6)
        0.5
        """
        return self.__gradwalk_op__(ops.maximum, (self, other))

    def minimum(self, other: Any) -> Value:
        """The smaller of two numbers; a tie shares the gradient.

        >>> round(Value(0.5).minimum(0.25).data, 6)
        0.25
        """
        return self.__gradwalk_op__(ops.minimum, (self, other))

    def clamp(self, low: Any, high: Any) -> Value:
        """The number, or the nearer bound if it lies outside them.

        >>> round(Value(0.5).clamp(0.25, 0.5).data, 6)
        0.5
        """
        return self.__gradwalk_op__(ops.clamp, (self, low, high))
