"""Methods of a tensor that give its numbers another shape, or part of them along a dim."""

# mypy: disable-error-code="no-any-return, return-value"
# What an op gives is a tensor, and so is whoever inherits the methods; mypy cannot know.

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwalk.errors import NotANumberError
from gradwalk.tensor.entries import Expand, Index, Permute, Reshape
from gradwalk.tensor.methods.basics import Basics
from gradwalk.tensor.shapes import Shape, axes_of, axis_of, either, held, shape_error, shape_of, size_of, whole_of

if TYPE_CHECKING:
    from gradwalk.tensor.core import Tensor

__all__ = ["Shaping"]


class Shaping(Basics):
    """What gives a tensor's numbers another shape.

    >>> gradwalk.Tensor([1.0, 3.0]).reshape(2, 1)
    Tensor([[1.0], [3.0]])
    """

    __slots__ = ()

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

    def permute(self, *order: Any, dims: Any = None) -> Tensor:
        """The dims in another order.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).permute(1, 0)
        Tensor([[3.0, 2.0], [1.0, 4.0]])
        """
        given = _dims_of(order, dims, "permute")
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
        return Expand(held(full, "expand"))(self)

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
        made = held(tuple(map(operator.mul, wanted, shape)), "repeat")
        apart = Reshape(tuple(n for size in shape for n in (1, size)))(self)
        spread = Expand(tuple(n for both in zip(wanted, shape, strict=True) for n in both))(apart)
        return Reshape(made)(spread)

    def tile(self, *times: Any) -> Tensor:
        """As `repeat`, with 1 for the dims in front that are not named.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).tile(2)
        Tensor([[3.0, 1.0, 3.0, 1.0], [2.0, 4.0, 2.0, 4.0]])
        """
        wanted = shape_of(times, "tile")
        return self.repeat((1,) * (self.ndim - len(wanted)) + wanted)

    def flip(self, *along: Any, dims: Any = None) -> Tensor:
        """Turned round along dims.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).flip(1)
        Tensor([[1.0, 3.0], [4.0, 2.0]])
        """
        axes = axes_of(_dims_of(along, dims, "flip"), self.ndim, "flip")
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

    def _cat(self, parts: Sequence[Any], axis: int) -> Any:
        from gradwalk.tensor.functions import cat

        return cat(parts, axis)

    def split(self, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
        """Parts of so many along a dim, the last perhaps smaller; or parts of the sizes in a list.

        >>> gradwalk.Tensor([[3.0, 1.0], [2.0, 4.0]]).split(1)
        (Tensor([[3.0, 1.0]]), Tensor([[2.0, 4.0]]))
        """
        axis = self._axis_there(dim, "split")
        n = self.shape[axis]
        if isinstance(split_size, (tuple, list)):
            sizes = list(shape_of((tuple(split_size),), "split"))
            if min(sizes, default=0) < 0:
                raise shape_error(f"split takes parts of at least 0, not {sizes}")
            if sum(sizes) != n:
                raise shape_error(
                    f"split into {sizes} makes {sum(sizes)}, and dim {axis} of shape {self.shape} has {n}"
                )
        else:
            step = whole_of(split_size, "split", "the size of a part")
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
        n = self.shape[axis]
        sizes = -(-n // chunks) if n else [0] * chunks  # of nothing there are as many as were asked for
        return self.split(sizes, axis)

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


def _dims_of(given: tuple[Any, ...], named: Any, taker: str) -> Shape:
    """Dims that were given one by one, as one tuple, or by name: `dims=(1, 0)`."""
    if named is None:
        return shape_of(given, taker)
    if given:
        raise shape_error(f"{taker} was given dims twice: {given} and dims={named!r:.60}")
    return shape_of((tuple(named) if isinstance(named, list) else named,), taker)


def _shape_like(other: Any, taker: str) -> Shape:
    """The shape of another tensor or array."""
    shape = getattr(other, "shape", None)
    if not isinstance(shape, tuple):
        raise NotANumberError(f"{taker} takes a tensor, for its shape, not {type(other).__name__}: {other!r:.60}")
    return shape


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
