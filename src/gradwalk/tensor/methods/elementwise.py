"""Methods of a tensor that work number by number, with a gradient or without.

The functions of the op table (`exp`, `tanh` …) are methods already, from the table; here is what is composed of them.
"""

# mypy: disable-error-code="no-any-return, return-value"
# What an op gives is a tensor, and so is whoever inherits the methods; mypy cannot know.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwalk import ops
from gradwalk.errors import SettingError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, INT64
from gradwalk.tensor.methods.basics import constant_of
from gradwalk.tensor.methods.reductions import Reductions, flag_of, setting_of
from gradwalk.tensor.promotion import no_number
from gradwalk.tensor.shapes import shape_error

if TYPE_CHECKING:
    from gradwalk.tensor.core import Tensor

__all__ = ["Elementwise"]


class Elementwise(Reductions):
    """What works number by number.

    >>> gradwalk.Tensor([1.0, 3.0]).square()
    Tensor([1.0, 9.0])
    """

    __slots__ = ()

    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """Numbers below `min` become it, and above `max` that; one may be left out.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).clip(2.0, 3.0)
        Tensor([[3.0, 2.0], [2.0, 3.0]])
        """
        if min is None and max is None:
            raise SettingError("clip takes a lower bound, an upper bound or both, and was given none")
        if self.dtype.startswith("float"):
            bounds = -math.inf if min is None else min, math.inf if max is None else max
            return self.__gradwalk_op__(ops.clamp, (self, *bounds))
        out: Any = self if min is None else ops.maximum(self, min)
        return out if max is None else ops.minimum(out, max)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """As `clip`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).clamp(min=2.0)
        Tensor([[3.0, 2.0], [2.0, 4.0]])
        """
        return self.clip(min, max)

    def relu(self) -> Tensor:
        """The numbers if positive, else 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).relu()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self.__gradwalk_op__(ops.relu, (self,))

    def leaky_relu(self, slope: Any = 0.01, *, negative_slope: Any = None) -> Tensor:
        """The number itself if positive, else `slope` times it; PyTorch calls it `negative_slope`.

        >>> gradwalk.Tensor([[3.0, -1.0], [2.0, 4.0]]).leaky_relu(negative_slope=0.5)
        Tensor([[3.0, -0.5], [2.0, 4.0]])
        """
        return self.__gradwalk_op__(ops.leaky_relu, (self, slope if negative_slope is None else negative_slope))

    def square(self) -> Tensor:
        """Each number times itself.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).square()
        Tensor([[9.0, 1.0], [4.0, 16.0]])
        """
        return self * self

    def reciprocal(self) -> Tensor:
        """1 over each number.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).reciprocal()
        Tensor([[0.333333, 1.0], [0.5, 0.25]])
        """
        return 1.0 / self

    def rsqrt(self) -> Tensor:
        """1 over the root of each number.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).rsqrt()
        Tensor([[0.57735, 1.0], [0.707107, 0.5]])
        """
        return 1.0 / ops.sqrt(self)

    def neg(self) -> Tensor:
        """Each number with the other sign.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).neg()
        Tensor([[-3.0, -1.0], [-2.0, -4.0]])
        """
        return -self

    def pow(self, exponent: Any) -> Tensor:
        """To a power.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).pow(2)
        Tensor([[9.0, 1.0], [4.0, 16.0]])
        """
        return self**exponent

    def add(self, other: Any) -> Tensor:
        """As `+`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).add(1)
        Tensor([[4.0, 2.0], [3.0, 5.0]])
        """
        return self + other

    def sub(self, other: Any) -> Tensor:
        """As `-`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).sub(1)
        Tensor([[2.0, 0.0], [1.0, 3.0]])
        """
        return self - other

    def mul(self, other: Any) -> Tensor:
        """As `*`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).mul(2)
        Tensor([[6.0, 2.0], [4.0, 8.0]])
        """
        return self * other

    def div(self, other: Any) -> Tensor:
        """As `/`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).div(2)
        Tensor([[1.5, 0.5], [1.0, 2.0]])
        """
        return self / other

    def matmul(self, other: Any) -> Tensor:
        """As `@`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).matmul(gradwalk.eye(2))
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self @ other

    def mm(self, other: Any) -> Tensor:
        """The product of two matrices.

        >>> gradwalk.ones(2, 3).mm(gradwalk.ones(3, 1))
        Tensor([[3.0], [3.0]])
        """
        return self._product("mm", other, 2, 2)

    def bmm(self, other: Any) -> Tensor:
        """The products of two batches of matrices, one by one.

        >>> gradwalk.ones(2, 1, 3).bmm(gradwalk.ones(2, 3, 1))
        Tensor([[[3.0]], [[3.0]]])
        """
        return self._product("bmm", other, 3, 3)

    def mv(self, other: Any) -> Tensor:
        """The product of a matrix and a vector.

        >>> gradwalk.ones(2, 3).mv(gradwalk.ones(3))
        Tensor([3.0, 3.0])
        """
        return self._product("mv", other, 2, 1)

    def dot(self, other: Any) -> Tensor:
        """The product of two vectors.

        >>> gradwalk.ones(3).dot(gradwalk.ones(3))
        Tensor(3.0)
        """
        return self._product("dot", other, 1, 1)

    def _product(self, name: str, other: Any, *dims: int) -> Tensor:
        shapes = self.shape, other.shape if getattr(other, "many", False) else self._like(other).shape
        if tuple(map(len, shapes)) != dims or (name == "bmm" and shapes[0][0] != shapes[1][0]):
            what = {1: "a vector", 2: "a matrix", 3: "a batch of as many matrices"}
            raise shape_error(
                f"{name} takes {what[dims[0]]} and {what[dims[1]]}, and was given shapes {shapes[0]} and {shapes[1]}; "
                "@ takes all that fit together"
            )
        return self @ other

    def log2(self) -> Tensor:
        """The logarithm to base 2.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).log2()
        Tensor([[1.58496, 0.0], [1.0, 2.0]])
        """
        return ops.log(self) * (1.0 / math.log(2.0))

    def log10(self) -> Tensor:
        """The logarithm to base 10.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).log10()
        Tensor([[0.477121, 0.0], [0.30103, 0.60206]])
        """
        return ops.log(self) * (1.0 / math.log(10.0))

    def gelu(self, approximate: str = "none") -> Tensor:
        """The number times the share of a normal distribution below it; `"tanh"` for the usual approximation.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).gelu()
        Tensor([[2.99595, 0.841345], [1.9545, 3.99987]])
        """
        if approximate == "tanh":
            inner = math.sqrt(2.0 / math.pi) * (self + 0.044715 * (self * self * self))
            return 0.5 * self * (1.0 + ops.tanh(inner))
        if approximate != "none":
            raise SettingError(f"gelu takes approximate='none' or 'tanh', not {approximate!r:.60}")
        return 0.5 * self * (1.0 + ops.erf(self * math.sqrt(0.5)))

    def silu(self) -> Tensor:
        """The number times its sigmoid.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).silu()
        Tensor([[2.85772, 0.731059], [1.76159, 3.92806]])
        """
        return self * ops.sigmoid(self)

    def elu(self, alpha: float = 1.0) -> Tensor:
        """The number if positive, else `alpha` times its exponential less 1.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).elu()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return ops.where(self <= 0, alpha * ops.expm1(ops.where(self <= 0, self, 0.0)), self)

    def relu6(self) -> Tensor:
        """Between 0 and 6; outside, the nearer bound, with no gradient at it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).relu6()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self.hardtanh(0.0, 6.0)

    def hardtanh(self, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
        """Between two bounds; outside, the nearer bound, with no gradient at it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).hardtanh()
        Tensor([[1.0, 1.0], [1.0, 1.0]])
        """
        if self.dtype == BOOL:
            raise no_number("hardtanh")
        min_val, max_val = setting_of("hardtanh", "min_val", min_val), setting_of("hardtanh", "max_val", max_val)
        if not ops.comes_later(min_val) and not ops.comes_later(max_val) and min_val > max_val:
            raise SettingError(f"hardtanh takes a lower bound and an upper one, not {min_val:g} and {max_val:g}")
        min_val, max_val = (self._in_own_dtype(bound, "hardtanh") for bound in (min_val, max_val))
        return ops.where(self >= max_val, max_val, ops.where(self <= min_val, min_val, self))

    def softsign(self) -> Tensor:
        """The number over 1 plus its size.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).softsign()
        Tensor([[0.75, 0.5], [0.666667, 0.8]])
        """
        return self / (1.0 + ops.abs(self))

    def mish(self) -> Tensor:
        """The number times the tanh of its softplus.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).mish()
        Tensor([[2.98654, 0.865098], [1.94396, 3.99741]])
        """
        return self * ops.tanh(ops.softplus(self))

    # --- without gradient --------------------------------------------------------------------------------------------

    def floor(self) -> Tensor:
        """The next whole number below; no gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).floor()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self._without_gradient("floor")

    def ceil(self) -> Tensor:
        """The next whole number above; no gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).ceil()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self._without_gradient("ceil")

    def round(self) -> Tensor:
        """The nearest whole number, a half to the even one; no gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).round()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self._without_gradient("round")

    def trunc(self) -> Tensor:
        """Without what is behind the point; no gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).trunc()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self._without_gradient("trunc")

    def sign(self) -> Tensor:
        """-1, 0 or 1; no gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).sign()
        Tensor([[1.0, 1.0], [1.0, 1.0]])
        """
        return self if self.dtype == BOOL else self._without_gradient("sign")

    def isnan(self) -> Tensor:
        """Where a number is nan.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).isnan()
        Tensor([[False, False], [False, False]])
        """
        return self._without_gradient("isnan")

    def isinf(self) -> Tensor:
        """Where a number is infinite.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).isinf()
        Tensor([[False, False], [False, False]])
        """
        return self._without_gradient("isinf")

    def isfinite(self) -> Tensor:
        """Where a number is neither.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).isfinite()
        Tensor([[True, True], [True, True]])
        """
        return self._without_gradient("isfinite")

    def _without_gradient(self, name: str) -> Tensor:
        if self.dtype == BOOL and name in ("floor", "ceil", "round", "trunc"):
            raise no_number(name)
        return constant_of(arrays.now.functions[name](self.array))

    def eq(self, other: Any) -> Tensor:
        """As `==`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).eq(2.0)
        Tensor([[False, False], [True, False]])
        """
        return self.compared("==", self, other)

    def ne(self, other: Any) -> Tensor:
        """As `!=`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).ne(2.0)
        Tensor([[True, True], [False, True]])
        """
        return self.compared("!=", self, other)

    def lt(self, other: Any) -> Tensor:
        """As `<`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).lt(2.0)
        Tensor([[False, True], [False, False]])
        """
        return self.compared("<", self, other)

    def le(self, other: Any) -> Tensor:
        """As `<=`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).le(2.0)
        Tensor([[False, True], [True, False]])
        """
        return self.compared("<=", self, other)

    def gt(self, other: Any) -> Tensor:
        """As `>`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).gt(2.0)
        Tensor([[True, False], [False, True]])
        """
        return self.compared(">", self, other)

    def ge(self, other: Any) -> Tensor:
        """As `>=`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).ge(2.0)
        Tensor([[True, False], [True, True]])
        """
        return self.compared(">=", self, other)

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        """The places of the numbers that are not 0, one to a row; `as_tuple` gives each dim's, fit for an index.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).nonzero()
        Tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
        """
        apart = flag_of("nonzero", "as_tuple", as_tuple)
        found = arrays.now.nonzero(arrays.now.functions["!="](self.reshape(self.shape or (1,)).array, 0))
        if apart:
            return tuple(map(constant_of, found))
        if not self.ndim:  # a row for the number, if it is not 0, and no dims to name a place in
            return constant_of(arrays.now.full((found[0].size, 0), 0, INT64))
        columns = [arrays.now.reshape(column, (column.size, 1)) for column in found]
        return constant_of(arrays.now.concat(columns, 1))
