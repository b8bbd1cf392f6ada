"""The methods of a tensor, by PyTorch's names: reductions, shapes, indexing, and what is composed of them.

`dim` may be spelt `axis`, and `keepdim` `keepdims`. The functions of the op table (`exp`, `tanh`, `relu` …) are methods
already, from the table; here is what arrays add. What is composed has no derivative of its own: it is written in ops
that have one.
"""

# mypy: disable-error-code="no-any-return, return-value"
# What an op gives is a tensor, and so is whoever inherits the methods; mypy cannot know.

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from gradwalk import ops
from gradwalk.errors import GraphError, NotANumberError, SettingError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64, dtype_named
from gradwalk.tensor.entries import CumSum, Expand, Index, Max, Permute, Reshape, Scatter, Sum, number_count
from gradwalk.tensor.indexing import read_key
from gradwalk.tensor.shapes import (
    Shape,
    axes_of,
    axis_of,
    broadcast,
    either,
    shape_error,
    shape_of,
    size_of,
    whole_of,
)

if TYPE_CHECKING:
    from gradwalk.tensor.core import Tensor

__all__ = ["Extremes", "TensorMethods"]


class Extremes(NamedTuple):
    """What `max(dim)`, `min(dim)` and `topk` give: the numbers, and where they were.

    >>> gradwalk.Tensor([1.0, 3.0]).max(0).indices
    Tensor(1)
    """

    values: Any
    indices: Any


def _constant(array: Any) -> Any:
    from gradwalk.tensor.core import constant

    return constant(array)


@cache
def _sum_of_all(ndim: int) -> Sum:
    return Sum(tuple(range(ndim)), False)


class TensorMethods:
    """What a `Tensor` inherits.

    >>> gradwalk.Tensor([1.0, 3.0]).mean()
    Tensor(2.0)
    """

    __slots__ = ()

    if TYPE_CHECKING:
        array: Any
        is_leaf: bool
        requires_grad: bool
        _data: Any
        _flows: bool

        # the functions of the op table, which give tensors here
        def exp(self) -> Tensor: ...  # noqa: D102
        def expm1(self) -> Tensor: ...  # noqa: D102
        def log(self) -> Tensor: ...  # noqa: D102
        def log1p(self) -> Tensor: ...  # noqa: D102
        def sqrt(self) -> Tensor: ...  # noqa: D102
        def sin(self) -> Tensor: ...  # noqa: D102
        def cos(self) -> Tensor: ...  # noqa: D102
        def tan(self) -> Tensor: ...  # noqa: D102
        def asin(self) -> Tensor: ...  # noqa: D102
        def acos(self) -> Tensor: ...  # noqa: D102
        def atan(self) -> Tensor: ...  # noqa: D102
        def sinh(self) -> Tensor: ...  # noqa: D102
        def cosh(self) -> Tensor: ...  # noqa: D102
        def tanh(self) -> Tensor: ...  # noqa: D102
        def erf(self) -> Tensor: ...  # noqa: D102
        def sigmoid(self) -> Tensor: ...  # noqa: D102
        def softplus(self) -> Tensor: ...  # noqa: D102
        def leaky_relu(self, slope: Any = 0.01) -> Tensor: ...  # noqa: D102
        def abs(self) -> Tensor: ...  # noqa: D102
        def maximum(self, other: Any) -> Tensor: ...  # noqa: D102
        def minimum(self, other: Any) -> Tensor: ...  # noqa: D102

        @property
        def shape(self) -> Shape: ...  # noqa: D102
        @property
        def dtype(self) -> str: ...  # noqa: D102

        def __gradwalk_op__(self, op: Any, operands: tuple[Any, ...]) -> Any: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def detach(self) -> Tensor: ...  # noqa: D102

    # --- looking -----------------------------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """How many dims there are.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).ndim
        2
        """
        return len(self.shape)

    def dim(self) -> int:
        """As `ndim`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).dim()
        2
        """
        return len(self.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or how many numbers there are along one dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).size(1)
        2
        """
        return self.shape if dim is None else self.shape[axis_of(dim, self.ndim, "size")]

    def numel(self) -> int:
        """How many numbers there are.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).numel()
        4
        """
        return size_of(self.shape)

    nelement = numel

    @property
    def T(self) -> Tensor:  # noqa: N802
        """A matrix with rows and columns exchanged; of more dims, all in the opposite order.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).T
        Tensor([[3.0, 2.0], [1.0, 4.0]])
        """
        return Permute(tuple(reversed(range(self.ndim))))(self)

    @property
    def mT(self) -> Tensor:  # noqa: N802
        """The last two dims exchanged.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).mT
        Tensor([[3.0, 2.0], [1.0, 4.0]])
        """
        return self.transpose(-2, -1)

    def item(self) -> Any:
        """The one number it holds, as a plain Python number, which has left the graph.

        >>> gradwalk.Tensor([2.5]).item()
        2.5
        """
        if size_of(self.shape) != 1:
            raise shape_error(
                f"item() is for one number, and this tensor has shape {self.shape}; tolist() gives them all"
            )
        found = arrays.now.tolist(self.array)
        while isinstance(found, list):
            found = found[0]
        return found

    def tolist(self) -> Any:
        """Nested lists of plain numbers, or one number.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).tolist()
        [[3.0, 1.0], [2.0, 4.0]]
        """
        return arrays.now.tolist(self.array)

    def numpy(self) -> Any:
        """The numbers as a NumPy array, for reading; `data` of a leaf may be written to.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).numpy().tolist()
        [[3.0, 1.0], [2.0, 4.0]]
        """
        import numpy as np

        if arrays.now.name == "numpy":
            return arrays.now.read_only(self.array)
        return np.array(self.tolist(), dtype=self.dtype).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Tensor:
        found = self.numpy()
        return found.copy() if dtype is None else found.astype(dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor of no dims is one number and has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("a tensor of no dims is one number and cannot be iterated over")
        return (self[i] for i in range(self.shape[0]))

    def __bool__(self) -> bool:
        if size_of(self.shape) != 1:
            raise shape_error(
                f"a tensor of shape {self.shape} is neither true nor false; use .any() or .all(), or gradwalk.where "
                f"to choose "
                "number by number"
            )
        return bool(self.item())

    def __index__(self) -> int:
        if self.dtype.startswith("float") or size_of(self.shape) != 1:
            raise TypeError(f"only a tensor of one int can be an index, not {self.dtype} of shape {self.shape}")
        return int(self.item())

    def __float__(self) -> NoReturn:
        raise NotANumberError(
            "float(t) would leave the graph unseen; t.item() gives the number of a tensor that holds one"
        )

    def __int__(self) -> int:
        return int(self.item())

    def __contains__(self, x: Any) -> bool:
        same: Any = self == x
        return same if isinstance(same, bool) else bool(same.any())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else repr(self)

    # --- dtypes ------------------------------------------------------------------------------------------------------

    def to(self, dtype: Any) -> Tensor:
        """The same numbers in another dtype; between floats, gradient flows through.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).to("float32")
        Tensor([[3.0, 1.0], [2.0, 4.0]], dtype='float32')
        """
        if isinstance(dtype, str) and dtype == "cpu":
            return self
        name = dtype_named(dtype)
        if name == self.dtype:
            return self
        if name.startswith("float") and self._flows:
            return Cast(name)(self)
        return _constant(arrays.now.cast(self.array, name))

    def double(self) -> Tensor:
        """As float64.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).double()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self.to(FLOAT64)

    def long(self) -> Tensor:
        """As int64; a fraction is cut off.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).long()
        Tensor([[3, 1], [2, 4]])
        """
        return self.to(INT64)

    # --- shapes ------------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Tensor:
        """The same numbers in another shape; -1 stands for what is left.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).reshape(4)
        Tensor([3.0, 1.0, 2.0, 4.0])
        """
        return Reshape(_filled_in(shape_of(shape, "reshape"), self.shape))(self)

    def view(self, *shape: Any) -> Tensor:
        """As `reshape`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).view(1, 4)
        Tensor([[3.0, 1.0, 2.0, 4.0]])
        """
        return Reshape(_filled_in(shape_of(shape, "view"), self.shape))(self)

    def view_as(self, other: Any) -> Tensor:
        """In the shape of another tensor.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).view_as(gradwalk.zeros(4))
        Tensor([3.0, 1.0, 2.0, 4.0])
        """
        return self.reshape(_shape_like(other, "view_as"))

    reshape_as = view_as

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Dims from `start_dim` to `end_dim` as one.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).flatten()
        Tensor([3.0, 1.0, 2.0, 4.0])
        """
        start, end = (axis_of(dim, self.ndim, "flatten") for dim in (start_dim, end_dim))
        if end < start:
            raise shape_error(f"flatten goes from one dim to a later one, and was given {start_dim} and {end_dim}")
        return Reshape((*self.shape[:start], size_of(self.shape[start : end + 1]), *self.shape[end + 1 :]))(self)

    ravel = flatten

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Tensor:
        """One dim as several.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).unflatten(1, (2, 1))
        Tensor([[[3.0], [1.0]], [[2.0], [4.0]]])
        """
        axis = self._axis_there(dim, "unflatten")
        given = tuple(sizes) if hasattr(sizes, "__iter__") else sizes
        inner = _filled_in(shape_of((given,), "unflatten"), (self.shape[axis],))
        return Reshape((*self.shape[:axis], *inner, *self.shape[axis + 1 :]))(self)

    def squeeze(self, dim: Any = None, *, axis: Any = None) -> Tensor:
        """Without dims of size 1, or without those named that have it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).squeeze()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        dim = either("squeeze", dim, axis)
        axes = axes_of(dim, self.ndim, "squeeze")
        return Reshape(tuple(n for i, n in enumerate(self.shape) if n != 1 or i not in axes))(self)

    def unsqueeze(self, dim: int) -> Tensor:
        """With a new dim of size 1.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).unsqueeze(0)
        Tensor([[[3.0, 1.0], [2.0, 4.0]]])
        """
        axis = axis_of(dim, self.ndim + 1, "unsqueeze")
        return Reshape((*self.shape[:axis], 1, *self.shape[axis:]))(self)

    def permute(self, *dims: Any) -> Tensor:
        """The dims in another order.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).permute(1, 0)
        Tensor([[3.0, 2.0], [1.0, 4.0]])
        """
        given = shape_of(dims, "permute")
        if len(given) != self.ndim:
            raise shape_error(f"permute takes each dim once, and was given {given} for shape {self.shape}")
        return Permute(axes_of(given, self.ndim, "permute"))(self) if given else self

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """Two dims exchanged.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).transpose(0, 1)
        Tensor([[3.0, 2.0], [1.0, 4.0]])
        """
        a, b = axis_of(dim0, self.ndim, "transpose"), axis_of(dim1, self.ndim, "transpose")
        order = list(range(self.ndim))
        if order:
            order[a], order[b] = order[b], order[a]
        return Permute(tuple(order))(self)

    swapaxes = transpose

    def t(self) -> Tensor:
        """A matrix with rows and columns exchanged.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).t()
        Tensor([[3.0, 2.0], [1.0, 4.0]])
        """
        if self.ndim > 2:
            raise shape_error(f"t() is for matrices, and this tensor has shape {self.shape}; use transpose(dim0, dim1)")
        return self.T

    def expand(self, *shape: Any) -> Tensor:
        """Repeated along dims of size 1 without new memory; -1 keeps a dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).expand(2, 2, 2)
        Tensor([[[3.0, 1.0], [2.0, 4.0]], [[3.0, 1.0], [2.0, 4.0]]])
        """
        wanted = shape_of(shape, "expand")
        new = len(wanted) - self.ndim
        if new < 0:
            raise shape_error(f"expand to {wanted} would lose dims of shape {self.shape}")
        full = tuple(self.shape[i - new] if n == -1 and i >= new else n for i, n in enumerate(wanted))
        for i, n in enumerate(self.shape, start=new):
            if n not in (1, full[i]):
                raise shape_error(
                    f"expand cannot make {full} of {self.shape}: dim {i} has size {n}, and only 1 can be repeated"
                )
        if min(full, default=0) < 0:
            raise shape_error(f"expand was given {wanted}: -1 keeps a dim that is there")
        return Expand(full)(self)

    def expand_as(self, other: Any) -> Tensor:
        """In the shape of another tensor.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).expand_as(gradwalk.zeros(1, 2, 2))
        Tensor([[[3.0, 1.0], [2.0, 4.0]]])
        """
        return self.expand(_shape_like(other, "expand_as"))

    def repeat(self, *times: Any) -> Tensor:
        """Several copies along each dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).repeat(1, 2)
        Tensor([[3.0, 1.0, 3.0, 1.0], [2.0, 4.0, 2.0, 4.0]])
        """
        wanted = shape_of(times, "repeat")
        new = len(wanted) - self.ndim
        if new < 0 or min(wanted, default=0) < 0:
            raise shape_error(f"repeat takes a number of times for each dim of {self.shape}, and was given {wanted}")
        shape = (1,) * new + self.shape
        apart = Reshape(tuple(n for size in shape for n in (1, size)))(self)
        spread = Expand(tuple(n for both in zip(wanted, shape, strict=True) for n in both))(apart)
        return Reshape(tuple(map(operator.mul, wanted, shape)))(spread)

    tile = repeat

    def flip(self, *dims: Any) -> Tensor:
        """Turned round along dims.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).flip(1)
        Tensor([[1.0, 3.0], [4.0, 2.0]])
        """
        axes = axes_of(shape_of(dims, "flip"), self.ndim, "flip")
        turned = tuple(slice(None, None, -1 if axis in axes else None) for axis in range(self.ndim))
        return Index(turned)(self)

    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        """Moved along dims; what leaves at one end comes in at the other.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).roll(1, 0)
        Tensor([[2.0, 4.0], [3.0, 1.0]])
        """
        if dims is None:
            return self.flatten().roll(shifts, 0).reshape(self.shape)
        given = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
        by = [whole_of(shift, "roll", "a shift") for shift in given]
        axes = axes_of(dims, self.ndim, "roll")
        if len(by) != len(axes):
            raise shape_error(f"roll takes a shift for each dim, and was given {shifts} and {dims}")
        out: Any = self
        for shift, axis in zip(by, axes, strict=True):
            n = self.shape[axis]
            start = -shift % max(n, 1)
            if start:
                whole = (slice(None),) * axis
                out = out._cat([Index((*whole, slice(start, n)))(out), Index((*whole, slice(0, start)))(out)], axis)
        return out

    def _axis_there(self, dim: Any, taker: str) -> int:
        """A dim of a tensor that has one at least."""
        if not self.shape:
            raise shape_error(f"{taker} takes a tensor of at least one dim, and this one is a single number")
        return axis_of(dim, self.ndim, taker)

    def _cat(self, parts: Sequence[Any], axis: int) -> Any:
        from gradwalk.tensor.functions import cat

        return cat(parts, axis)

    def split(self, size: Any, dim: int = 0) -> tuple[Any, ...]:
        """Parts of so many along a dim, the last perhaps smaller; or parts of the sizes in a list.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).split(1)
        (Tensor([[3.0, 1.0]]), Tensor([[2.0, 4.0]]))
        """
        axis = self._axis_there(dim, "split")
        n = self.shape[axis]
        if isinstance(size, (tuple, list)):
            sizes = list(shape_of((tuple(size),), "split"))
            if min(sizes, default=0) < 0:
                raise shape_error(f"split takes parts of at least 0, not {sizes}")
            if sum(sizes) != n:
                raise shape_error(
                    f"split into {sizes} makes {sum(sizes)}, and dim {axis} of shape {self.shape} has {n}"
                )
        else:
            step = whole_of(size, "split", "the size of a part")
            if step < 1:
                raise shape_error(f"split takes parts of at least 1, not {step}")
            sizes = [min(step, n - start) for start in range(0, max(n, 1), step)]
        parts, start = [], 0
        for part in sizes:
            parts.append(Index((*(slice(None),) * axis, slice(start, start + part)))(self))
            start += part
        return tuple(parts)

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Any, ...]:
        """So many parts along a dim, as equal as they can be from the left.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).chunk(2)
        (Tensor([[3.0, 1.0]]), Tensor([[2.0, 4.0]]))
        """
        axis = self._axis_there(dim, "chunk")
        if whole_of(chunks, "chunk", "a number of parts") < 1:
            raise shape_error(f"chunk takes at least 1 part, not {chunks}")
        return self.split(max(1, -(-self.shape[axis] // chunks)), axis)

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        """Its slices along a dim, one by one.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).unbind()
        (Tensor([3.0, 1.0]), Tensor([2.0, 4.0]))
        """
        axis = self._axis_there(dim, "unbind")
        return tuple(self.select(axis, i) for i in range(self.shape[axis]))

    def select(self, dim: int, index: int) -> Tensor:
        """One slice along a dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).select(0, 1)
        Tensor([2.0, 4.0])
        """
        axis = axis_of(dim, self.ndim, "select")
        return self[(slice(None),) * axis + (whole_of(index, "select", "a place"),)]

    def narrow(self, dim: int, start: int, length: int) -> Tensor:
        """So many along a dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).narrow(1, 0, 1)
        Tensor([[3.0], [2.0]])
        """
        axis = self._axis_there(dim, "narrow")
        start, length = whole_of(start, "narrow", "a start"), whole_of(length, "narrow", "a length")
        if not 0 <= start <= start + length <= self.shape[axis]:
            raise shape_error(f"narrow from {start}, {length} long, leaves dim {axis} of shape {self.shape}")
        return self[(slice(None),) * axis + (slice(start, start + length),)]

    # --- indexing ----------------------------------------------------------------------------------------------------

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
        return ops.where(_constant(hit), spread, self)

    def gather(self, dim: int, index: Any) -> Tensor:
        """`out[i][j] = t[index[i][j]][j]` for dim 0, and so on.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).gather(1, [[0], [1]])
        Tensor([[3.0], [4.0]])
        """
        axis = axis_of(dim, self.ndim, "gather")
        at = self._whole_numbers(index, "gather")
        if at.ndim != self.ndim:
            raise shape_error(
                f"gather takes an index of {self.ndim} dims, as the tensor has, and was given shape {at.shape}"
            )
        for i, (n, m) in enumerate(zip(at.shape, self.shape, strict=True)):
            if i != axis and n > m:
                raise shape_error(f"gather was given an index of shape {at.shape}, larger than {self.shape} in dim {i}")
        return self[tuple(at if i == axis else _along(i, at.shape) for i in range(self.ndim))] if self.ndim else self

    def index_select(self, dim: int, index: Any) -> Tensor:
        """Slices along a dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).index_select(1, [1, 1])
        Tensor([[1.0, 1.0], [4.0, 4.0]])
        """
        axis = axis_of(dim, self.ndim, "index_select")
        return self[(slice(None),) * axis + (index,)]

    def take(self, index: Any) -> Tensor:
        """Numbers by their places in the order of reading.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).take([0, 3])
        Tensor([3.0, 4.0])
        """
        return self.flatten()[index]

    def masked_select(self, mask: Any) -> Tensor:
        """The numbers where a mask is true.

        >>> x = gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]])
        >>> x.masked_select(x > 2)
        Tensor([3.0, 4.0])
        """
        return self[mask]

    def masked_fill(self, mask: Any, value: Any) -> Tensor:
        """`value` where a mask is true, else the numbers.

        >>> x = gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]])
        >>> x.masked_fill(x > 2, 0.0)
        Tensor([[0.0, 1.0], [2.0, 0.0]])
        """
        return ops.where(self._like(mask), value, self)

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
        return self._triangle(lambda i, j: j - i <= at, "tril")

    def triu(self, diagonal: int = 0) -> Tensor:
        """The part of matrices on and above a diagonal; 0 below.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).triu()
        Tensor([[3.0, 1.0], [0.0, 4.0]])
        """
        at = whole_of(diagonal, "triu", "a diagonal")
        return self._triangle(lambda i, j: j - i >= at, "triu")

    def _triangle(self, inside: Any, taker: str) -> Tensor:
        if self.ndim < 2:
            raise shape_error(f"{taker} is for matrices, and this tensor has shape {self.shape}")
        rows, columns = self.shape[-2:]
        mask = [[inside(i, j) for j in range(columns)] for i in range(rows)]
        keep = arrays.now.reshape(arrays.now.new(mask, BOOL), (rows, columns))
        zero = 0.0 if self.dtype.startswith("float") else 0
        return ops.where(_constant(keep), self, zero)

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
        return Scatter((side, side), (), tuple(arrays.now.new(at, INT64) for at in places))(self)

    def trace(self) -> Tensor:
        """The sum of the diagonal of a matrix.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).trace()
        Tensor(7.0)
        """
        return self.diagonal().sum()

    # --- reductions --------------------------------------------------------------------------------------------------

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
        axes, keep = self._reduced("var", dim, keepdim, axis, keepdims)
        less = _flag("var", "unbiased", unbiased) if correction is None else _bound("var", "correction", correction)
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
        values = self.gather(axes[0] if axes else 0, at)
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
        array = arrays.now.cast(self.array, INT64) if self.dtype == BOOL else self.array
        return self._place("argmin", arrays.now.functions["neg"](array), dim, keepdim, axis, keepdims)

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
            raise shape_error(f"{name} of shape {self.shape}: of no numbers none is the first")
        found = arrays.now.argmax(array, along)
        if keep:
            found = arrays.now.reshape(
                found, tuple(1 if i == along or dim is None else n for i, n in enumerate(self.shape))
            )
        return _constant(found)

    def argsort(self, dim: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
        """Places in sorted order; equal numbers keep theirs. No gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).argsort()
        Tensor([[1, 0], [0, 1]])
        """
        if not self.ndim:
            return _constant(arrays.now.full((), 0, INT64))
        return _constant(
            arrays.now.argsort(self.array, axis_of(dim, self.ndim, "argsort"), bool_of("argsort", descending))
        )

    def sort(self, dim: int = -1, descending: bool = False, stable: bool = True) -> Extremes:
        """The numbers in order along a dim, and where they were; equal numbers keep their order.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).sort()
        Extremes(values=Tensor([[1.0, 3.0], [2.0, 4.0]]), indices=Tensor([[1, 0], [0, 1]]))
        """
        at = self.argsort(dim, descending)
        return Extremes(self.gather(dim, at), at)

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
        at = self.argsort(axis, bool_of("topk", largest)).narrow(axis, 0, k)
        return Extremes(self.gather(axis, at), at)

    def cumsum(self, dim: Any = None, *, axis: Any = None) -> Tensor:
        """Running sums along a dim.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).cumsum(0)
        Tensor([[3.0, 1.0], [5.0, 5.0]])
        """
        dim = either("cumsum", dim, axis)
        if dim is None:
            raise shape_error("cumsum needs a dim to run along, as in cumsum(0)")
        along = axis_of(dim, self.ndim, "cumsum")
        return CumSum(along)(self) if self.ndim else self

    def any(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Whether any number is not 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).any()
        Tensor(True)
        """
        axes, keep = self._reduced("any", dim, keepdim, None, None)
        count = arrays.now.total(arrays.now.functions["!="](self.array, 0), axes, keep)
        return _constant(arrays.now.functions[">"](count, 0))

    def all(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Whether no number is 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).all()
        Tensor(True)
        """
        axes, keep = self._reduced("all", dim, keepdim, None, None)
        count = arrays.now.total(arrays.now.functions["=="](self.array, 0), axes, keep)
        return _constant(arrays.now.functions["=="](count, 0))

    def count_nonzero(self, dim: Any = None) -> Tensor:
        """How many numbers are not 0.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).count_nonzero()
        Tensor(4)
        """
        axes, _ = self._reduced("count_nonzero", dim, False, None, None)
        return _constant(arrays.now.total(arrays.now.functions["!="](self.array, 0), axes, False))

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
            return _constant(arrays.now.total(array, axes, True))
        return _constant(arrays.now.largest(array, axes, True))

    # --- number by number --------------------------------------------------------------------------------------------

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

    mm = bmm = dot = mv = matmul

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
        return ops.where(self > 0, self, alpha * ops.expm1(ops.where(self > 0, 0.0, self)))

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
        min_val, max_val = _bound("hardtanh", "min_val", min_val), _bound("hardtanh", "max_val", max_val)
        inside = (self > min_val) & (self < max_val)
        flat = ops.where(self <= min_val, min_val, max_val)
        return ops.where(inside | (self != self), self, flat)

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
        return _constant(arrays.now.functions[name](self.array))

    def eq(self, other: Any) -> Tensor:
        """As `==`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).eq(2.0)
        Tensor([[False, False], [True, False]])
        """
        return self == other

    def nonzero(self) -> Tensor:
        """The places of the numbers that are not 0, one to a row.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).nonzero()
        Tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
        """
        found = arrays.now.nonzero(arrays.now.functions["!="](self.array, 0))
        columns = [arrays.now.reshape(column, (column.size, 1)) for column in found]
        return _constant(arrays.now.concat(columns, 1))

    # --- PyTorch's habits --------------------------------------------------------------------------------------------

    def contiguous(self) -> Tensor:
        """The tensor itself: how it lies in memory makes no difference here.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).contiguous()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self

    def cpu(self) -> Tensor:
        """The tensor itself: there is nothing but the processor here.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).cpu()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self

    def clone(self) -> Tensor:
        """The same numbers as a new node; gradient flows through it.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).clone()
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        return self * 1.0 if self.dtype.startswith("float") else _constant(arrays.now.copy(self.array))

    def requires_grad_(self, requires_grad: Any = True) -> Tensor:
        """Set `requires_grad`, and give the tensor itself.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).requires_grad_(False)
        Tensor([[3.0, 1.0], [2.0, 4.0]])
        """
        self.requires_grad = requires_grad  # type: ignore[misc]
        return self

    def _like(self, x: Any, dtype: str | None = None) -> Tensor:
        """Whatever was given, as a tensor."""
        from gradwalk.tensor.functions import as_tensor

        return as_tensor(x, dtype)

    def _whole_numbers(self, index: Any, taker: str) -> Tensor:
        """Places that were given, as a tensor of ints."""
        at = self._like(index)
        if at.dtype != INT64 and at.numel():
            raise NotANumberError(f"{taker} takes places in whole numbers, and was given {at.dtype}")
        return self._like(at, INT64)

    comes_later = False  # its numbers are known

    # --- to and from Values ------------------------------------------------------------------------------------------

    def scalars(self) -> Any:
        """The same computation as a graph of Values: this tensor as nested lists of them, or one Value.

        Their gradients are reached by `backward()` on one of them; the Values of a leaf are found by `scalars_of`.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).scalars()[0]
        [Value(data=3.0, grad=0.0), Value(data=1.0, grad=0.0)]
        """
        from gradwalk.tensor.scalars import unrolled

        return unrolled(self)[0]  # type: ignore[arg-type]

    @staticmethod
    def of(values: Any) -> Tensor:
        """One node of many Values, in nested lists or an array of objects; gradient flows back to each of them.

        >>> gradwalk.Tensor.of([Value(1.0), Value(2.0)])
        Tensor([1.0, 2.0])
        """
        from gradwalk.tensor.scalars import joined

        return joined(values)

    def first_not_finite(self) -> tuple[Any, tuple[Any, ...]] | None:
        """The first number that is nan or inf, and its place; None if there is none.

        >>> gradwalk.Tensor([[1.0, float("inf")], [float("nan"), 2.0]]).first_not_finite()
        (inf, (0, 1))
        """
        array = self.array
        if not self.dtype.startswith("float"):
            return None
        odd = arrays.now.functions["~"](arrays.now.functions["isfinite"](array))
        places = arrays.now.nonzero(odd) if self.shape else []
        if self.shape and not places[0].size:
            return None
        if not self.shape:
            found = arrays.now.tolist(array)
            return None if math.isfinite(found) else (found, ())
        at = tuple(int(arrays.now.tolist(column)[0]) for column in places)
        return arrays.now.tolist(arrays.now.index(array, at, ())), at


# These are called as types are, which would hide them from the annotations of the class.


def _as_float32(self: Any) -> Any:
    """As float32.

    >>> gradwalk.Tensor([1]).float()
    Tensor([1.0], dtype='float32')
    """
    return self.to(FLOAT32)


def _as_bool(self: Any) -> Any:
    """As bools: whether a number is not 0.

    >>> gradwalk.Tensor([0.0, 2.0]).bool()
    Tensor([False, True])
    """
    return self.to(BOOL)


for _name, _method in {
    "float": _as_float32,
    "bool": _as_bool,
    "int": TensorMethods.long,
    "type": TensorMethods.to,
}.items():
    setattr(TensorMethods, _name, _method)


def bool_of(taker: str, keep: Any) -> bool:
    """`keepdim` as True or False; a number there is a second dim that was meant otherwise.

    >>> bool_of("sum", True)
    True
    """
    if isinstance(keep, bool):
        return keep
    raise shape_error(f"{taker} was given keepdim={keep!r:.60}, which is True or False; give several dims as a tuple")


def _shape_like(other: Any, taker: str) -> Shape:
    """The shape of another tensor or array."""
    shape = getattr(other, "shape", None)
    if not isinstance(shape, tuple):
        raise NotANumberError(f"{taker} takes a tensor, for its shape, not {type(other).__name__}: {other!r:.60}")
    return shape


def _flag(taker: str, name: str, given: Any) -> int:
    """1 for True and 0 for False."""
    if isinstance(given, bool):
        return int(given)
    raise SettingError(f"{taker} was given {name}={given!r:.60}, which is True or False")


def _bound(taker: str, name: str, given: Any) -> Any:
    """A number that is a setting, not an operand; one that is known later stays as it is."""
    if ops.comes_later(given):
        return given
    try:
        return ops.number(given)
    except NotANumberError:
        kind = type(given).__name__
        raise NotANumberError(f"{taker} takes one number as {name}, not {kind}: {given!r:.60}") from None


def _filled_in(wanted: Shape, shape: Shape) -> Shape:
    """A shape with its -1 worked out, if it holds as many numbers as are there."""
    n = size_of(shape)
    if wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        raise shape_error(f"a shape may hold one -1, and {wanted} cannot be worked out")
    if -1 in wanted:
        known = size_of([size for size in wanted if size != -1])
        if not known or n % known:
            raise shape_error(f"{n} numbers of shape {shape} do not fill {wanted}: {n} is no multiple of {known}")
        return tuple(n // known if size == -1 else size for size in wanted)
    if size_of(wanted) != n:
        raise shape_error(f"{n} numbers of shape {shape} do not fit {wanted}, which holds {size_of(wanted)}")
    return wanted


def _along(axis: int, shape: Shape) -> Any:
    """0, 1, 2 … along one axis of a shape."""
    places = arrays.now.arange(shape[axis])
    return _constant(arrays.now.reshape(places, tuple(n if i == axis else 1 for i, n in enumerate(shape))))


def _root(squares: Any) -> Any:
    """The square root, with gradient 0 at 0 instead of infinity."""
    positive = squares != 0
    return ops.where(positive, ops.sqrt(ops.where(positive, squares, 1.0)), 0.0)


class Cast(Reshape):
    """Between float32 and float64; gradient flows through."""

    __slots__ = ("dtype",)
    name = "to"

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def value(self, x: Any) -> Tensor:
        return arrays.now.cast(x, self.dtype)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Tensor:
        return g
