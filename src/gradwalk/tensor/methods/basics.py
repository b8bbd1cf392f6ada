"""What a tensor's methods rest on: its numbers looked at, dtypes, PyTorch's habits, and Values."""

# mypy: disable-error-code="no-any-return, return-value"
# What an op gives is a tensor, and so is whoever inherits the methods; mypy cannot know.

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradwalk.errors import MissingExtraError, NotANumberError
from gradwalk.tensor import arrays
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64, dtype_named
from gradwalk.tensor.entries import Reshape
from gradwalk.tensor.making import converted
from gradwalk.tensor.shapes import Shape, axis_of, shape_error, size_of

if TYPE_CHECKING:
    from gradwalk.tensor.core import Tensor

__all__ = ["Basics", "constant_of"]


def constant_of(array: Any) -> Any:
    """A constant around an array that nobody else writes to.

    >>> constant_of(gradwalk.Tensor([1.0]).array).requires_grad
    False
    """
    from gradwalk.tensor.core import constant

    return constant(array)


class Basics:
    """What every tensor has, whatever is computed with it.

    >>> gradwalk.Tensor([1.0, 3.0]).tolist()
    [1.0, 3.0]
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
        def compared(self, name: str, x: Any, y: Any) -> Tensor: ...  # noqa: D102
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
        def __getitem__(self, key: Any) -> Tensor: ...
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
        return self.shape if dim is None else self.shape[self._axis_there(dim, "size")]

    def _axis_there(self, dim: Any, taker: str) -> int:
        """A dim of a tensor that has one at least."""
        if not self.shape:
            raise shape_error(f"{taker} takes a tensor of at least one dim, and this one is a single number")
        return axis_of(dim, self.ndim, taker)

    def numel(self) -> int:
        """How many numbers there are.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).numel()
        4
        """
        return size_of(self.shape)

    nelement = numel

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
        try:
            import numpy as np
        except ImportError as error:
            raise MissingExtraError.of("numpy", extra="tensor", wanted_for="numpy()") from error
        if arrays.now.name == "numpy" and arrays.now.is_array(self.array):
            return arrays.now.read_only(self.array)
        found = np.array(self.tolist(), dtype=self.dtype).reshape(self.shape)
        found.flags.writeable = False
        return found

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
                f"a tensor of shape {self.shape} is neither true nor false; use .any() or .all(), or gradwalk.where to "
                "choose number by number"
            )
        return bool(self.item())

    def __index__(self) -> int:
        if self.dtype.startswith("float") or size_of(self.shape) != 1:
            raise TypeError(f"only a tensor of one int can be an index, not {self.dtype} of shape {self.shape}")
        return int(self.item())

    def __float__(self) -> float:
        if not self._flows:  # as an accuracy, which has no graph to leave
            return float(self.item())
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
        return constant_of(converted(self.array, name))

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
        return self * 1.0 if self.dtype.startswith("float") else constant_of(arrays.now.copy(self.array))

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
    "int": Basics.long,
    "type": Basics.to,
}.items():
    setattr(Basics, _name, _method)


class Cast(Reshape):
    """Between float32 and float64; gradient flows through."""

    __slots__ = ("dtype",)
    name = "to"

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def value(self, x: Any) -> Tensor:
        return converted(x, self.dtype)

    def pull(self, i: int, g: Any, inputs: Sequence[Any], out: Any) -> Tensor:
        return g
