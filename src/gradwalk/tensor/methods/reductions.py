"""Methods of a tensor that make fewer numbers of many: sums, means, extremes; and softmax, which rests on them."""

# mypy: disable-error-code="no-any-return, return-value"
# What an op gives is a tensor, and so is whoever inherits the methods; mypy cannot know.

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwalk import ops
from gradwalk.errors import NotANumberError, SettingError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, INT64
from gradwalk.tensor.entries import CumSum, Max, Reshape, Sum, number_count
from gradwalk.tensor.methods.basics import constant_of
from gradwalk.tensor.methods.picking import Picking
from gradwalk.tensor.shapes import Shape, axes_of, axis_of, either, shape_error, size_of, whole_of

if TYPE_CHECKING:
    from gradwalk.tensor.core import Tensor

__all__ = ["Extremes", "Reductions", "bool_of", "flag_of", "setting_of"]


class Extremes(NamedTuple):
    """What `max(dim)`, `min(dim)` and `topk` give: the numbers, and where they were.

    >>> gradwalk.Tensor([1.0, 3.0]).max(0).indices
    Tensor(1)
    """

    values: Any
    indices: Any


@cache
def _sum_of_all(ndim: int) -> Sum:
    return Sum(tuple(range(ndim)), False)


class Reductions(Picking):
    """What makes few numbers of many.

    >>> gradwalk.Tensor([1.0, 3.0]).mean()
    Tensor(2.0)
    """

    __slots__ = ()

    def sum(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None) -> Tensor:
        """The sum of all numbers, or over dims.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).sum(0)
        Tensor([5.0, 5.0])
        """
        if dim is None and axis is None and keepdims is None and keepdim is False:
            return self.__gradwalk_op__(_sum_of_all(self._data.ndim), (self,))
        axes, keep = self._reduced("sum", dim, keepdim, axis, keepdims)
        return Sum(axes, keep)(self)

    def mean(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None) -> Tensor:
        """The mean of all numbers, or over dims.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).mean(1, keepdim=True)
        Tensor([[2.0], [3.0]])
        """
        if dim is None and axis is None and keepdims is None and keepdim is False and self._flows:
            return self.__gradwalk_op__(_sum_of_all(self._data.ndim), (self,)) / self._data.size
        axes, keep = self._reduced("mean", dim, keepdim, axis, keepdims)
        if not self.dtype.startswith("float"):
            raise NotANumberError(
                f"mean of {self.dtype} would lose what is behind the point; convert with .float() first"
            )
        return Sum(axes, keep)(self) / number_count(self.shape, axes)

    def var(
        self, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: int | None = None,
        axis: Any = None, keepdims: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The variance: squared distances from the mean, over their number less `correction` (1, as PyTorch's).

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).var(0)
        Tensor([0.5, 4.5])
        """
        if isinstance(dim, bool):  # var(False), as PyTorch has it
            dim, unbiased = None, dim
        axes, keep = self._reduced("var", dim, keepdim, axis, keepdims)
        less = (
            flag_of("var", "unbiased", unbiased) if correction is None else setting_of("var", "correction", correction)
        )
        freedom = number_count(self.shape, axes) - less
        away = self - self.mean(axes, True) if axes else self - self
        return Sum(axes, keep)(away * away) / max(freedom, 0)

    def std(
        self, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *, correction: int | None = None,
        axis: Any = None, keepdims: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The standard deviation, the root of `var`; where it is 0 its gradient is 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).std()
        Tensor(1.29099)
        """
        found = self.var(dim, unbiased, keepdim, correction=correction, axis=axis, keepdims=keepdims)
        return _root(found)

    def norm(
        self, p: Any = 2, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None
    ) -> Tensor:
        """The length of all numbers as one vector, or over dims; where it is 0 its gradient is 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).norm(1)
        Tensor(10.0)
        """
        axes, keep = self._reduced("norm", dim, keepdim, axis, keepdims)
        if p in (2, 2.0, None, "fro"):
            return _root(Sum(axes, keep)(self * self))
        if p == 1:
            return Sum(axes, keep)(ops.abs(self))
        if p == math.inf:
            return Max(axes, keep)(ops.abs(self))
        if isinstance(p, (int, float)) and p > 0:
            total = Sum(axes, keep)(ops.abs(self) ** p)
            there = total != 0  # nan is there, too
            return ops.where(there, ops.where(there, total, 1.0) ** (1.0 / p), 0.0)
        raise SettingError(f"norm takes p as a number above 0 or inf, not {p!r:.60}")

    def max(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None) -> Any:
        """The largest number, a tie sharing the gradient; `max(dim)` gives `(values, indices)`, as PyTorch's does.

        `max(other)` is `maximum(other)`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).max(1)
        Extremes(values=Tensor([3.0, 4.0]), indices=Tensor([0, 1]))
        """
        if getattr(dim, "many", False):
            return ops.maximum(self, dim)
        return self._extreme("max", dim, keepdim, axis, keepdims)

    def min(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None) -> Any:
        """As `max`, for the smallest.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).min(1)
        Extremes(values=Tensor([1.0, 2.0]), indices=Tensor([1, 0]))
        """
        if getattr(dim, "many", False):
            return ops.minimum(self, dim)
        return self._extreme("min", dim, keepdim, axis, keepdims)

    def _extreme(self, name: str, dim: Any, keepdim: Any, axis: Any, keepdims: Any) -> Tensor:
        dim = either(name, dim, axis)
        axes, keep = self._reduced(name, dim, keepdim, None, keepdims)
        if dim is None:
            return getattr(self, f"a{name}")()
        if isinstance(dim, (tuple, list)):
            raise shape_error(f"{name} takes one dim and gives values and indices; over several dims use a{name}")
        at = getattr(self, f"arg{name}")(axes[0] if axes else 0, True)
        values = self._gathered(axes[0] if axes else 0, at)
        return Extremes(values, at) if keep or not axes else Extremes(values.squeeze(axes[0]), at.squeeze(axes[0]))

    def amax(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None) -> Tensor:
        """The largest number over dims; a tie shares the gradient.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).amax(0)
        Tensor([3.0, 4.0])
        """
        axes, keep = self._reduced("amax", dim, keepdim, axis, keepdims)
        return Max(axes, keep)(self)

    def amin(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None) -> Tensor:
        """The smallest number over dims; a tie shares the gradient.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).amin(0)
        Tensor([2.0, 1.0])
        """
        axes, keep = self._reduced("amin", dim, keepdim, axis, keepdims)
        if not self.dtype.startswith("float"):  # the lowest int has no negative, and a bool has none
            return ~Max(axes, keep)(~self)
        return -Max(axes, keep)(-self)

    def argmax(
        self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None
    ) -> Tensor:
        """Where the largest number is, the first of them; no gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).argmax(1)
        Tensor([0, 1])
        """
        return self._place("argmax", self.array, dim, keepdim, axis, keepdims)

    def argmin(
        self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None
    ) -> Tensor:
        """Where the smallest number is, the first of them; no gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).argmin(1)
        Tensor([1, 0])
        """
        turned = (-self if self.dtype.startswith("float") else ~self).array  # the lowest int has no negative
        return self._place("argmin", turned, dim, keepdim, axis, keepdims)

    def _place(self, name: str, array: Any, dim: Any, keepdim: Any, axis: Any, keepdims: Any) -> Tensor:
        dim = either(name, dim, axis)
        keep = bool_of(name, keepdim if keepdims is None else keepdims)
        if dim is None:
            array = arrays.now.reshape(array, (size_of(self.shape),))
        along = 0 if dim is None else axis_of(dim, self.ndim, name)
        if not array.ndim:
            array = arrays.now.reshape(array, (1,))
            keep = False
        if not array.shape[along]:
            over = "" if dim is None else f" over dim {along}"
            raise shape_error(f"{name}{over} of shape {self.shape}: of no numbers none is the first")
        found = arrays.now.argmax(array, along)
        if keep:
            found = arrays.now.reshape(
                found, tuple(1 if i == along or dim is None else n for i, n in enumerate(self.shape))
            )
        return constant_of(found)

    def argsort(self, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
        """Places in sorted order; equal numbers keep theirs. No gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).argsort()
        Tensor([[1, 0], [0, 1]])
        """
        if not self.ndim:
            return constant_of(arrays.now.full((), 0, INT64))
        return constant_of(
            arrays.now.argsort(
                self.array, axis_of(dim, self.ndim, "argsort"), flag_of("argsort", "descending", descending)
            )
        )

    def sort(self, dim: int = -1, descending: bool = False, stable: bool = True) -> Extremes:
        """The numbers in order along a dim, and where they were; equal numbers keep their order.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).sort()
        Extremes(values=Tensor([[1.0, 3.0], [2.0, 4.0]]), indices=Tensor([[1, 0], [0, 1]]))
        """
        at = self.argsort(dim, descending)
        return Extremes(self._gathered(axis_of(dim, self.ndim, "sort"), at), at)

    def topk(self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Extremes:
        """The `k` largest along a dim, the largest first, and where they were.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).topk(1)
        Extremes(values=Tensor([[3.0], [4.0]]), indices=Tensor([[0], [1]]))
        """
        axis = axis_of(dim, self.ndim, "topk")
        if not 0 <= whole_of(k, "topk", "a number of places") <= (self.shape[axis] if self.ndim else 1):
            raise shape_error(f"topk was asked for {k} along dim {axis} of shape {self.shape}")
        if not self.ndim:
            return Extremes(self, self.argsort(axis))
        at = self.argsort(axis, flag_of("topk", "largest", largest)).narrow(axis, 0, k)
        return Extremes(self._gathered(axis, at), at)

    def cumsum(self, dim: Any = None, *, axis: Any = None) -> Tensor:
        """Running sums along a dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).cumsum(0)
        Tensor([[3.0, 1.0], [5.0, 5.0]])
        """
        dim = either("cumsum", dim, axis)
        if dim is None:
            raise shape_error("cumsum needs a dim to run along, as in cumsum(0)")
        along = axis_of(dim, self.ndim, "cumsum")
        return CumSum(along)(self) if self.ndim else self.sum()

    def any(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Whether any number is not 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).any()
        Tensor(True)
        """
        axes, keep = self._reduced("any", dim, keepdim, None, None)
        if isinstance(dim, (tuple, list)) and not dim:  # PyTorch takes no dims for none here, and for all elsewhere
            return self.to(BOOL)
        count = arrays.now.total(arrays.now.functions["!="](self.array, 0), axes, keep)
        return constant_of(arrays.now.functions[">"](count, 0))

    def all(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Whether no number is 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).all()
        Tensor(True)
        """
        axes, keep = self._reduced("all", dim, keepdim, None, None)
        if isinstance(dim, (tuple, list)) and not dim:
            return self.to(BOOL)
        count = arrays.now.total(arrays.now.functions["=="](self.array, 0), axes, keep)
        return constant_of(arrays.now.functions["=="](count, 0))

    def count_nonzero(self, dim: Any = None) -> Tensor:
        """How many numbers are not 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).count_nonzero()
        Tensor(4)
        """
        axes, _ = self._reduced("count_nonzero", dim, False, None, None)
        return constant_of(arrays.now.total(arrays.now.functions["!="](self.array, 0), axes, False))

    def _reduced(self, taker: str, dim: Any, keepdim: Any, axis: Any, keepdims: Any) -> tuple[Shape, Any]:
        """The axes that a reduction goes over, and whether they are kept, however it was spelt."""
        keep = keepdim if keepdims is None else keepdims
        return axes_of(either(taker, dim, axis), len(self.shape), taker), bool_of(taker, keep)

    # --- softmax and its relatives -----------------------------------------------------------------------------------

    def softmax(self, dim: Any = None, *, axis: Any = None) -> Tensor:
        """Shares of 1 along a dim, each in proportion to its exponential.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).softmax(1)
        Tensor([[0.880797, 0.119203], [0.119203, 0.880797]])
        """
        along = self._one_dim("softmax", dim, axis)
        grown = ops.exp(self - self._peak(along))
        return grown / Sum(along, True)(grown)

    def log_softmax(self, dim: Any = None, *, axis: Any = None) -> Tensor:
        """The logarithms of the shares, without passing through shares too small for a float.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).log_softmax(1)
        Tensor([[-0.126928, -2.12693], [-2.12693, -0.126928]])
        """
        along = self._one_dim("log_softmax", dim, axis)
        less = self - self._peak(along)
        return less - ops.log(Sum(along, True)(ops.exp(less)))

    def logsumexp(
        self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool | None = None
    ) -> Tensor:
        """The logarithm of the sum of exponentials: a smooth maximum.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).logsumexp(1)
        Tensor([3.12693, 4.12693])
        """
        axes, keep = self._reduced("logsumexp", dim, keepdim, axis, keepdims)
        peak = self._peak(axes)
        peak = ops.where(peak - peak == 0, peak, 0.0)  # inf - inf would be nan, and the answer is inf
        out = ops.log(Sum(axes, True)(ops.exp(self - peak))) + peak
        return out if keep else Reshape(tuple(n for i, n in enumerate(self.shape) if i not in axes))(out)

    def _one_dim(self, taker: str, dim: Any, axis: Any) -> Shape:
        dim = either(taker, dim, axis)
        if dim is None:
            if self.ndim > 1:
                raise shape_error(f"{taker} of shape {self.shape} needs a dim to sum to 1 along, as in {taker}(dim=1)")
            dim = 0
        found = axis_of(dim, self.ndim, taker)
        return (found,) if self.ndim else ()

    def _peak(self, axes: Shape) -> Tensor:
        """The largest over axes, a constant here: what follows does not depend on it, so neither does a gradient."""
        array = self.array
        if not array.size:
            return constant_of(arrays.now.total(array, axes, True))
        return constant_of(arrays.now.largest(array, axes, True))


def bool_of(taker: str, keep: Any) -> bool:
    """`keepdim` as True or False; a number there is a second dim that was meant otherwise.

    >>> bool_of("sum", True)
    True
    """
    if isinstance(keep, bool):
        return keep
    raise shape_error(f"{taker} was given keepdim={keep!r:.60}, which is True or False; give several dims as a tuple")


def flag_of(taker: str, name: str, given: Any) -> bool:
    """A setting that is True or False.

    >>> flag_of("sort", "descending", True)
    True
    """
    if isinstance(given, bool):
        return given
    raise SettingError(f"{taker} was given {name}={given!r:.60}, which is True or False")


def setting_of(taker: str, name: str, given: Any) -> Any:
    """A number that is a setting, not an operand; one that is known later stays as it is.

    >>> setting_of("clip", "min", 2)
    2.0
    """
    if ops.comes_later(given):
        return given
    try:
        return ops.number(given)
    except NotANumberError:
        kind = type(given).__name__
        raise NotANumberError(f"{taker} takes one number as {name}, not {kind}: {given!r:.60}") from None


def _root(squares: Any) -> Any:
    """The square root, with gradient 0 at 0 instead of infinity."""
    positive = squares != 0
    return ops.where(positive, ops.sqrt(ops.where(positive, squares, 1.0)), 0.0)
