"""Arrays for the exercises on tensors: numbers with a shape, without gradients, as the page's own Python has them.

What a learner writes here would run on NumPy's arrays too, but for the names that PyTorch has for the same things
(`dim`, `keepdim`, `unsqueeze`); NumPy's `axis` and `keepdims` are understood as well.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from gradwalk.errors import ShapeError
from gradwalk.tensor import python_arrays as plain
from gradwalk.tensor.shapes import Shape, axes_of, axis_of, broadcast, either, shape_of, size_of

__all__ = ["Array", "ones", "text_of", "zeros"]

T = TypeVar("T")


def _operator(op: str) -> tuple[Any, Any]:
    """An operator of `Array` and its reflected form."""
    return lambda self, other: _each(op, self, other), lambda self, other: _each(op, other, self)


class Array:
    """Numbers in rows and columns, or in any other number of axes.

    >>> a = Array([[1, 2, 3], [4, 5, 6]])
    >>> a.shape, a.sum(dim=0), a.T @ a[0, :2]
    ((2, 3), Array([5, 7, 9]), Array([9, 12, 15]))
    """

    __slots__ = ("_held",)
    __hash__ = None  # type: ignore[assignment]  # == compares number by number

    def __init__(self, numbers: Any) -> None:
        self._held: plain.Array = numbers if isinstance(numbers, plain.Array) else _read(numbers)

    # --- what it is

    @property
    def shape(self) -> Shape:
        """How many numbers there are along each axis.

        >>> Array([[1, 2, 3]]).shape
        (1, 3)
        """
        return self._held.shape

    @property
    def ndim(self) -> int:
        """How many axes there are.

        >>> Array([[1, 2, 3]]).ndim, Array(4).ndim
        (2, 0)
        """
        return len(self.shape)

    def tolist(self) -> Any:
        """The same numbers in lists.

        >>> Array([[1, 2, 3]]).tolist()
        [[1.0, 2.0, 3.0]]
        """
        return self._held.tolist()

    def flat(self) -> list[float]:
        """All numbers, in the order of reading.

        >>> Array([[1, 2], [3, 4]]).T.flat()
        [1.0, 3.0, 2.0, 4.0]
        """
        return list(self._held.numbers())

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a single number has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __float__(self) -> float:
        if size_of(self.shape) != 1:
            raise TypeError(f"an array of shape {self.shape} is more than one number")
        return float(self.flat()[0])

    def __bool__(self) -> bool:
        return bool(float(self))

    def __repr__(self) -> str:
        return f"Array({text_of(self.tolist())})"

    # --- arithmetic, number by number

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __pow__ = _operator("**")[0]
    __eq__, __ne__ = _operator("==")[0], _operator("!=")[0]
    __lt__, __gt__ = _operator("<")[0], _operator(">")[0]
    __le__, __ge__ = _operator("<=")[0], _operator(">=")[0]

    def __neg__(self) -> Array:
        return _each("neg", self)

    def exp(self) -> Array:
        """e to the power of each number.

        >>> Array([0, 1]).exp()
        Array([1, 2.7182818])
        """
        return _each("exp", self)

    def log(self) -> Array:
        """The natural logarithm of each number.

        >>> Array([1, 2]).log()
        Array([0, 0.6931472])
        """
        return _each("log", self)

    def tanh(self) -> Array:
        """The hyperbolic tangent of each number.

        >>> Array([0, 1]).tanh()
        Array([0, 0.7615942])
        """
        return _each("tanh", self)

    # --- along axes

    def sum(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Array:
        """The sum along an axis, or of all numbers.

        >>> a = Array([[1, 2], [3, 4]])
        >>> a.sum(), a.sum(dim=1), a.sum(dim=1, keepdim=True)
        (Array(10), Array([3, 7]), Array([[3], [7]]))
        """
        return self._along("sum", plain.total, either("sum", dim, axis), keepdim or keepdims)

    def mean(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Array:
        """The mean along an axis, or of all numbers.

        >>> Array([[1, 2], [3, 4]]).mean(dim=0)
        Array([2, 3])
        """
        total = self.sum(dim, keepdim, axis=axis, keepdims=keepdims)
        mean: Array = total / (size_of(self.shape) / (size_of(total.shape) or 1))
        return mean

    def max(self, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Array:
        """The largest number along an axis, or of all.

        >>> Array([[1, 5], [3, 4]]).max(dim=1)
        Array([5, 4])
        """
        return self._along("max", plain.largest, either("max", dim, axis), keepdim or keepdims)

    def _along(self, name: str, f: Callable[..., plain.Array], axis: Any, keep: bool) -> Array:
        if isinstance(axis, (tuple, list)) and not axis:
            return self  # along no axis, as NumPy has it
        return _told(lambda: Array(f(self._held, axes_of(axis, self.ndim, name), bool(keep))))

    # --- shape

    @property
    def T(self) -> Array:  # noqa: N802
        """Rows as columns.

        >>> Array([[1, 2, 3]]).T
        Array([[1], [2], [3]])
        """
        return Array(plain.permute(self._held, tuple(reversed(range(self.ndim)))))

    def reshape(self, *shape: Any) -> Array:
        """The same numbers in another shape; one −1 stands for whatever fits.

        >>> Array([1, 2, 3, 4]).reshape(2, -1)
        Array([[1, 2], [3, 4]])
        """
        wanted = list(_told(lambda: shape_of(shape, "reshape")))
        known, size = size_of(n for n in wanted if n != -1), size_of(self.shape)
        if wanted.count(-1) == 1 and known and size % known == 0:
            wanted[wanted.index(-1)] = size // known
        if size_of(wanted) != size or min(wanted, default=0) < 0:
            raise ShapeError(f"{size} numbers of shape {self.shape} do not fit the shape {tuple(wanted)}")
        return Array(plain.reshape(self._held, tuple(wanted)))

    view = reshape

    def unsqueeze(self, dim: Any) -> Array:
        """A new axis of size 1.

        >>> Array([1, 2]).unsqueeze(1).shape, Array([1, 2]).unsqueeze(0).shape
        ((2, 1), (1, 2))
        """
        at = _told(lambda: axis_of(dim, self.ndim + 1, "unsqueeze"))
        return self.reshape(*self.shape[:at], 1, *self.shape[at:])

    def expand(self, *shape: Any) -> Array:
        """Repeated along axes of size 1, and along new ones in front.

        >>> Array([1, 2]).expand(2, 2)
        Array([[1, 2], [1, 2]])
        """
        wanted = _told(lambda: shape_of(shape, "expand"))
        if _told(lambda: broadcast([self.shape, wanted])) != wanted:
            raise ShapeError(f"the shape {self.shape} cannot be repeated to {wanted}")
        return Array(plain.copy(plain.expand(self._held, wanted)))

    def __matmul__(self, other: Any) -> Array:
        if not isinstance(other, Array):
            return NotImplemented
        if not (self.ndim and other.ndim) or self.shape[-1] != other.shape[-2 if other.ndim > 1 else 0]:
            raise ShapeError(
                f"{self.shape} @ {other.shape}: the last axis of the first and the first of the second must be equal"
            )
        return Array(plain.matmul(self._held, other._held))

    # --- places

    def __getitem__(self, key: Any) -> Any:
        flat = self._held.numbers()
        places = self._places(key)
        found = Array(plain.Array([flat[place] for place in places.numbers()], places.shape, "float64"))
        return found if found.ndim else float(found)

    def __setitem__(self, key: Any, x: Any) -> None:
        places = self._places(key)
        source = _told(lambda: (x if isinstance(x, Array) else Array(x)).expand(places.shape))
        mine = plain.copy(self._held)
        for place, number in zip(places.numbers(), source.flat(), strict=True):
            mine.flat[place] = number
        self._held = mine

    def _places(self, key: Any) -> plain.Array:
        """Where in the order of reading the numbers are that an index means."""
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > self.ndim:
            raise ShapeError(f"{len(parts)} indices for {self.ndim} axes of the shape {self.shape}")
        lists = [isinstance(part, (list, range, Array)) for part in parts]
        basic: list[Any] = []
        wholes: list[plain.Array | None] = []
        for part, listed, n in zip(parts, lists, self.shape, strict=False):
            if listed or (any(lists) and not isinstance(part, slice)):
                whole = plain.new([_place(i, n) for i in (part if listed else [part])], "int64")
                basic, wholes = [*basic, slice(None)], [*wholes, whole]
            else:
                basic.append(part if isinstance(part, slice) else _place(part, n))
                wholes.append(None)
        places = plain.Array(list(range(size_of(self.shape))), self.shape, "int64")
        return _told(lambda: plain.index(places, tuple(basic), tuple(wholes) if any(lists) else ()))


def zeros(*shape: Any) -> Array:
    """Zeros of a shape.

    >>> zeros(2, 2), zeros((3,))
    (Array([[0, 0], [0, 0]]), Array([0, 0, 0]))
    """
    return Array(plain.full(_told(lambda: shape_of(shape, "zeros")), 0.0, "float64"))


def ones(*shape: Any) -> Array:
    """Ones of a shape.

    >>> ones(2)
    Array([1, 1])
    """
    return Array(plain.full(_told(lambda: shape_of(shape, "ones")), 1.0, "float64"))


def _place(i: Any, n: int) -> int:
    found = operator.index(int(float(i)) if isinstance(i, (float, Array)) and float(i).is_integer() else i)
    if not -n <= found < n:
        raise IndexError(f"there is no place {found} along an axis of size {n}")
    return found % n


def _read(numbers: Any) -> plain.Array:
    """An array of nested lists of one shape; arrays may stand among them."""
    flat: list[float] = []

    def shape_below(part: Any) -> Shape:
        if isinstance(part, Array):
            flat.extend(part.flat())
            return part.shape
        if not isinstance(part, (list, tuple, range)):
            flat.append(float(part))
            return ()
        below = [shape_below(each) for each in part]
        if len(set(below)) > 1:
            other = next(shape for shape in below if shape != below[0])
            raise ShapeError(f"the rows of an array have one shape, and here are {below[0]} and {other}")
        return (len(below), *(below[0] if below else ()))

    shape = shape_below(numbers)
    return plain.Array(flat, shape, "float64")


def _each(name: str, *operands: Any) -> Array:
    if not all(isinstance(x, (int, float, Array)) for x in operands):
        return NotImplemented  # type: ignore[no-any-return]
    held = [x._held if isinstance(x, Array) else float(x) for x in operands]
    return _told(lambda: Array(plain.cast(plain.functions[name](*held), "float64")))


def _told(make: Callable[[], T]) -> T:
    """What `make` gives; a shape error says what is wrong, and leaves the place to whoever shows it."""
    try:
        return make()
    except ShapeError as error:
        raise ShapeError(str(error).partition("\n")[0]) from None


def text_of(nested: Any, digits: int = 7) -> str:
    """Nested lists as text, each number with so many decimals at most.

    >>> text_of([[1.0, 0.123456789]], 4)
    '[[1, 0.1235]]'
    """
    if isinstance(nested, list):
        return f"[{', '.join(text_of(part, digits) for part in nested)}]"
    text = f"{nested:.{digits}f}".rstrip("0").rstrip(".") if abs(nested) < 1e12 else f"{nested:.6g}"
    return "0" if text == "-0" else text
