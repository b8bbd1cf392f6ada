"""Methods of a tensor that pick numbers by their places: indices, masks, triangles and diagonals."""

# mypy: disable-error-code="no-any-return, return-value"
# What an op gives is a tensor, and so is whoever inherits the methods; mypy cannot know.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwalk import ops
from gradwalk.errors import GraphError, NotANumberError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, FLOAT64, INT64
from gradwalk.tensor.entries import Expand, Index, Scatter
from gradwalk.tensor.indexing import extremes, read_key
from gradwalk.tensor.making import whole
from gradwalk.tensor.methods.basics import constant_of
from gradwalk.tensor.methods.shaping import Shaping
from gradwalk.tensor.shapes import Shape, axis_of, broadcast, held, shape_error, whole_of

if TYPE_CHECKING:
    from gradwalk.tensor.core import Tensor

__all__ = ["Picking"]


class Picking(Shaping):
    """What picks numbers of a tensor.

    >>> gradwalk.Tensor([1.0, 3.0])[-1]
    Tensor(3.0)
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Tensor:
        basic, wholes = read_key(key, self.shape)
        return Index(basic, wholes)(self)

    def __setitem__(self, key: Any, x: Any) -> None:
        what = "; a leaf's numbers can be written through .data: t.data[i] = v" if self.is_leaf else ""
        raise GraphError(
            "t[i] = v would change a tensor that others may have been computed from; make a new one with t.put(i, v), "
            f"gradwalk.where or gradwalk.cat{what}"
        )

    def put(self, key: Any, x: Any) -> Tensor:
        """A new tensor with other numbers at these places, `t.put(i, v)` for `t[i] = v`; gradient flows to both.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).put((0, 1), 9.0)
        Tensor([[3.0, 9.0], [2.0, 4.0]])
        """
        basic, wholes = read_key(key, self.shape)
        place = Index(basic, wholes)
        ones = arrays.now.full(self.shape, 1.0, FLOAT64)
        target = place(ones).shape
        new = x if hasattr(x, "__gradwalk_op__") and getattr(x, "many", False) else self._like(x)
        new = new.to(self.dtype)
        if broadcast([new.shape, target], "put") != target:
            raise shape_error(f"put was given numbers of shape {new.shape} for places of shape {target}")
        counted = arrays.now.scatter(arrays.now.full(target, 1.0, FLOAT64), self.shape, basic, wholes)
        hit = arrays.now.functions[">"](counted, 0.0)
        if arrays.now.tolist(arrays.now.total(arrays.now.functions[">"](counted, 1.0), tuple(range(self.ndim)), False)):
            raise shape_error(
                "put was given a place twice, and only one of its numbers could stand there; give each once"
            )
        spread = Scatter(self.shape, basic, wholes)(Expand(target)(new))
        return ops.where(constant_of(hit), spread, self)

    def gather(self, dim: int, index: Any) -> Tensor:
        """`out[i][j] = t[index[i][j]][j]` for dim 0, and so on.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).gather(1, [[0], [1]])
        Tensor([[3.0], [4.0]])
        """
        axis = axis_of(dim, self.ndim, "gather")
        at = self._places_from_0(index, "gather")
        if at.ndim != self.ndim:
            raise shape_error(
                f"gather takes an index of {self.ndim} dims, as the tensor has, and was given shape {at.shape}"
            )
        for i, (n, m) in enumerate(zip(at.shape, self.shape, strict=True)):
            if i != axis and n > m:
                raise shape_error(f"gather was given an index of shape {at.shape}, larger than {self.shape} in dim {i}")
        return self._gathered(axis, at)

    def _gathered(self, axis: int, at: Any) -> Tensor:
        return self[tuple(at if i == axis else _along(i, at.shape) for i in range(self.ndim))] if self.ndim else self

    def _places_from_0(self, index: Any, taker: str) -> Tensor:
        """Places, of which none counts from the end: as in PyTorch, -1 is more likely a label that stands for none."""
        at = self._whole_numbers(index, taker)
        lowest = min(extremes(at.array), default=0)
        if lowest < 0:
            raise shape_error(f"{taker} takes places from 0 on, and was given {lowest}")
        return at

    def index_select(self, dim: int, index: Any) -> Tensor:
        """Slices along a dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).index_select(1, [1, 1])
        Tensor([[1.0, 1.0], [4.0, 4.0]])
        """
        axis = axis_of(dim, self.ndim, "index_select")
        at = self._places_from_0(index, "index_select")
        if at.ndim > 1:
            raise shape_error(f"index_select takes places in one row, and was given shape {at.shape}; write t[...]")
        return self[(slice(None),) * axis + (at.reshape(-1),)]

    def take(self, index: Any) -> Tensor:
        """Numbers by their places in the order of reading.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).take([0, 3])
        Tensor([3.0, 4.0])
        """
        return self.flatten()[self._whole_numbers(index, "take")]

    def masked_select(self, mask: Any) -> Tensor:
        """The numbers where a mask is true.

        >>> x = gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]])
        >>> x.masked_select(x > 2)
        Tensor([3.0, 4.0])
        """
        where = self._like(mask)
        if where.dtype != BOOL:
            raise NotANumberError(f"masked_select takes a mask of bools, and was given {where.dtype}")
        shape = broadcast([self.shape, where.shape], "masked_select") or (1,)  # of a single number, too, a row
        return self.expand(shape)[where.expand(shape)]

    def masked_fill(self, mask: Any, value: Any) -> Tensor:
        """`value` where a mask is true, else the numbers.

        >>> x = gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]])
        >>> x.masked_fill(x > 2, 0.0)
        Tensor([[0.0, 1.0], [2.0, 0.0]])
        """
        if value.__class__ is not float or not self._flows:  # the dtype stays that of the tensor
            value = self._in_own_dtype(value, "masked_fill")
        return ops.where(self._like(mask), value, self)

    def _in_own_dtype(self, x: Any, taker: str) -> Any:
        """A number, or a tensor of them, in the dtype of this one."""
        if getattr(x, "many", False):
            return x.to(self.dtype)
        if self.dtype.startswith("float") or ops.comes_later(x) or not isinstance(x, (bool, int, float)):
            return x
        if isinstance(x, float) and not math.isfinite(x):
            raise NotANumberError(f"{taker} was given {x} for a tensor of {self.dtype}, which has no such number")
        return bool(x) if self.dtype == BOOL else whole(int(x))

    def where(self, condition: Any, other: Any) -> Tensor:
        """The numbers where a condition holds, else `other`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).where([[True, False], [True, True]], 0.0)
        Tensor([[3.0, 0.0], [2.0, 4.0]])
        """
        return ops.where(self._like(condition), self, other)

    def tril(self, diagonal: int = 0) -> Tensor:
        """The part of matrices on and below a diagonal; 0 above.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).tril()
        Tensor([[3.0, 0.0], [2.0, 4.0]])
        """
        at = whole_of(diagonal, "tril", "a diagonal")
        return self._triangle("<=", at, "tril")

    def triu(self, diagonal: int = 0) -> Tensor:
        """The part of matrices on and above a diagonal; 0 below.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).triu()
        Tensor([[3.0, 1.0], [0.0, 4.0]])
        """
        at = whole_of(diagonal, "triu", "a diagonal")
        return self._triangle(">=", at, "triu")

    def _triangle(self, inside: str, diagonal: int, taker: str) -> Tensor:
        if self.ndim < 2:
            raise shape_error(f"{taker} is for matrices, and this tensor has shape {self.shape}")
        rows, columns = self.shape[-2:]
        down = arrays.now.reshape(arrays.now.arange(rows), (rows, 1))
        apart = arrays.now.functions["-"](arrays.now.arange(columns), down)
        keep = arrays.now.functions[inside](apart, max(-rows, min(diagonal, columns)))
        zero = 0.0 if self.dtype.startswith("float") else False if self.dtype == BOOL else 0
        return ops.where(constant_of(keep), self, zero)

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        """The diagonal of a matrix, or of all matrices in two dims: a last dim of its own; `offset` above the main one.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).diagonal()
        Tensor([3.0, 4.0])
        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).diagonal(1)
        Tensor([1.0])
        """
        if self.ndim < 2:
            raise shape_error(f"diagonal is for matrices, and this tensor has shape {self.shape}")
        rows, columns = (axis_of(dim, self.ndim, "diagonal") for dim in (dim1, dim2))
        if rows == columns:
            raise shape_error(f"diagonal was given dim {rows} twice; rows and columns are two dims")
        above = whole_of(offset, "diagonal", "an offset")
        down, right = max(-above, 0), max(above, 0)
        n = max(min(self.shape[rows] - down, self.shape[columns] - right), 0)
        last = self.permute(*[axis for axis in range(self.ndim) if axis not in (rows, columns)], rows, columns)
        return last[..., list(range(down, down + n)), list(range(right, right + n))]

    def diag(self, diagonal: int = 0) -> Tensor:
        """The diagonal of a matrix; of a vector, the matrix that has it as its diagonal.

        >>> gradwalk.Tensor([1.0, 2.0]).diag()
        Tensor([[1.0, 0.0], [0.0, 2.0]])
        """
        if self.ndim not in (1, 2):
            raise shape_error(f"diag is for a vector or a matrix, and this tensor has shape {self.shape}")
        if self.ndim == 2:
            return self.diagonal(diagonal)
        above = whole_of(diagonal, "diag", "an offset")
        n = self.shape[0]
        down, right = max(-above, 0), max(above, 0)
        places = list(range(down, down + n)), list(range(right, right + n))
        side = n + abs(above)
        return Scatter(held((side, side), "diag"), (), tuple(arrays.now.new(at, INT64) for at in places))(self)

    def trace(self) -> Tensor:
        """The sum of the diagonal of a matrix.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).trace()
        Tensor(7.0)
        """
        if self.ndim != 2:
            raise shape_error(f"trace is for a matrix, and this tensor has shape {self.shape}; use diagonal(...).sum()")
        return self.diagonal().sum()


def _along(axis: int, shape: Shape) -> Any:
    """0, 1, 2 … along one axis of a shape."""
    places = arrays.now.arange(shape[axis])
    return constant_of(arrays.now.reshape(places, tuple(n if i == axis else 1 for i, n in enumerate(shape))))
