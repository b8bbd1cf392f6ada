"""The table's functions as methods, all of one form: `v.tanh()` is `tanh(v)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk import ops

if TYPE_CHECKING:
    from gradwalk.engine import Value


class Methods:
    """What `Value` inherits: a method for every function of the op table.

    >>> from gradwalk import Value
    >>> Value(0.0).cos().data
    1.0
    """

    __slots__ = ()

    def __gradwalk_op__(self, op: ops.Op, operands: tuple[Any, ...]) -> Value:
        raise NotImplementedError

    def exp(self) -> Value:
        """E to this power.

        >>> from gradwalk import Value
        >>> Value(0.0).exp().data
        1.0
        """
        return self.__gradwalk_op__(ops.exp, (self,))

    def expm1(self) -> Value:
        """E to this power, less 1: exact near 0.

        >>> from gradwalk import Value
        >>> Value(0.0).expm1().data
        0.0
        """
        return self.__gradwalk_op__(ops.expm1, (self,))

    def log(self) -> Value:
        """The natural logarithm.

        >>> from gradwalk import Value
        >>> Value(1.0).log().data
        0.0
        """
        return self.__gradwalk_op__(ops.log, (self,))

    def log1p(self) -> Value:
        """The natural logarithm of this plus 1: exact near 0.

        >>> from gradwalk import Value
        >>> Value(0.0).log1p().data
        0.0
        """
        return self.__gradwalk_op__(ops.log1p, (self,))

    def sqrt(self) -> Value:
        """The square root.

        >>> from gradwalk import Value
        >>> Value(9.0).sqrt().data
        3.0
        """
        return self.__gradwalk_op__(ops.sqrt, (self,))

    def sin(self) -> Value:
        """The sine.

        >>> from gradwalk import Value
        >>> Value(0.0).sin().data
        0.0
        """
        return self.__gradwalk_op__(ops.sin, (self,))

    def cos(self) -> Value:
        """The cosine.

        >>> from gradwalk import Value
        >>> Value(0.0).cos().data
        1.0
        """
        return self.__gradwalk_op__(ops.cos, (self,))

    def tan(self) -> Value:
        """The tangent.

        >>> from gradwalk import Value
        >>> Value(0.0).tan().data
        0.0
        """
        return self.__gradwalk_op__(ops.tan, (self,))

    def asin(self) -> Value:
        """The angle whose sine this is.

        >>> from gradwalk import Value
        >>> Value(0.0).asin().data
        0.0
        """
        return self.__gradwalk_op__(ops.asin, (self,))

    def acos(self) -> Value:
        """The angle whose cosine this is.

        >>> from gradwalk import Value
        >>> Value(1.0).acos().data
        0.0
        """
        return self.__gradwalk_op__(ops.acos, (self,))

    def atan(self) -> Value:
        """The angle whose tangent this is.

        >>> from gradwalk import Value
        >>> Value(0.0).atan().data
        0.0
        """
        return self.__gradwalk_op__(ops.atan, (self,))

    def sinh(self) -> Value:
        """The hyperbolic sine.

        >>> from gradwalk import Value
        >>> Value(0.0).sinh().data
        0.0
        """
        return self.__gradwalk_op__(ops.sinh, (self,))

    def cosh(self) -> Value:
        """The hyperbolic cosine.

        >>> from gradwalk import Value
        >>> Value(0.0).cosh().data
        1.0
        """
        return self.__gradwalk_op__(ops.cosh, (self,))

    def tanh(self) -> Value:
        """The hyperbolic tangent: squashes to between -1 and 1.

        >>> from gradwalk import Value
        >>> Value(0.0).tanh().data
        0.0
        """
        return self.__gradwalk_op__(ops.tanh, (self,))

    def erf(self) -> Value:
        """The error function.

        >>> from gradwalk import Value
        >>> Value(0.0).erf().data
        0.0
        """
        return self.__gradwalk_op__(ops.erf, (self,))

    def sigmoid(self) -> Value:
        """1 / (1 + exp(-self)): squashes to between 0 and 1.

        >>> from gradwalk import Value
        >>> Value(0.0).sigmoid().data
        0.5
        """
        return self.__gradwalk_op__(ops.sigmoid, (self,))

    def softplus(self) -> Value:
        """Log(1 + exp(self)): a smooth relu.

        >>> from gradwalk import Value
        >>> Value(1000.0).softplus().data
        1000.0
        """
        return self.__gradwalk_op__(ops.softplus, (self,))

    def abs(self) -> Value:
        """The number without its sign; `abs(v)` does the same.

        >>> from gradwalk import Value
        >>> Value(-2.0).abs().data
        2.0
        """
        return self.__gradwalk_op__(ops.abs, (self,))

    def leaky_relu(self, slope: Any = 0.01) -> Value:
        """The number itself if positive, else `slope` times it.

        >>> from gradwalk import Value
        >>> Value(-2.0).leaky_relu(0.5).data
        -1.0
        """
        return self.__gradwalk_op__(ops.leaky_relu, (self, slope))

    def maximum(self, other: Any) -> Value:
        """The larger of two numbers; a tie shares the gradient.

        >>> from gradwalk import Value
        >>> Value(2.0).maximum(3).data
        3.0
        """
        return self.__gradwalk_op__(ops.maximum, (self, other))

    def minimum(self, other: Any) -> Value:
        """The smaller of two numbers; a tie shares the gradient.

        >>> from gradwalk import Value
        >>> Value(2.0).minimum(3).data
        2.0
        """
        return self.__gradwalk_op__(ops.minimum, (self, other))

    def clamp(self, low: Any, high: Any) -> Value:
        """The number, or the nearer bound if it lies outside them.

        >>> from gradwalk import Value
        >>> Value(7.0).clamp(0, 1).data
        1.0
        """
        return self.__gradwalk_op__(ops.clamp, (self, low, high))
