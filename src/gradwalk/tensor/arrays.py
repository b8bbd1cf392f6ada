"""Where arrays come from: NumPy where it is installed, else plain Python; behind one small interface.

A tensor's numbers lie in an array, and everything the package wants of arrays is in `Provider`. `numpy_arrays.py` hands
it on to NumPy; `python_arrays.py` does it in plain Python, for the page, where there is no NumPy, and for reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, cast

from gradwalk.errors import SettingError
from gradwalk.tensor.shapes import Shape

__all__ = [
    "BOOL",
    "FLOAT32",
    "FLOAT64",
    "INT64",
    "Provider",
    "dtype_named",
    "now",
    "provided_by",
    "put_back",
    "take_from",
    "taken_from",
    "using_arrays",
]

Array = Any  # of whichever provider: has shape, ndim, size and dtype

FLOAT64, FLOAT32, INT64, BOOL = "float64", "float32", "int64", "bool"
#: What a dtype may be called.
SPELLINGS: dict[Any, str] = {
    float: FLOAT64, int: INT64, bool: BOOL,
    **{name: name for name in (FLOAT64, FLOAT32, INT64, BOOL)},
    "double": FLOAT64, "float": FLOAT32, "long": INT64, "int": INT64,
}  # fmt: skip


class Provider(Protocol):
    """All that is wanted of arrays.

    >>> now.name in ("numpy", "python")
    True
    """

    name: str
    #: Functions of arrays and numbers, number by number, with broadcasting: `+ - * / **`, comparisons, `choose`,
    #: `exp` …
    functions: dict[str, Callable[..., Array]]

    #: The same for use inside `quietly`; a result of no dims may need `settled`.
    bare: dict[str, Callable[..., Array]]

    #: For arrays of one number, where Python's arithmetic is quicker: `double` and `truth`, the dtypes in which it
    #: gives the same bits; `array`, which makes an array of a number; functions of numbers where those of `bare` would
    #: give other bits. Empty where there is nothing to gain, or where numbers are not known yet.
    on_one: dict[str, Any]

    def quietly(self, f: Callable[..., Any], *arguments: Any) -> Any:
        """`f(*arguments)`, in which 1/0 is inf, and no warning, in `bare` functions too."""

    def settled(self, x: Any) -> Array:
        """What a bare function gave, as an array."""

    def is_array(self, x: Any) -> bool:
        """Whether `x` is an array of this provider."""

    def new(self, nested: Any, dtype: str) -> Array:
        """A new array of nested lists, of an array, or of one number."""

    def full(self, shape: Shape, x: float, dtype: str) -> Array:
        """An array with the same number everywhere."""

    def arange(self, n: int) -> Array:
        """0, 1, 2 … up to, and without, `n`, as ints."""

    def cast(self, a: Array, dtype: str) -> Array:
        """The same numbers in another dtype; `a` itself if it has it."""

    def dtype_of(self, a: Array) -> str:
        """The name of its dtype."""

    def copy(self, a: Array) -> Array:
        """Numbers of its own."""

    def read_only(self, a: Array) -> Array:
        """The same memory, for reading."""

    def same(self, a: Array, b: Array) -> bool:
        """Whether all numbers are the same, signs of zeros too; nan is the same as nan."""

    def have_nan(self, arrays: Sequence[Array]) -> bool:
        """Whether there is a nan in one of them."""

    def tolist(self, a: Array) -> Any:
        """Nested lists, or one number."""

    def each(self, f: Callable[..., float], arrays: Sequence[Any]) -> Array:
        """A function of floats, number by number."""

    def reshape(self, a: Array, shape: Shape) -> Array:
        """The same numbers in another shape."""

    def permute(self, a: Array, order: Shape) -> Array:
        """The axes in another order."""

    def expand(self, a: Array, shape: Shape) -> Array:
        """Repeated along axes of size 1, and along new ones in front."""

    def index(self, a: Array, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Array:
        """`a[basic]`, and of that `[wholes]`: arrays of ints, and None for axes that are taken whole."""

    def scatter(self, g: Array, shape: Shape, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Array:
        """Zeros of this shape, with `g` added at the places that `index` would take."""

    def concat(self, parts: Sequence[Array], axis: int) -> Array:
        """Arrays one after another along an axis."""

    def pad(self, a: Array, widths: tuple[tuple[int, int], ...], x: float) -> Array:
        """More numbers around it."""

    def total(self, a: Array, axes: Shape, keep: bool) -> Array:
        """Summed over axes."""

    def largest(self, a: Array, axes: Shape, keep: bool) -> Array:
        """The largest over axes; nan, if there is one."""

    def cumsum(self, a: Array, axis: int) -> Array:
        """Running sums along an axis."""

    def matmul(self, a: Array, b: Array) -> Array:
        """Matrix products of the last two axes, the others broadcast."""

    def einsum(self, spec: str, parts: Sequence[Array]) -> Array:
        """Products summed as letters say."""

    def argmax(self, a: Array, axis: int) -> Array:
        """Where the largest is along an axis: the first of them; nan counts as the largest."""

    def argsort(self, a: Array, axis: int, descending: bool) -> Array:
        """Places in sorted order along an axis; equal ones keep their order."""

    def nonzero(self, a: Array) -> list[Array]:
        """Where a mask is true: an array of places for each axis."""


def _provider(name: str) -> Provider:
    return cast(Provider, import_module(f"gradwalk.tensor.{name}_arrays"))


def _best() -> Provider:
    try:
        return _provider("numpy")
    except ImportError:
        return _provider("python")


class Made:
    """What `kernels.py` has made of a provider's functions so far: of ops their values, and their ways back."""

    __slots__ = ("kernels", "pairs", "pulls")

    def __init__(self) -> None:
        self.kernels: dict[Any, Any] = {}
        self.pulls: dict[Any, Any] = {}
        self.pairs: dict[Any, Any] = {}


now: Provider = _best()
made = Made()  # of `now`
_kept = {now.name: made}  # by the names of providers that are there to stay


@contextmanager
def using_arrays(name: str) -> Iterator[None]:
    """Take arrays from `"numpy"` or from plain `"python"` in a `with` block; tensors made inside stay there.

    >>> from gradwalk.tensor import arrays
    >>> with using_arrays("python"):
    ...     arrays.now.name
    'python'
    """
    if name not in ("numpy", "python"):
        raise SettingError(f"arrays come from 'numpy' or 'python', not from {name!r:.60}")
    with provided_by(_provider(name)):
        yield


@contextmanager
def provided_by(provider: Provider) -> Iterator[None]:
    """Take arrays from any provider in a `with` block, in all threads.

    >>> from gradwalk.tensor import arrays
    >>> with provided_by(arrays.now):
    ...     arrays.now.name in ("numpy", "python")
    True
    """
    before = taken_from()
    try:
        take_from(provider)
        yield
    finally:
        try:
            put_back(before)
        except BaseException:  # Ctrl-C was heard just now, and is heard once
            put_back(before)
            raise


def taken_from() -> dict[str, Any]:
    """Where arrays are taken from, for `put_back`.

    >>> before = taken_from()
    >>> put_back(before)
    >>> before == taken_from()
    True
    """
    return {"now": now, "made": made}


def take_from(provider: Provider) -> None:
    """Take arrays from a provider until they are taken from another.

    >>> take_from(now)
    """
    stays = isinstance(provider, ModuleType)
    # both in one step, so that Ctrl-C never finds one provider with what was made of another
    globals().update(now=provider, made=_kept.setdefault(provider.name, Made()) if stays else Made())


def put_back(before: dict[str, Any]) -> None:
    """Take arrays from where they were taken before.

    >>> put_back(taken_from())
    """
    globals().update(before)


def dtype_named(dtype: Any) -> str:
    """The name of a dtype, however it is spelt.

    >>> dtype_named("float32"), dtype_named(int)
    ('float32', 'int64')
    """
    for spelling in (dtype, getattr(dtype, "name", None), getattr(dtype, "__name__", None)):
        try:
            if spelling in SPELLINGS:
                return SPELLINGS[spelling]
        except TypeError:
            pass
    raise SettingError(f"a dtype is 'float64', 'float32', 'int64' or 'bool', not {dtype!r:.60}")
