"""Arrays that come later, each as a whole: what tensors take while a function of large ones, or of float32, is traced.

Whatever is done with such an array is done at once, by the provider that is there (so its shape, its dtype and the
numbers of the call at hand are known), and written down as a row of an `ArrayTape`. A walk back under this provider is
written down alike, by the rules that every walk follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gradwalk.compile.trace.array_tape import ArrayTape, At, NumberAt, Row, replaced
from gradwalk.compile.trace.arrays import TracedArray, plain_array, traced_array
from gradwalk.compile.trace.asking import asked_by_insider
from gradwalk.compile.trace.guards import typed
from gradwalk.compile.trace.limits import Unfollowable, limit
from gradwalk.compile.trace.plain import Number
from gradwalk.compile.trace.providers import NAMES, LateProvider, holds_stand_in, name_of, parts_of
from gradwalk.compile.trace.traced import Traced
from gradwalk.provenance import users_place
from gradwalk.tensor.arrays import BOOL, FLOAT32, FLOAT64, INT64
from gradwalk.tensor.shapes import Shape

if TYPE_CHECKING:
    from gradwalk.compile.trace.tracer import Tracer

__all__: list[str] = []


FEW = 64  # numbers of an array that may be read one by one
FEWER = "read single numbers of it, such as t.sum().item(), or do this before or after the call"
IN_TENSORS = "make a tensor of the array first, as in gradwalk.Tensor(X), or do this before the call"
#: What a provider does with an array, beside what it does number by number; the arrays come first.
WORDS = ("reshape", "permute", "expand", "scatter", "cumsum", "total", "largest", "argmax", "argsort")


class LaterArray:
    """An array that comes later: the number of its row, and while it is traced its numbers in the call at hand.

    >>> arrays = Tracer(by_array=True).blocks
    >>> x = arrays.inputs(np.ones((2, 3), "float32"))
    >>> y = arrays.functions["exp"](x)
    >>> y.shape, y.dtype, arrays.rows[y.row][:2]
    ((2, 3), dtype('float32'), ('exp', (At(row=0),)))
    """

    __slots__ = ("_number", "_tracer", "row", "value")
    holds_stand_ins = comes_later = True

    def __init__(self, tracer: Tracer, row: int, value: Any) -> None:
        self._tracer = tracer
        self.row = row
        self.value = value
        self._number: NumberAt | None = None  # the plain number that it is nothing but

    @property
    def shape(self) -> Shape:
        """As of any array."""
        return self._seen().shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """As of any array."""
        return self._seen().ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """As of any array."""
        return self._seen().size  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        """As of any array."""
        return self._seen().dtype

    def _seen(self) -> Any:
        if self.value is None:
            raise limit("escaped")
        return self.value

    def _escapes(self, *_: Any, **__: Any) -> NoReturn:
        raise limit("escaped")

    __array__ = __array_ufunc__ = _escapes


class ArgumentArray(LaterArray):
    """One that the function was given as an array of NumPy's: tensors take it, and nothing else does."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ndarray

    def __len__(self) -> int:
        return len(self._seen())

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(np.ndarray, name) and not asked_by_insider():
            self._refuse()
        raise AttributeError(name)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        self._seen()
        raise Unfollowable(
            f"{{function}} computes with a NumPy array in NumPy, beside its tensors ({users_place()})", IN_TENSORS
        )

    __array__ = __array_ufunc__ = __array_function__ = __iter__ = __bool__ = __getitem__ = __setitem__ = _refuse
    __float__ = __int__ = __index__ = __contains__ = __neg__ = __abs__ = tolist = _refuse


ArgumentArray.__name__ = "ndarray"  # as errors name it


class WholeArrays(LateProvider):
    """The provider of one trace.

    >>> Tracer(by_array=True).blocks.full((2,), 1.5, "float64").tolist()
    [1.5, 1.5]
    """

    later = LaterArray

    def __init__(self, tracer: Tracer, real: Any) -> None:
        super().__init__(tracer, real)
        self.rows: list[Row] = []
        self.given = 0  # how many arrays were among the arguments
        self.constants: list[Any] = []
        self.late: list[tuple[int, int]] = []
        self.made: list[LaterArray] = []  # all of them, by their rows
        self._known: dict[int, int] = {}  # rows of constants, by the id() of their arrays
        self._read: dict[tuple[int, bool], list[Any]] = {}  # what stands for the numbers of a row
        self.functions = {name: partial(self._function, name) for name in real.functions}
        self.bare = self.functions
        for word in WORDS:
            setattr(self, word, partial(self._done, word))

    # --- rows --------------------------------------------------------------------------------------------------------

    def leaf(self, word: str, of: Any, value: Any, kind: type[LaterArray] = LaterArray) -> LaterArray:
        """An array that is there before."""
        self.rows.append(Row(word, (of,), value.shape, value.dtype.name))
        out = kind(self.tracer, len(self.rows) - 1, value)
        self.made.append(out)
        return out

    def inputs(self, array: Any, kind: type[LaterArray] = LaterArray) -> LaterArray:
        """What stands for the next array, or that of a tensor, among the arguments."""
        self.given += 1
        in_rows = plain_array(array).copy()  # as a replay has it in its memory, however it lies in the caller's
        return self.leaf("input", self.given - 1, in_rows, kind)

    def write(self, word: str, value: Any, given: tuple[Any, ...]) -> LaterArray:
        """A row of its own for what was made just now."""
        found = self.real.settled(value)
        self.rows.append(Row(word, self._written(given), found.shape, found.dtype.name, _layout(found)))
        out = LaterArray(self.tracer, len(self.rows) - 1, found)
        self.made.append(out)
        return out

    def _written(self, given: Any) -> Any:
        """What an op was given, with rows in place of arrays."""
        if isinstance(given, LaterArray):
            return At(given.row)
        if isinstance(given, np.ndarray):
            if id(given) not in self._known:
                self.constants.append(given)  # which lives on, so that its id() means it
                self._known[id(given)] = self.leaf("constant", len(self.constants) - 1, given).row
            return At(self._known[id(given)])
        if type(given) in (tuple, list):
            return type(given)([self._written(part) for part in given])
        return given

    def end(self, renumber: Callable[[int], int]) -> None:
        """The trace is over: nodes of the scalar tape have other numbers now, and those of the call at hand go."""

        def renumbered(x: Any) -> Any:
            return NumberAt(renumber(x.node), x.kind) if isinstance(x, NumberAt) else x

        self.rows = [row._replace(given=replaced(row.given, renumbered)) for row in self.rows]
        self.forget()

    def forget(self) -> None:
        """Let the numbers of the call at hand go."""
        for x in self.made:
            x.value = None

    def remember(self, numbers: Sequence[Any]) -> None:
        """Give arrays their numbers again, those of a replay, so that a walk back can be written down."""
        for x, array in zip(self.made, numbers, strict=False):
            x.value = array

    def tape(self, outputs: list[int]) -> ArrayTape:
        """What was written so far."""
        return ArrayTape(self.rows.copy(), outputs, self.constants.copy(), self.late.copy())

    # --- what is done ------------------------------------------------------------------------------------------------

    def _function(self, name: str, *operands: Any) -> Any:
        """A function that goes number by number."""
        if not any(isinstance(x, (LaterArray, TracedArray, Traced)) for x in operands):
            return self.real.functions[name](*operands)
        taken = [self._operand(x) for x in operands]
        found = self.real.functions[name](*map(self._value, taken))
        return self.write(name, found, tuple(taken))

    def _operand(self, x: Any) -> Any:
        """A plain number that comes later is written as one: beside an array it asks for no more digits."""
        if isinstance(x, LaterArray):
            return x if x._number is None else x._number
        if isinstance(x, Number):
            return self._number_at(x)
        return self._array(x)

    def _value(self, x: Any) -> Any:
        if isinstance(x, LaterArray):
            return x._seen()
        if isinstance(x, NumberAt):
            return typed(x.kind, self.tracer.number_at(x.node))
        if type(x) in (tuple, list):
            return type(x)([self._value(part) for part in x])
        return x

    def _done(self, word: str, x: Any, *settings: Any) -> Any:
        given = (self._array(x), *self._arrays(settings))
        if not _come_later(given):
            return getattr(self.real, word)(*given)
        return self.write(word, getattr(self.real, word)(*self._value(given)), given)

    def _array(self, x: Any) -> Any:
        """What an op was given, as an array if it is one of stand-ins."""
        return self.new(x, "") if isinstance(x, (TracedArray, Traced)) else x

    def _arrays(self, given: Any) -> Any:
        if type(given) in (tuple, list):
            return type(given)([self._arrays(part) for part in given])
        return self._array(given)

    def matmul(self, a: Any, b: Any) -> Any:
        return self._done("matmul", a, b)

    def index(self, x: Any, basic: tuple[Any, ...], wholes: tuple[Any, ...]) -> Any:
        return self._done("index", x, basic, tuple(wholes))

    def concat(self, parts: Sequence[Any], axis: int) -> Any:
        return self._done("concat", tuple(parts), axis) if _come_later(parts) else self.real.concat(parts, axis)

    def einsum(self, spec: str, parts: Sequence[Any]) -> Any:
        given = self._arrays(tuple(parts))
        if not _come_later(given):
            return self.real.einsum(spec, parts)
        return self.write("einsum", self.real.einsum(spec, self._value(given)), (spec, given))

    def pad(self, x: Any, widths: Any, around: Any) -> Any:
        if isinstance(around, Traced):
            around = self.tracer.told(around)
        return self._done("pad", x, widths, around)

    def each(self, f: Any, operands: Sequence[Any]) -> Any:
        given = self._arrays(tuple(operands))
        if not _come_later(given):
            return self.real.each(f, operands)
        return self.write("each", self.real.each(f, self._value(given)), (f, given))

    # --- making and looking ------------------------------------------------------------------------------------------

    def settled(self, x: Any) -> Any:
        return x if isinstance(x, LaterArray) else self.real.settled(x)

    def new(self, nested: Any, dtype: str) -> Any:
        if isinstance(nested, LaterArray):
            return self.cast(LaterArray(self.tracer, nested.row, nested._seen()), dtype or name_of(nested.dtype))
        if isinstance(nested, Number):
            at = self._number_at(nested)
            narrow = nested.holds_stand_ins
            kind = FLOAT32 if narrow else NAMES[nested.kind_of_number]
            out = self.leaf("numbers", (at,), plain_array(self._value(at), kind))
            if dtype in ("", kind) and not narrow:
                out._number = at
                return out
            return self.cast(out, dtype or kind)
        if not holds_stand_in(nested):
            return self.real.new(nested, dtype) if dtype else self.real.settled(nested)
        parts = nested if isinstance(nested, TracedArray) else plain_array(nested, object)
        flat = parts_of(parts)
        given = tuple([self._number_at(part) if isinstance(part, Number) else part for part in flat])
        kinds = {x.kind_of_number if isinstance(x, Number) else type(x) for x in flat}
        kind = FLOAT64 if float in kinds else INT64 if int in kinds else BOOL
        value = plain_array(self._value(given), kind).reshape(parts.shape)
        return self.cast(self.leaf("numbers", given, value), dtype or kind)

    def _number_at(self, x: Number) -> NumberAt:
        self.tracer.kind_asked(x)  # of an int a tensor makes ints: with a float in its place the path is another
        return NumberAt(self.tracer.operand(x), x.kind_of_number)

    def cast(self, x: Any, dtype: str) -> Any:
        x = self._array(x)
        if not isinstance(x, LaterArray):
            return self.real.cast(x, dtype)
        if x.dtype.name == dtype:
            return x
        return self.write("cast", self.real.cast(x._seen(), dtype), (x, dtype))

    def copy(self, x: Any) -> Any:
        return x if isinstance(x, LaterArray) else self.real.copy(x)

    def read_only(self, x: Any) -> Any:
        if not isinstance(x, LaterArray):
            return self.real.read_only(x)
        found = traced_array(self.stand_ins(x, narrow=x.dtype.name == FLOAT32)).reshape(x.shape)
        found.flags.writeable = False
        return found

    def stand_ins(self, x: LaterArray, *, narrow: bool = False) -> list[Any]:
        """What stands for the numbers of an array, one by one: plain ones of the scalar tape, or `narrow` ones."""
        if x.size > FEW:
            raise Unfollowable(
                f"{{function}} reads the numbers of an array of shape {x.shape} one by one, or decides by them "
                f"({users_place()})",
                FEWER,
            )
        if (x.row, narrow) not in self._read:
            found, kind = [], np.float32 if narrow else float if x.dtype.kind == "b" else None
            for i, number in enumerate(x._seen().ravel().tolist()):
                self.late.append((x.row, i))
                stand_in = self.tracer.input(number if kind is None else kind(number))
                found.append(self.tracer.compare("differs", stand_in, 0.0) if x.dtype.kind == "b" else stand_in)
            self._read[x.row, narrow] = found
        return self._read[x.row, narrow]

    def told(self, x: Any) -> Any:
        """The numbers themselves: the path is one for these numbers from now on."""
        x = self._array(x)
        if not isinstance(x, LaterArray):
            return x
        parts = [bool(part) if x.dtype.kind == "b" else self.tracer.told(part) for part in self.stand_ins(x)]
        return plain_array(parts, x.dtype).reshape(x.shape)


def _layout(array: Any) -> Shape:
    """The axes of an array, the outermost in memory first; nothing if they are in order."""
    axes = range(array.ndim)
    found = tuple(sorted(axes, key=lambda axis: -array.strides[axis]))
    return () if array.flags.c_contiguous or found == tuple(axes) else found


def _come_later(given: Any) -> bool:
    if type(given) in (tuple, list):
        return any(map(_come_later, given))
    return isinstance(given, (LaterArray, TracedArray, Traced))
